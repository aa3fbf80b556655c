/*
 * Accounts. What says something about a person is encrypted in the database and plain in struct account, which lives as
 * long as the request that asked for it. Functions that take a tx belong into a unit of work; the others are called
 * from tasks and wait.
 */
#ifndef AUTH_ACCOUNT_H
#define AUTH_ACCOUNT_H

#include "base/uuid.h"
#include "db/db.h"
#include "http/identity.h"
#include "pii/pii.h"
#include "services/auth/email.h"
#include "services/auth/password.h"

enum { ACCOUNT_NAME_MAX = 100, ACCOUNT_PHONE_MAX = 16, ACCOUNT_HASH_SIZE = 96, IDENTITY_MAX = 128 };

struct account {
    char id[UUID_TEXT + 1];
    char email[EMAIL_MAX + 1], name[ACCOUNT_NAME_MAX + 1], phone[ACCOUNT_PHONE_MAX + 1]; /* phone empty: none */
    char password_hash[PASSWORD_HASH_SIZE];                                              /* empty: none */
    bool has_google;
    enum role role;
    int64_t created_at, last_login_at; /* Unix ms; last_login_at 0: never */
};

/* Who registers. Texts are normalized and checked; ptr NULL: none. */
struct registration {
    struct str email, name, phone;
    struct str password_hash; /* of a password, or */
    struct str google_hash;   /* of Google's number for the person */
    struct str identity;      /* of a verified identity (identity.h) */
    enum role role;
    bool email_verified; /* somebody whom we trust says that the e-mail is theirs */
};

enum account_outcome {
    ACCOUNT_OK,
    ACCOUNT_UNKNOWN, /* there is none, or not any more */
    ACCOUNT_EMAIL_TAKEN,
    ACCOUNT_CI_TAKEN,
    ACCOUNT_GOOGLE_TAKEN,
    ACCOUNT_IDENTITY_UNKNOWN, /* nobody has verified that identity, or it was used already */
    ACCOUNT_UNAVAILABLE,      /* the database did not do it: 503 */
};

__attribute__((warn_unused_result)) enum account_outcome account_create(struct db *db, const struct pii *pii,
                                                                        struct arena *arena,
                                                                        const struct registration *registration,
                                                                        struct account *account);

__attribute__((warn_unused_result)) enum account_outcome account_read(struct db *db, const struct pii *pii,
                                                                      struct str id, struct account *account);

/* Those of the ids (at most `count`) that exist, in any order; tells how many. */
__attribute__((warn_unused_result)) enum account_outcome accounts_read(struct db *db, const struct pii *pii,
                                                                       const struct str *ids, size_t count,
                                                                       struct account *accounts, size_t *found);

/* What ptr NULL is stays as it was; an empty phone is taken away. */
struct account_change {
    struct str name, phone;
};
__attribute__((warn_unused_result)) enum account_outcome account_change(struct db *db, const struct pii *pii,
                                                                        struct arena *arena, struct str id,
                                                                        const struct account_change *change,
                                                                        struct account *account);

/* Hashes to find somebody by. */
struct str account_email_hash(const struct pii *pii, struct arena *arena, struct str email);
struct str account_google_hash(const struct pii *pii, struct arena *arena, struct str subject);

/* In a unit. False: there is none, or the unit has failed (tx_failed), also because what is there cannot be decrypted.
 */
bool account_find_by_id(struct tx *tx, const struct pii *pii, struct str id, struct account *account);
bool account_find_by_email(struct tx *tx, const struct pii *pii, struct str email_hash, struct account *account);
bool account_find_by_google(struct tx *tx, const struct pii *pii, struct str google_hash, struct account *account);

/* In a unit: the account of this e-mail, if nobody has ever shown that it is theirs: no Google, no verified identity,
 * no role, and the operator has not vouched for it. The id is in the unit's arena; ptr NULL: there is none. */
struct str account_find_unproven(struct tx *tx, struct str email_hash);

/* In a unit: wipes what is personal; its sessions are for the caller to end. False as above. */
bool account_erase(struct tx *tx, struct str id, int64_t now);

/* In a unit: the account belongs to who registers with Google from now on, if it is still unproven; its sessions are
 * for the caller to end. False as above. */
bool account_displace(struct tx *tx, const struct pii *pii, struct str id, const struct registration *registration,
                      int64_t now);

/* In a unit, for the operator: what ptr NULL is stays. With a new password, that is the only way in from then on, and
 * the e-mail is believed to be whose the operator gave it to. False as above. */
struct account_custody {
    struct str id, role, password_hash;
};
bool account_put(struct tx *tx, const struct account_custody *custody, int64_t now);

#endif
