#include "installation.h"

#include "base/log.h"
#include "command_database.h"
#include "command_task.h"
#include "db/db.h"

#include <stdio.h>

static const struct statement SELECT_ID = {.sql = "SELECT id FROM installation"};

struct reading {
    struct db *db;
    char *id;
    bool found;
};

static bool read_id(struct tx *tx, void *argument)
{
    struct reading *reading = argument;
    struct rows *rows = tx_query(tx, &SELECT_ID, DB_NO_PARAMS);
    reading->found = rows_next(rows);
    if (reading->found)
        snprintf(reading->id, INSTALLATION_ID_SIZE, "%.*s", STR_ARG(row_text(rows, "id")));
    return !tx_failed(tx);
}

static void read_in_task(void *argument)
{
    struct reading *reading = argument;
    reading->found = command_run_unit(reading->db, false, read_id, reading) == DB_OK && reading->found;
}

bool installation_read(const struct settings *settings, char id[INSTALLATION_ID_SIZE])
{
    struct reading reading = {.db = command_open_database(settings, "reservation_service"), .id = id};
    bool read = reading.db && command_run_task(read_in_task, &reading) && reading.found;
    if (reading.db)
        db_close(reading.db);
    if (!read)
        log_error("the database does not tell which installation it is");
    return read;
}

void installation_prefix(const char *id, char prefix[INSTALLATION_PREFIX_SIZE])
{
    snprintf(prefix, INSTALLATION_PREFIX_SIZE, "tickettock:%s:", id);
}
