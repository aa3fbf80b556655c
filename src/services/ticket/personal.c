#include "services/ticket/personal.h"

#include "base/log.h"

static const struct statement FORGET = {
    .sql = "UPDATE claims SET user_name = NULL, phone = NULL WHERE user_id = $1",
};
/* In the first rows: enough to notice an upgrade, and never a long look through a large house. */
#define SELECT_PLAIN_IN(first_rows)                                                                                    \
    "SELECT 1 FROM (SELECT user_name, phone FROM claims " first_rows " LIMIT 1000) AS first_rows "                     \
    "WHERE (user_name <> '' AND user_name NOT LIKE '$%') OR (phone <> '' AND phone NOT LIKE '$%') LIMIT 1"
static const struct statement SELECT_PLAIN = {
    .sqlite = SELECT_PLAIN_IN("ORDER BY place"),
    .postgres = SELECT_PLAIN_IN("ORDER BY house_id, seat_id"),
};

void personal_seal(const struct pii *pii, struct arena *arena, int64_t house, struct claim *claim)
{
    if (!claim->user_name.len && !claim->phone.len)
        return;
    /* The seat is not known yet; house and user name the row as well (the index claims_user). */
    char digits[FORMAT_INT_MAX];
    struct str row = ARENA_JOIN(arena, str_make(digits, format_int(digits, house)), STR("/"), claim->user);
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

static bool look_for_plain(struct tx *tx, void *argument)
{
    bool *found = argument;
    *found = rows_next(tx_query(tx, &SELECT_PLAIN, DB_NO_PARAMS));
    return !tx_failed(tx);
}

void personal_warn_of_plain(struct db *db)
{
    bool found = false;
    if (db_read(db, look_for_plain, &found) == DB_OK && found)
        log_warn("names and phones that an earlier version stored are not encrypted yet; run `tickettock pii rotate`");
}
