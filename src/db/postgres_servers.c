#include "db/postgres_servers.h"

#include "base/random.h"
#include "db/adapter.h"

#include <pthread.h>

static int32_t own_id;

static void choose_id(void)
{
    own_id = 1 + (int32_t)random_below(INT32_MAX - 1);
}

int32_t postgres_servers_own_id(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose_id);
    return own_id;
}

static const struct statement COUNT_OTHERS = {
    .postgres = "SELECT count(DISTINCT objid) AS servers" POSTGRES_SERVERS_FROM " AND objid::bigint <> $1",
    .sqlite = "SELECT 0 AS servers WHERE $1 IS NOT NULL",
};

int64_t tx_other_servers(struct tx *tx)
{
    struct rows *rows = tx_query(tx, &COUNT_OTHERS, DB_PARAMS(DB_INT(postgres_servers_own_id())));
    return rows_next(rows) ? row_int(rows, "servers") : 0;
}
