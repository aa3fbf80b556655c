#include "services/ticket/reset_routes.h"

#include "base/json_read.h"
#include "base/log.h"
#include "services/ticket/announce.h"
#include "services/ticket/ticket_internal.h"

/* A reset says which house is meant and which generation of it the operator has seen, so that neither a slip nor a
 * request that comes late empties a house that is being sold. Generation 0: there must be none yet. */
struct reset_body {
    struct str schedule;
    int64_t seat_count, generation;
};
static const struct json_field reset_fields[] = {
    JSON_FIELD(struct reset_body, schedule, "scheduleId", .min = 1, .max = SCHEDULE_MAX),
    JSON_FIELD(struct reset_body, seat_count, "seatCount", .required = true, .min = 0, .max = SEATS_MAX),
    JSON_FIELD(struct reset_body, generation, "generation", .min = 0, .max = INT64_MAX),
};
static const struct json_descriptor reset_descriptor = JSON_DESCRIPTOR(struct reset_body, reset_fields);

static bool read_reset(struct request *rq, struct reset_body *body)
{
    struct json_problem problem;
    struct str schedule = request_query(rq, STR("scheduleId"));
    if (!json_read(rq->body, &reset_descriptor, body, &rq->arena, &problem)) {
        reply_error_message(rq, ERR_VALIDATION, problem.message);
        return false;
    }
    if (schedule.ptr && body->schedule.ptr && !str_eq(schedule, body->schedule))
        return request_invalid(rq, "scheduleId", "must be the same in query and body.");
    if (!body->schedule.ptr)
        body->schedule = schedule;
    if (!body->schedule.ptr)
        return request_invalid(rq, "scheduleId", "is missing: a reset names its house.");
    return (body->schedule.len > 0 && body->schedule.len <= SCHEDULE_MAX) ||
           request_invalid(rq, "scheduleId", "must have 1 to 64 bytes.");
}

static void reply_reset(struct request *rq, const struct reset_body *body, int64_t generation)
{
    log_info("the house was reset", LOG_STR("schedule", body->schedule), LOG_INT("seats", body->seat_count),
             LOG_INT("generation", generation));
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", true);
    json_member_string(&json, "scheduleId", body->schedule);
    json_member_int(&json, "seats", body->seat_count);
    json_member_int(&json, "generation", generation);
    json_end_object(&json);
    reply_json(rq, 200);
}

static void reply_other_generation(struct request *rq, int64_t generation)
{
    enum error error = ERR_GENERATION_CHANGED;
    struct json_writer json = reply_error_begin(rq, error, error_row(error)->message);
    json_member_int(&json, "generation", generation);
    reply_error_end(rq, error, &json);
}

void post_reset(struct request *rq)
{
    struct reset_body body = {0};
    struct office *office = NULL;
    int64_t generation;
    if (!read_reset(rq, &body))
        return;
    if (body.generation > 0 && !(office = ticket_office_named(rq, body.schedule)))
        return;
    switch (office ? office_reset(office, body.seat_count, body.generation, &generation)
                   : office_create(app_of(rq)->reservations, body.schedule, body.seat_count, &generation)) {
    case RESET_DONE:
        if (office)
            announce_reset(office);
        reply_reset(rq, &body, generation);
        break;
    case RESET_OTHER_GENERATION: reply_other_generation(rq, generation); break;
    case RESET_UNAVAILABLE: reply_error(rq, ERR_SERVICE_UNAVAILABLE); break;
    }
}
