/* What several handlers of the auth service read and answer. */
#ifndef AUTH_ANSWERS_H
#define AUTH_ANSWERS_H

#include "base/json_read.h"
#include "services/auth/session.h"

/* Reads the body; an empty one is an empty object. False: it has answered 400. */
bool read_body(struct request *rq, const struct json_descriptor *descriptor, void *out);

/* Fields that are more than a length. False: it has answered 400. */
bool read_email(struct request *rq, struct str text, struct str *email);
bool read_name(struct request *rq, struct str text, struct str *name);
bool read_phone(struct request *rq, struct str text, struct str *phone); /* empty stays empty */

/* {"id":…,"email":…, …} */
void add_user(struct json_writer *json, const struct account *account);

void reply_user(struct request *rq, int status, const struct account *account);

/* The answer to everything that begins or continues a session, with its cookies. */
void reply_tokens(struct request *rq, const struct token_pair *pair, const struct account *account);

/* 429: too many failed sign-ins. */
void reply_throttled(struct request *rq, int64_t wait_ms);

/* No key, no tokens. False: it has answered 503. */
bool can_sign(struct request *rq);

/* {"success":true,"<name>":<json>} */
void reply_list(struct request *rq, const char *name, struct str json);

#endif
