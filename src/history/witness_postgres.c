/* Reads a PostgreSQL database; never writes. */
#include "history/witness.h"

#include <libpq-fe.h>
#include <stdio.h>

static bool trouble(struct witness *witness, PGconn *connection)
{
    struct str message = str_from(PQerrorMessage(connection));
    while (message.len && message.ptr[message.len - 1] == '\n')
        message.len--;
    return witness_problem(witness, "PostgreSQL: %.*s", STR_ARG(message));
}

static int64_t number_at(const PGresult *result, int row, int column)
{
    int64_t number = 0;
    return str_to_int64(str_from(PQgetvalue(result, row, column)), &number) ? number : 0;
}

static PGresult *query(PGconn *connection, const char *sql, const char *parameter)
{
    return PQexecParams(connection, sql, 1, NULL, &parameter, NULL, NULL, 0);
}

static bool read_claims(struct witness *witness, PGconn *connection, const char *house, int64_t seats)
{
    PGresult *result = query(connection, WITNESS_SQL_CLAIMS, house);
    bool good = PQresultStatus(result) == PGRES_TUPLES_OK || trouble(witness, connection);
    for (int row = 0; good && row < PQntuples(result); row++) {
        struct str user = str_make(PQgetvalue(result, row, 1), (size_t)PQgetlength(result, row, 1));
        good = witness_owner(witness, number_at(result, row, 0), user, number_at(result, row, 2));
    }
    PQclear(result);
    return good && witness_complete(witness, seats);
}

static bool read_house(struct witness *witness, PGconn *connection)
{
    static const char BEGIN[] = "SET search_path = reservation_service;"
                                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"; /* one state for both questions */
    PGresult *result = PQexec(connection, BEGIN);
    bool begun = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    if (!begun)
        return trouble(witness, connection);
    result = query(connection, WITNESS_SQL_HOUSE, arena_c_string(witness->arena, witness->schedule));
    bool good;
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        good = trouble(witness, connection);
    else if (PQntuples(result) != 1)
        good = witness_problem(witness, "there is no house for the schedule \"%.*s\"", STR_ARG(witness->schedule));
    else
        good = read_claims(witness, connection, PQgetvalue(result, 0, 0), number_at(result, 0, 1));
    PQclear(result);
    return good;
}

bool witness_ask_postgres(struct witness *witness, const char *url)
{
    witness->name = "the database";
    PGconn *connection = PQconnectdb(url);
    bool good = PQstatus(connection) == CONNECTION_OK ? read_house(witness, connection) : trouble(witness, connection);
    PQfinish(connection);
    return good;
}
