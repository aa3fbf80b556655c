#include "key_checks.h"

#include "base/log.h"

#include <stdio.h>

static const struct statement SELECT_CHECKS = {
    .sql = "SELECT key_number, check_value FROM key_checks ORDER BY key_number",
};
static const struct statement INSERT_CHECK = {
    .sql = "INSERT INTO key_checks (key_number, check_value) VALUES ($1, $2) ON CONFLICT (key_number) DO NOTHING",
};
static const struct statement DELETE_CHECK = {.sql = "DELETE FROM key_checks WHERE key_number = $1"};

struct given {
    struct pii_key keys[PII_KEYS_MAX + 1];
    size_t count;
};

static struct given given_in(const struct key_checks *checks)
{
    struct given given;
    given.count = pii_list_keys(checks->pii, given.keys);
    return given;
}

static const struct pii_key *find(const struct pii_key *keys, size_t count, uint32_t number)
{
    for (size_t i = 0; i < count; i++)
        if (keys[i].number == number)
            return &keys[i];
    return NULL;
}

static bool is_recorded(const struct key_checks *checks, uint32_t number)
{
    return find(checks->recorded, checks->recorded_count, number) != NULL;
}

static bool is_given(const struct given *given, uint32_t number)
{
    return find(given->keys, given->count, number) != NULL;
}

/* What is said to the operator. */

static void describe(uint32_t number, char *out, size_t size)
{
    if (number)
        snprintf(out, size, "key %u of PII_KEYS, else DATA_DIR/pii.key", number);
    else
        snprintf(out, size, "PII_HASH_KEY, else DATA_DIR/pii-hash.key");
}

static bool refuse(const struct key_checks *checks, const struct pii_key *key)
{
    char place[64], own_place[64];
    describe(key->number, place, sizeof(place));
    for (size_t i = 0; i < checks->recorded_count; i++) {
        if (strcmp(checks->recorded[i].check, key->check) != 0)
            continue;
        describe(checks->recorded[i].number, own_place, sizeof(own_place));
        log_error("a key has the place of another. Put each where it was; nothing was changed", LOG_C("found", place),
                  LOG_C("belongs", own_place), LOG_C("database", checks->service));
        return false;
    }
    log_error("this is not the key that the database was sealed with. Put back the right one, from where you keep a "
              "copy of the keys; nothing was changed",
              LOG_C("key", place), LOG_C("database", checks->service));
    return false;
}

static bool refuse_missing(const struct key_checks *checks, uint32_t number)
{
    log_error("values in the database are sealed with a key that is not given. Put it back into PII_KEYS (behind the "
              "first, if that is new) and let `tickettock pii rotate` finish before you take it out",
              LOG_INT("key", number), LOG_C("database", checks->service));
    return false;
}

/* Reading. */

bool key_checks_read(struct tx *tx, void *argument)
{
    struct key_checks *checks = argument;
    checks->recorded_count = checks->used_count = 0;
    struct rows *rows = tx_query(tx, &SELECT_CHECKS, DB_NO_PARAMS);
    while (checks->recorded_count < KEY_CHECKS_MAX && rows_next(rows)) {
        struct pii_key *key = &checks->recorded[checks->recorded_count++];
        key->number = (uint32_t)row_int(rows, "key_number");
        snprintf(key->check, sizeof(key->check), "%.*s", STR_ARG(row_text(rows, "check_value")));
    }
    if (checks->recorded_count == 0)
        checks->used_count = key_samples_numbers(tx, checks->service, checks->used);
    return !tx_failed(tx);
}

/* Comparing. */

/* Same number, same key; and no key under another number. */
static bool given_are_as_recorded(const struct key_checks *checks, const struct given *given)
{
    bool same = true;
    for (size_t i = 0; i < given->count; i++) {
        const struct pii_key *key = &given->keys[i];
        bool in_place = true;
        for (size_t j = 0; j < checks->recorded_count; j++)
            if ((checks->recorded[j].number == key->number) != (strcmp(checks->recorded[j].check, key->check) == 0))
                in_place = false;
        same = (in_place || refuse(checks, key)) && same;
    }
    return same;
}

static bool new_ones_open(struct tx *tx, const struct key_checks *checks, const struct given *given)
{
    const struct pii_key *hash_key = find(given->keys, given->count, 0);
    int hashes = 0, same = 0;
    bool open = true;
    for (size_t i = 0; i < given->count; i++) {
        uint32_t number = given->keys[i].number;
        if (number == 0 || is_recorded(checks, number))
            continue;
        struct key_trial trial = key_samples_try(tx, checks->service, checks->pii, number);
        if (trial.values && !trial.opened)
            open = refuse(checks, &given->keys[i]);
        hashes += trial.hashes;
        same += trial.same;
    }
    if (hashes && !same && !is_recorded(checks, 0))
        open = refuse(checks, hash_key);
    return open;
}

static bool lacks_recorded(const struct key_checks *checks, const struct given *given)
{
    for (size_t i = 0; i < checks->recorded_count; i++)
        if (!is_given(given, checks->recorded[i].number))
            return true;
    return false;
}

static bool used_ones_are_given(struct tx *tx, struct key_checks *checks, const struct given *given)
{
    bool all = true;
    if (lacks_recorded(checks, given))
        checks->used_count = key_samples_numbers(tx, checks->service, checks->used);
    for (size_t i = 0; i < checks->used_count; i++)
        if (!is_given(given, checks->used[i]))
            all = refuse_missing(checks, checks->used[i]);
    return all;
}

bool key_checks_compare(struct tx *tx, void *argument)
{
    struct key_checks *checks = argument;
    struct given given = given_in(checks);
    return given_are_as_recorded(checks, &given) && new_ones_open(tx, checks, &given) &&
           used_ones_are_given(tx, checks, &given) && !tx_failed(tx);
}

/* Recording. */

bool key_checks_differ(const struct key_checks *checks)
{
    struct given given = given_in(checks);
    for (size_t i = 0; i < given.count; i++)
        if (!is_recorded(checks, given.keys[i].number))
            return true;
    return lacks_recorded(checks, &given);
}

bool key_checks_record(struct tx *tx, void *argument)
{
    struct key_checks *checks = argument;
    struct given given = given_in(checks);
    for (size_t i = 0; i < checks->recorded_count; i++)
        if (!is_given(&given, checks->recorded[i].number))
            tx_exec(tx, &DELETE_CHECK, DB_PARAMS(DB_INT(checks->recorded[i].number)));
    for (size_t i = 0; i < given.count; i++)
        tx_exec(tx, &INSERT_CHECK, DB_PARAMS(DB_INT(given.keys[i].number), DB_TEXT(str_from(given.keys[i].check))));
    return key_checks_read(tx, checks) && given_are_as_recorded(checks, &given);
}
