#include "services/auth/account.h"

#include "base/clock.h"
#include "base/log.h"
#include "gateway/jwt.h"
#include "services/auth/identity.h"

#include <stdio.h>

#define COLUMNS "id, email, name, phone, password_hash, google_hash, role, created_at, last_login_at"
#define LIVING "status = 'ACTIVE'"
#define UNPROVEN LIVING " AND role = 'USER' AND email_verified_at IS NULL AND google_hash IS NULL AND ci_hash IS NULL"

static const struct statement INSERT_USER = {
    .sql =
        "INSERT INTO users (id, email, email_hash, name, phone, phone_hash, ci, ci_hash, password_hash, google_hash, "
        "role, status, created_at, updated_at, email_verified_at) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'ACTIVE', $12, $12, CASE WHEN $13 THEN $12 END)",
};
static const struct statement SELECT_BY_ID = {
    .sql = "SELECT " COLUMNS " FROM users WHERE id = $1 AND " LIVING,
};
static const struct statement SELECT_BY_EMAIL = {
    .sql = "SELECT " COLUMNS " FROM users WHERE email_hash = $1 AND " LIVING,
};
static const struct statement SELECT_BY_GOOGLE = {
    .sql = "SELECT " COLUMNS " FROM users WHERE google_hash = $1 AND " LIVING,
};
static const struct statement UPDATE_USER = {
    .sql = "UPDATE users SET name = COALESCE($2, name), phone = CASE WHEN $3 THEN $4 ELSE phone END, "
           "phone_hash = CASE WHEN $3 THEN $5 ELSE phone_hash END, updated_at = $6 WHERE id = $1 AND " LIVING,
};
static const struct statement SELECT_UNPROVEN = {
    .sql = "SELECT id FROM users WHERE email_hash = $1 AND " UNPROVEN,
};
static const struct statement PUT_USER = {
    .sql = "UPDATE users SET role = COALESCE($2, role), password_hash = COALESCE($3, password_hash), "
           "google_hash = CASE WHEN $4 THEN NULL ELSE google_hash END, "
           "email_verified_at = CASE WHEN $4 THEN $5 ELSE email_verified_at END, updated_at = $5 "
           "WHERE id = $1 AND " LIVING,
};
static const struct statement DISPLACE_USER = {
    .sql = "UPDATE users SET name = $2, phone = NULL, phone_hash = NULL, password_hash = NULL, google_hash = $3, "
           "email_verified_at = $4, updated_at = $4 WHERE id = $1 AND " UNPROVEN,
};
static const struct statement ERASE_USER = {
    .sql = "UPDATE users SET status = 'DELETED', email = '', email_hash = NULL, name = '', phone = NULL, "
           "phone_hash = NULL, ci = NULL, ci_hash = NULL, password_hash = NULL, google_hash = NULL, "
           "email_verified_at = NULL, deleted_at = $2, updated_at = $2 WHERE id = $1 AND " LIVING,
};

struct str account_email_hash(const struct pii *pii, struct arena *arena, struct str email)
{
    return pii_hash(pii, arena, "email", email);
}

struct str account_google_hash(const struct pii *pii, struct arena *arena, struct str subject)
{
    return pii_hash(pii, arena, "google", subject);
}

static struct pii_place place_of(const char *column, struct str id)
{
    return (struct pii_place){.table = "users", .column = column, .row = id};
}

static void copy(char *out, size_t size, struct str text)
{
    snprintf(out, size, "%.*s", STR_ARG(text.ptr ? text : STR("")));
}

static bool open_column(struct rows *rows, struct arena *arena, const struct pii *pii, struct str id,
                        const char *column, char *out, size_t size)
{
    struct str plain = STR(""), sealed = row_text(rows, column);
    bool opened = !sealed.ptr || pii_decrypt(pii, arena, place_of(column, id), sealed, &plain);
    if (!opened)
        log_error("an account cannot be decrypted; does PII_KEYS have all keys?", LOG_STR("user", id),
                  LOG_C("column", column));
    copy(out, size, plain);
    return opened;
}

static bool account_from_row(struct rows *rows, struct arena *arena, const struct pii *pii, struct account *account)
{
    *account = (struct account){
        .has_google = !row_null(rows, "google_hash"),
        .created_at = row_int(rows, "created_at"),
        .last_login_at = row_null(rows, "last_login_at") ? 0 : row_int(rows, "last_login_at"),
    };
    struct str id = row_text(rows, "id");
    copy(account->id, sizeof(account->id), id);
    copy(account->password_hash, sizeof(account->password_hash), row_text(rows, "password_hash"));
    return role_from(row_text(rows, "role"), &account->role) &&
           open_column(rows, arena, pii, id, "email", account->email, sizeof(account->email)) &&
           open_column(rows, arena, pii, id, "name", account->name, sizeof(account->name)) &&
           open_column(rows, arena, pii, id, "phone", account->phone, sizeof(account->phone));
}

static bool find(struct tx *tx, const struct statement *statement, const struct pii *pii, struct str key,
                 struct account *account)
{
    struct rows *rows = tx_query(tx, statement, DB_PARAMS(DB_TEXT(key)));
    if (!rows_next(rows))
        return false;
    if (account_from_row(rows, tx_arena(tx), pii, account))
        return true;
    *account = (struct account){0}; /* never half of one: its password would still be right */
    tx_give_up(tx);
    return false;
}

bool account_find_by_id(struct tx *tx, const struct pii *pii, struct str id, struct account *account)
{
    return find(tx, &SELECT_BY_ID, pii, id, account);
}

bool account_find_by_email(struct tx *tx, const struct pii *pii, struct str email_hash, struct account *account)
{
    return find(tx, &SELECT_BY_EMAIL, pii, email_hash, account);
}

bool account_find_by_google(struct tx *tx, const struct pii *pii, struct str google_hash, struct account *account)
{
    return find(tx, &SELECT_BY_GOOGLE, pii, google_hash, account);
}

/* Registering. */

struct creation {
    const struct pii *pii;
    const struct registration *registration;
    struct str id, email, email_hash, name, phone, phone_hash;
    int64_t now;
    bool identity_unknown;
};

static bool create_unit(struct tx *tx, void *argument)
{
    struct creation *creation = argument;
    const struct registration *registration = creation->registration;
    struct str ci = {NULL, 0}, ci_hash = {NULL, 0};
    creation->identity_unknown = false;
    if (registration->identity.ptr &&
        !identity_take(tx, creation->pii, registration->identity, creation->now, &ci, &ci_hash)) {
        creation->identity_unknown = !tx_failed(tx);
        return false;
    }
    if (ci.ptr)
        ci = pii_encrypt(creation->pii, tx_arena(tx), place_of("ci", creation->id), ci);
    return tx_exec(tx, &INSERT_USER,
                   DB_PARAMS(DB_TEXT(creation->id), DB_TEXT(creation->email), DB_TEXT(creation->email_hash),
                             DB_TEXT(creation->name), DB_TEXT(creation->phone), DB_TEXT(creation->phone_hash),
                             DB_TEXT(ci), DB_TEXT(ci_hash), DB_TEXT(registration->password_hash),
                             DB_TEXT(registration->google_hash), DB_TEXT(role_name(registration->role)),
                             DB_INT(creation->now), DB_BOOL(registration->email_verified)));
}

static void fill_account(struct account *account, const struct creation *creation)
{
    const struct registration *registration = creation->registration;
    *account = (struct account){
        .role = registration->role,
        .has_google = registration->google_hash.ptr != NULL,
        .created_at = creation->now,
    };
    copy(account->id, sizeof(account->id), creation->id);
    copy(account->email, sizeof(account->email), registration->email);
    copy(account->name, sizeof(account->name), registration->name);
    copy(account->phone, sizeof(account->phone), registration->phone);
    copy(account->password_hash, sizeof(account->password_hash), registration->password_hash);
}

static enum account_outcome refused_by(const struct db_failure *failure)
{
    struct str constraint = str_from(failure->constraint);
    if (str_eq(constraint, STR("users_email")))
        return ACCOUNT_EMAIL_TAKEN;
    if (str_eq(constraint, STR("users_ci")))
        return ACCOUNT_CI_TAKEN;
    return str_eq(constraint, STR("users_google")) ? ACCOUNT_GOOGLE_TAKEN : ACCOUNT_UNAVAILABLE;
}

enum account_outcome account_create(struct db *db, const struct pii *pii, struct arena *arena,
                                    const struct registration *registration, struct account *account)
{
    char *id_text = arena_bytes(arena, UUID_TEXT);
    uuid_format(uuid_new(), id_text);
    struct str id = str_make(id_text, UUID_TEXT), none = {NULL, 0};
    bool has_phone = registration->phone.ptr != NULL;
    struct creation creation = {
        .pii = pii,
        .registration = registration,
        .id = id,
        .email = pii_encrypt(pii, arena, place_of("email", id), registration->email),
        .email_hash = account_email_hash(pii, arena, registration->email),
        .name = pii_encrypt(pii, arena, place_of("name", id), registration->name),
        .phone = has_phone ? pii_encrypt(pii, arena, place_of("phone", id), registration->phone) : none,
        .phone_hash = has_phone ? pii_hash(pii, arena, "phone", registration->phone) : none,
        .now = clock_wall_ms(),
    };
    struct db_failure failure = {0};
    switch (db_write(db, create_unit, &creation, &failure)) {
    case DB_OK: fill_account(account, &creation); return ACCOUNT_OK;
    case DB_CONSTRAINT: return refused_by(&failure);
    case DB_ROLLED_BACK: return creation.identity_unknown ? ACCOUNT_IDENTITY_UNKNOWN : ACCOUNT_UNAVAILABLE;
    default: return ACCOUNT_UNAVAILABLE;
    }
}

/* Reading. */

struct reading {
    const struct pii *pii;
    const struct str *ids;
    size_t count, found;
    struct account *accounts;
};

static bool read_unit(struct tx *tx, void *argument)
{
    struct reading *reading = argument;
    reading->found = 0;
    for (size_t i = 0; i < reading->count; i++)
        if (account_find_by_id(tx, reading->pii, reading->ids[i], &reading->accounts[reading->found]))
            reading->found++;
    return !tx_failed(tx);
}

enum account_outcome accounts_read(struct db *db, const struct pii *pii, const struct str *ids, size_t count,
                                   struct account *accounts, size_t *found)
{
    struct reading reading = {.pii = pii, .ids = ids, .count = count, .accounts = accounts};
    enum db_outcome outcome = db_read(db, read_unit, &reading);
    *found = reading.found;
    return outcome == DB_OK ? ACCOUNT_OK : ACCOUNT_UNAVAILABLE;
}

enum account_outcome account_read(struct db *db, const struct pii *pii, struct str id, struct account *account)
{
    size_t found;
    enum account_outcome outcome = accounts_read(db, pii, &id, 1, account, &found);
    return outcome == ACCOUNT_OK && found == 0 ? ACCOUNT_UNKNOWN : outcome;
}

/* Changing. */

struct changing {
    const struct pii *pii;
    struct str id, name, phone, phone_hash;
    bool changes_phone;
    int64_t now;
    struct account *account;
};

static bool change_unit(struct tx *tx, void *argument)
{
    struct changing *changing = argument;
    return tx_exec(tx, &UPDATE_USER,
                   DB_PARAMS(DB_TEXT(changing->id), DB_TEXT(changing->name), DB_BOOL(changing->changes_phone),
                             DB_TEXT(changing->phone), DB_TEXT(changing->phone_hash), DB_INT(changing->now))) &&
           account_find_by_id(tx, changing->pii, changing->id, changing->account);
}

enum account_outcome account_change(struct db *db, const struct pii *pii, struct arena *arena, struct str id,
                                    const struct account_change *change, struct account *account)
{
    struct changing changing = {
        .pii = pii, .id = id, .changes_phone = change->phone.ptr != NULL, .now = clock_wall_ms(), .account = account};
    if (change->name.ptr)
        changing.name = pii_encrypt(pii, arena, place_of("name", id), change->name);
    if (change->phone.len) {
        changing.phone = pii_encrypt(pii, arena, place_of("phone", id), change->phone);
        changing.phone_hash = pii_hash(pii, arena, "phone", change->phone);
    }
    switch (db_write(db, change_unit, &changing, NULL)) {
    case DB_OK: return ACCOUNT_OK;
    case DB_ROLLED_BACK: return ACCOUNT_UNKNOWN;
    default: return ACCOUNT_UNAVAILABLE;
    }
}

struct str account_find_unproven(struct tx *tx, struct str email_hash)
{
    struct rows *rows = tx_query(tx, &SELECT_UNPROVEN, DB_PARAMS(DB_TEXT(email_hash)));
    return rows_next(rows) ? arena_copy(tx_arena(tx), row_text(rows, "id")) : (struct str){NULL, 0};
}

bool account_put(struct tx *tx, const struct account_custody *custody, int64_t now)
{
    return tx_exec(tx, &PUT_USER,
                   DB_PARAMS(DB_TEXT(custody->id), DB_TEXT(custody->role), DB_TEXT(custody->password_hash),
                             DB_BOOL(custody->password_hash.ptr != NULL), DB_INT(now))) &&
           tx_changes(tx) == 1;
}

bool account_erase(struct tx *tx, struct str id, int64_t now)
{
    return tx_exec(tx, &ERASE_USER, DB_PARAMS(DB_TEXT(id), DB_INT(now))) && tx_changes(tx) == 1;
}

bool account_displace(struct tx *tx, const struct pii *pii, struct str id, const struct registration *registration,
                      int64_t now)
{
    struct str name = pii_encrypt(pii, tx_arena(tx), place_of("name", id), registration->name);
    return tx_exec(tx, &DISPLACE_USER,
                   DB_PARAMS(DB_TEXT(id), DB_TEXT(name), DB_TEXT(registration->google_hash), DB_INT(now))) &&
           tx_changes(tx) == 1;
}
