/* Reads an SQLite file, also while its server runs; never writes. */
#include "history/witness.h"

#include <sqlite3.h>

enum { BUSY_MS = 5000 };

static bool trouble(struct witness *witness, sqlite3 *file)
{
    return witness_problem(witness, "SQLite: %s", sqlite3_errmsg(file));
}

static bool read_claims(struct witness *witness, sqlite3 *file, int64_t house, int64_t seats)
{
    sqlite3_stmt *statement = NULL;
    int step = SQLITE_ERROR;
    bool good = true;
    if (sqlite3_prepare_v2(file, WITNESS_SQL_CLAIMS, -1, &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(statement, 1, house);
        while (good && (step = sqlite3_step(statement)) == SQLITE_ROW) {
            struct str user =
                str_make((const char *)sqlite3_column_text(statement, 1), (size_t)sqlite3_column_bytes(statement, 1));
            good = witness_owner(witness, sqlite3_column_int64(statement, 0), user, sqlite3_column_int64(statement, 2));
        }
    }
    if (good && step != SQLITE_DONE)
        good = trouble(witness, file);
    sqlite3_finalize(statement);
    return good && witness_complete(witness, seats);
}

static bool read_house(struct witness *witness, sqlite3 *file)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_exec(file, "BEGIN", NULL, NULL, NULL) != SQLITE_OK || /* one state for both questions */
        sqlite3_prepare_v2(file, WITNESS_SQL_HOUSE, -1, &statement, NULL) != SQLITE_OK)
        return trouble(witness, file);
    sqlite3_bind_text(statement, 1, witness->schedule.len ? witness->schedule.ptr : "", (int)witness->schedule.len,
                      SQLITE_STATIC);
    int step = sqlite3_step(statement);
    int64_t house = step == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    int64_t seats = step == SQLITE_ROW ? sqlite3_column_int64(statement, 1) : 0;
    sqlite3_finalize(statement);
    if (step == SQLITE_ROW)
        return read_claims(witness, file, house, seats);
    return step == SQLITE_DONE
               ? witness_problem(witness, "there is no house for the schedule \"%.*s\"", STR_ARG(witness->schedule))
               : trouble(witness, file);
}

bool witness_ask_sqlite(struct witness *witness, const char *path)
{
    sqlite3 *file = NULL;
    witness->name = "the database";
    bool good = sqlite3_open_v2(path, &file, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK;
    if (good) {
        sqlite3_busy_timeout(file, BUSY_MS);
        good = read_house(witness, file);
    } else {
        trouble(witness, file);
    }
    sqlite3_close(file);
    return good;
}
