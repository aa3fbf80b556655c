#include "services/auth/internal_routes.h"

#include "base/clock.h"
#include "services/app.h"
#include "services/auth/answers.h"
#include "services/auth/identity.h"

enum { BATCH_MAX = 100, IDENTITY_LIFETIME_S = 3600 };

struct batch_body {
    struct json_strings ids;
};
static const struct json_field batch_fields[] = {
    JSON_FIELD(struct batch_body, ids, "ids", .required = true, .min = 1, .max = UUID_TEXT, .max_items = BATCH_MAX),
};
static const struct json_descriptor batch_descriptor = JSON_DESCRIPTOR(struct batch_body, batch_fields);

void post_users_batch(struct request *rq)
{
    const struct app *app = app_of(rq);
    struct batch_body body = {0};
    size_t found;
    if (!read_body(rq, &batch_descriptor, &body))
        return;
    struct account *accounts = ARENA_NEW_ARRAY(&rq->arena, struct account, body.ids.count + 1);
    if (accounts_read(app->accounts, app->pii, body.ids.items, body.ids.count, accounts, &found) != ACCOUNT_OK) {
        reply_error(rq, ERR_SERVICE_UNAVAILABLE);
        return;
    }
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", true);
    json_member_array(&json, "users");
    for (size_t i = 0; i < found; i++)
        add_user(&json, &accounts[i]);
    json_end_array(&json);
    json_end_object(&json);
    reply_header(rq, STR("Cache-Control"), STR("no-store"));
    reply_json(rq, 200);
}

struct identity_body {
    struct str id, ci;
};
static const struct json_field identity_fields[] = {
    JSON_FIELD(struct identity_body, id, "id", .required = true, .min = 1, .max = IDENTITY_MAX),
    JSON_FIELD(struct identity_body, ci, "ci", .required = true, .min = 8, .max = CI_MAX),
};
static const struct json_descriptor identity_descriptor = JSON_DESCRIPTOR(struct identity_body, identity_fields);

void post_verified_identity(struct request *rq)
{
    const struct app *app = app_of(rq);
    struct identity_body body = {0};
    if (!read_body(rq, &identity_descriptor, &body))
        return;
    if (identity_store(app->accounts, app->pii, &rq->arena, body.id, body.ci, IDENTITY_LIFETIME_S * MS_PER_S) == DB_OK)
        reply_empty(rq, 204);
    else
        reply_error(rq, ERR_SERVICE_UNAVAILABLE);
}
