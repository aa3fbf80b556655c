#include "services/auth/guest_routes.h"

#include "gateway/guest.h"
#include "gateway/keys.h"
#include "http/origin.h"
#include "services/app.h"
#include "services/auth/cookies.h"
#include "tables/config.h"

static void reply_guest(struct request *rq, struct str id)
{
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", true);
    json_key(&json, "guest");
    json_begin_object(&json);
    json_member_string(&json, "id", id);
    json_end_object(&json);
    json_end_object(&json);
    reply_header(rq, STR("Cache-Control"), STR("no-store"));
    reply_json(rq, 200);
}

/* The guest of this browser's cookie, or a new one. Either way the cookie begins to live anew. */
void guest_post(struct request *rq)
{
    const struct app *app = app_of(rq);
    if (!app->settings->fcfs_guests) {
        reply_error(rq, ERR_UNAUTHORIZED);
        return;
    }
    /* The cookie does not come with another site's form, but the browser would take a new guest from the answer and
     * forget the old one, who may have a seat. */
    if (request_origin(rq) == ORIGIN_OTHER) {
        reply_error(rq, ERR_CSRF);
        return;
    }
    struct str id = rq->identity.guest.len ? rq->identity.guest : guest_new(&rq->arena);
    cookies_set_guest(rq, guest_sign(&rq->arena, app->keys->guest, id));
    reply_guest(rq, id);
}
