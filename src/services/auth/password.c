#include "services/auth/password.h"

#include "base/log.h"
#include "base/random.h"
#include "base/turns.h"

#include <crypt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { COST = 10, SALT_BYTES = 16, NICENESS = 10 };

/* Of a password that nobody knows, with the same cost: who has no hash is compared with this one. */
static const char NOBODYS_HASH[] = "$2b$10$VVNLVbYoOc8WYHG058axHOA0rUtXuknmSahH28hu6KRyGduaHDRe6";

/* By the hash's own salt and cost, or by a setting that crypt_gensalt_rn made. */
static bool bcrypt(struct str password, const char *setting, char hash[PASSWORD_HASH_SIZE])
{
    char phrase[PASSWORD_MAX + 1];
    struct crypt_data *work = calloc(1, sizeof(*work)); /* 32 KiB: too much for a small stack */
    if (!work || password.len > PASSWORD_MAX) {
        free(work);
        return false;
    }
    memcpy(phrase, password.ptr, password.len);
    phrase[password.len] = '\0';
    const char *result = crypt_r(phrase, setting, work);
    bool done = result && result[0] == '$';
    if (done)
        snprintf(hash, PASSWORD_HASH_SIZE, "%s", result);
    explicit_bzero(phrase, sizeof(phrase));
    explicit_bzero(work, sizeof(*work));
    free(work);
    return done;
}

bool password_hash_now(struct str password, char hash[PASSWORD_HASH_SIZE])
{
    char salt[SALT_BYTES], setting[CRYPT_GENSALT_OUTPUT_SIZE];
    random_secret(salt, sizeof(salt));
    return crypt_gensalt_rn("$2b$", COST, salt, sizeof(salt), setting, sizeof(setting)) &&
           bcrypt(password, setting, hash);
}

struct hashing {
    struct str password;
    const char *expected; /* NULL: make a hash */
    char hash[PASSWORD_HASH_SIZE];
    bool done;
};

/* A flood of sign-ins must not take the processor from the loops, which serve everybody: they get the larger share of
 * it, and at once when they wake. */
static void step_back(void)
{
    static _Thread_local bool stepped_back;
    if (!stepped_back && !turns_set(TURN_LONG_NS, NICENESS))
        log_warn("hashing passwords cannot be given a lower priority");
    stepped_back = true;
}

static void work_on(void *argument)
{
    struct hashing *job = argument;
    step_back();
    job->done =
        job->expected ? bcrypt(job->password, job->expected, job->hash) : password_hash_now(job->password, job->hash);
}

enum password_outcome password_check(struct offload *offload, struct str password, const char *hash)
{
    struct hashing job = {.password = password, .expected = hash[0] ? hash : NOBODYS_HASH};
    if (!task_offload(offload, work_on, &job) || !job.done)
        return PASSWORD_BUSY;
    bool same = str_eq_secret(str_from(job.hash), str_from(job.expected));
    return same && hash[0] ? PASSWORD_RIGHT : PASSWORD_WRONG;
}

enum password_outcome password_hash(struct offload *offload, struct str password, char hash[PASSWORD_HASH_SIZE])
{
    struct hashing job = {.password = password};
    if (!offload_enter(offload))
        return PASSWORD_BUSY;
    bool done = task_offload(offload, work_on, &job) && job.done;
    offload_leave(offload);
    if (!done)
        return PASSWORD_BUSY;
    memcpy(hash, job.hash, PASSWORD_HASH_SIZE);
    return PASSWORD_RIGHT;
}
