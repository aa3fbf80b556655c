/* `tickettock pii rotate`: goes through every table with personal data and tells what it finds and does. */
#include "command_pii.h"

#include "base/clock.h"
#include "command.h"
#include "command_config.h"
#include "command_database.h"
#include "command_task.h"
#include "pii_rotate.h"
#include "pii_settings.h"

#include <stdio.h>
#include <unistd.h>

enum { TERMINAL_EVERY_MS = 200, LOG_EVERY_MS = 10000 };

struct run {
    const struct settings *settings;
    const struct pii *pii;
    int result;
};

/* One line that is written over on a terminal; now and then a line of its own elsewhere. */
static void show_progress(const struct pii_rotation *rotation)
{
    static int64_t shown_ns;
    bool terminal = isatty(STDERR_FILENO);
    int64_t now = clock_mono_ns();
    if (now - shown_ns < (terminal ? TERMINAL_EVERY_MS : LOG_EVERY_MS) * NS_PER_MS)
        return;
    shown_ns = now;
    int64_t total = rotation->rows_expected > rotation->rows ? rotation->rows_expected : rotation->rows;
    fprintf(stderr, "%s%s.%s: pass %d, %lld of %lld rows, %lld written%s", terminal ? "\r\033[K" : "",
            rotation->table->service, rotation->table->table, rotation->pass, (long long)rotation->rows,
            (long long)total, (long long)rotation->written, terminal ? "" : "\n");
}

static void print_census(const struct census *census)
{
    for (size_t i = 0; i < census->keys; i++) {
        printf("%s%lld ", i ? ", " : "", (long long)census->by_key[i].values);
        if (census->by_key[i].key)
            printf("with key %u", census->by_key[i].key);
        else
            printf("in plain text");
    }
}

static void print_result(const struct pii_rotation *rotation)
{
    const struct pii_table *table = rotation->table;
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    printf("%s.%s: %lld rows, %lld written\n", table->service, table->table, (long long)rotation->rows,
           (long long)rotation->written);
    for (size_t i = 0; i < PII_COLUMNS_MAX && table->columns[i]; i++) {
        printf("  %s: ", table->columns[i]);
        if (rotation->before[i].keys == 0) {
            puts("nothing stored");
            continue;
        }
        print_census(&rotation->before[i]);
        printf("; now ");
        print_census(&rotation->after[i]);
        if (rotation->after[i].unreadable)
            printf("; %lld cannot be read with these keys and were left as they are",
                   (long long)rotation->after[i].unreadable);
        puts("");
    }
    fflush(stdout);
}

static int64_t unreadable(const struct pii_rotation *rotation)
{
    int64_t values = 0;
    for (size_t i = 0; i < PII_COLUMNS_MAX; i++)
        values += rotation->after[i].unreadable;
    return values;
}

static bool rotate_table(struct run *run, struct db *db, const struct pii_table *table)
{
    struct pii_rotation rotation = {.db = db, .pii = run->pii, .table = table, .progress = show_progress};
    enum pii_rotate_outcome outcome = pii_rotate(&rotation);
    print_result(&rotation);
    switch (outcome) {
    case PII_ROTATED: return unreadable(&rotation) == 0;
    case PII_UNSETTLED:
        fputs("tickettock: values with other keys keep appearing. Put the new key first in PII_KEYS of every server, "
              "restart them, and run this again.\n",
              stderr);
        return false;
    case PII_NO_DATABASE:
        fputs("tickettock: the database does not answer. What was done is done; run this again to go on.\n", stderr);
        return false;
    }
    return false;
}

static void rotate_all(void *argument)
{
    struct run *run = argument;
    for (size_t i = 0; i < pii_table_count; i++) {
        const struct pii_table *table = &pii_tables[i];
        if (!command_has_database(run->settings, table->service)) {
            printf("%s.%s: there is no database yet\n", table->service, table->table);
            continue;
        }
        struct db *db = command_open_database(run->settings, table->service);
        if (!db || !rotate_table(run, db, table))
            run->result = EXIT_FAILED;
        if (db)
            db_close(db);
    }
}

static int rotate(const struct settings *settings, struct arena *arena, void *context)
{
    (void)context;
    (void)arena;
    struct pii *pii = pii_open_from(settings);
    if (!pii)
        return EXIT_FAILED;
    struct run run = {.settings = settings, .pii = pii, .result = EXIT_FINE};
    bool ran = command_run_task(rotate_all, &run);
    if (ran && run.result == EXIT_FINE)
        printf(
            "Everything is sealed with key %u. Other keys can go from PII_KEYS once no server seals with them and no "
            "backup that you may need does.\n",
            pii_first_key(pii));
    pii_close(pii);
    return ran ? run.result : EXIT_FAILED;
}

int command_pii(int argument_count, char **arguments)
{
    if (argument_count < 1 || strcmp(arguments[0], "rotate") != 0) {
        fputs("tickettock: pii takes `rotate`; `tickettock help pii` explains it.\n", stderr);
        return EXIT_MISUSED;
    }
    return command_with_settings(argument_count - 1, arguments + 1, rotate, NULL);
}
