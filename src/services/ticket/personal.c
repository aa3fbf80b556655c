#include "services/ticket/personal.h"

/* House by house: the index by user begins with the house. */
static const struct statement FORGET = {
    .sql =
        "UPDATE claims SET user_name = NULL, phone = NULL WHERE house_id IN (SELECT id FROM houses) AND user_id = $1",
};

void personal_seal(const struct pii *pii, struct arena *arena, int64_t house, struct claim *claim)
{
    if (!claim->user_name.len && !claim->phone.len)
        return;
    /* The seat is not known yet; house and user name the row as well (the index claims_user). */
    struct str row = arena_format(arena, "%lld/%.*s", (long long)house, STR_ARG(claim->user));
    struct pii_place name = {.table = "claims", .column = "user_name", .row = row};
    struct pii_place phone = {.table = "claims", .column = "phone", .row = row};
    claim->user_name = pii_encrypt(pii, arena, name, claim->user_name);
    claim->phone = pii_encrypt(pii, arena, phone, claim->phone);
}

static bool forget_unit(struct tx *tx, void *argument)
{
    const struct str *user = argument;
    return tx_exec(tx, &FORGET, DB_PARAMS(DB_TEXT(*user)));
}

bool personal_forget(struct db *db, struct str user)
{
    return db_write(db, forget_unit, &user, NULL) == DB_OK;
}
