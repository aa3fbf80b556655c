#include "services/auth/identity.h"

#include "base/clock.h"

static const struct statement STORE = {
    .sql = "INSERT INTO verified_identities (id, ci, ci_hash, expires_at) VALUES ($1, $2, $3, $4) "
           "ON CONFLICT (id) DO UPDATE SET ci = excluded.ci, ci_hash = excluded.ci_hash, "
           "expires_at = excluded.expires_at",
};
static const struct statement TAKE = {
    .sql = "DELETE FROM verified_identities WHERE id = $1 AND expires_at > $2 RETURNING ci, ci_hash",
};

static const struct statement SWEEP = {
    .sql = "DELETE FROM verified_identities WHERE expires_at < $1",
};

struct storing {
    struct str id, ci, ci_hash;
    int64_t expires_at;
};

static struct pii_place place_of(struct str id)
{
    return (struct pii_place){.table = "verified_identities", .column = "ci", .row = id};
}

static bool store_unit(struct tx *tx, void *argument)
{
    const struct storing *storing = argument;
    return tx_exec(tx, &STORE,
                   DB_PARAMS(DB_TEXT(storing->id), DB_TEXT(storing->ci), DB_TEXT(storing->ci_hash),
                             DB_INT(storing->expires_at)));
}

enum db_outcome identity_store(struct db *db, const struct pii *pii, struct arena *arena, struct str id, struct str ci,
                               int64_t lifetime_ms)
{
    struct storing storing = {
        .id = id,
        .ci = pii_encrypt(pii, arena, place_of(id), ci),
        .ci_hash = pii_hash(pii, arena, "ci", ci),
        .expires_at = clock_wall_ms() + lifetime_ms,
    };
    return db_write(db, store_unit, &storing, NULL);
}

bool identity_take(struct tx *tx, const struct pii *pii, struct str id, int64_t now, struct str *ci,
                   struct str *ci_hash)
{
    struct rows *rows = tx_query(tx, &TAKE, DB_PARAMS(DB_TEXT(id), DB_INT(now)));
    if (!rows_next(rows))
        return false;
    *ci_hash = arena_copy(tx_arena(tx), row_text(rows, "ci_hash"));
    return pii_decrypt(pii, tx_arena(tx), place_of(id), row_text(rows, "ci"), ci);
}

bool identity_sweep(struct tx *tx, int64_t before)
{
    return tx_exec(tx, &SWEEP, DB_PARAMS(DB_INT(before)));
}
