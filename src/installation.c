#include "installation.h"

#include "base/log.h"
#include "command_database.h"
#include "command_task.h"
#include "db/db.h"

#include <stdio.h>

static const struct statement SELECT_ID = {.sql = "SELECT id FROM installation"};
static const struct statement RENEW_ID = {
    .sqlite = "UPDATE installation SET id = lower(hex(randomblob(8))) RETURNING id",
    .postgres = "UPDATE installation SET id = substr(replace(gen_random_uuid()::text, '-', ''), 1, 16) RETURNING id",
};

struct asking {
    struct db *db;
    const struct statement *statement;
    char *id;
    bool found;
};

static bool ask_unit(struct tx *tx, void *argument)
{
    struct asking *asking = argument;
    struct rows *rows = tx_query(tx, asking->statement, DB_NO_PARAMS);
    asking->found = rows_next(rows);
    if (asking->found)
        snprintf(asking->id, INSTALLATION_ID_SIZE, "%.*s", STR_ARG(row_text(rows, "id")));
    return !tx_failed(tx);
}

static void ask_in_task(void *argument)
{
    struct asking *asking = argument;
    bool writes = asking->statement != &SELECT_ID;
    asking->found = command_run_unit(asking->db, writes, ask_unit, asking) == DB_OK && asking->found;
}

static bool ask(const struct settings *settings, const struct statement *statement, char id[INSTALLATION_ID_SIZE])
{
    struct asking asking = {.db = command_open_database(settings, "reservation_service"),
                            .statement = statement,
                            .id = id};
    bool answered = asking.db && command_run_task(ask_in_task, &asking) && asking.found;
    if (asking.db)
        db_close(asking.db);
    if (!answered)
        log_error("the database does not tell which installation it is");
    return answered;
}

bool installation_read(const struct settings *settings, char id[INSTALLATION_ID_SIZE])
{
    return ask(settings, &SELECT_ID, id);
}

bool installation_renew(const struct settings *settings, char id[INSTALLATION_ID_SIZE])
{
    return ask(settings, &RENEW_ID, id);
}

void installation_prefix(const char *id, char prefix[INSTALLATION_PREFIX_SIZE])
{
    snprintf(prefix, INSTALLATION_PREFIX_SIZE, "tickettock:%s:", id);
}
