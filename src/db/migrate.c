#include "db/migrate_internal.h"

#include "base/log.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

void migration_hash(struct str sql, char out[MIGRATION_HASH])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    if (EVP_Digest(sql.ptr, sql.len, digest, &length, EVP_sha256(), NULL) != 1)
        abort(); /* an OpenSSL without SHA-256 */
    for (unsigned i = 0; i < length; i++)
        snprintf(out + 2 * (size_t)i, 3, "%02x", digest[i]);
}

const struct migration *migration_next(const struct migration *all, const char *service, const char *dialect,
                                       const struct migration *after)
{
    for (const struct migration *at = after ? after + 1 : all; at->service; at++)
        if (strcmp(at->service, service) == 0 && strcmp(at->dialect, dialect) == 0)
            return at;
    return NULL;
}

bool migration_check_row(struct migration_check *check, int64_t number, struct str hash)
{
    const struct migration *ours = migration_next(check->all, check->service, check->dialect, check->last);
    if (!ours || ours->number != number) {
        log_error("the database has a migration that this program does not know", LOG_C("service", check->service),
                  LOG_INT("number", number));
        return false;
    }
    char expected[MIGRATION_HASH];
    migration_hash(ours->sql, expected);
    if (!str_eq(hash, str_from(expected))) {
        log_error("a migration has changed since it was applied", LOG_C("service", check->service),
                  LOG_C("migration", ours->name));
        return false;
    }
    check->last = ours;
    return true;
}

void migration_log_applied(const struct migration *migration)
{
    log_info("migration applied", LOG_C("service", migration->service), LOG_C("migration", migration->name));
}

void migration_log_failed(const struct migration *migration, const char *reason)
{
    log_error("migration failed", LOG_C("service", migration->service), LOG_C("migration", migration->name),
              LOG_C("reason", reason));
}
