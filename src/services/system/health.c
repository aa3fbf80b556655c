#include "services/system/health.h"

#include "coord/coord.h"
#include "db/db.h"
#include "http/server.h"
#include "services/app.h"
#include "services/system/neighbours.h"
#include "services/ticket/ticket.h"

/* Is the process alive? Touches nothing else. */
void get_health(struct request *rq)
{
    reply_header(rq, STR("Cache-Control"), STR("no-store"));
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_string(&json, "status", STR("ok"));
    json_end_object(&json);
    reply_json(rq, 200);
}

static bool add_part(struct json_writer *json, const char *name, const char *trouble, const char *warning)
{
    json_key(json, name);
    json_begin_object(json);
    json_member_bool(json, "ready", !trouble);
    if (trouble)
        json_member_string(json, "reason", str_from(trouble));
    if (warning)
        json_member_string(json, "warning", str_from(warning));
    json_end_object(json);
    return !trouble;
}

/* May this server get requests? Each part that it depends on, with the reason when it is not ready. */
void get_ready(struct request *rq)
{
    struct app *app = app_of(rq);
    bool ready = true;
    reply_header(rq, STR("Cache-Control"), STR("no-store"));
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_key(&json, "parts");
    json_begin_object(&json);
    ready &= add_part(&json, "database", db_trouble(app->reservations), NULL);
    ready &= add_part(&json, "accounts", db_trouble(app->accounts), NULL);
    ready &= add_part(&json, "coordination", coord_trouble(app->coord), neighbours_warning(app->neighbours));
    ready &= add_part(&json, "house", ticket_trouble(app->ticket), NULL);
    ready &= add_part(&json, "server", server_draining(app->server) ? "The server is stopping." : NULL, NULL);
    json_end_object(&json);
    json_member_bool(&json, "ready", ready);
    json_end_object(&json);
    reply_json(rq, ready ? 200 : 503);
}
