#include "services/ticket/admin_routes.h"

#include "base/clock.h"
#include "base/log.h"
#include "services/ticket/fcfs.h"
#include "services/ticket/reservation_routes.h"
#include "services/ticket/ticket_internal.h"

enum { HISTORY_SHOWN = 50 };

static const struct statement SELECT_HISTORY = {
    .sql = "SELECT at, user_id, seat_id, outcome, sequence FROM reservation_history WHERE house_id = $1 "
           "ORDER BY id DESC LIMIT $2",
};

struct history_reading {
    struct office *office;
    struct json_writer json;
};

static void add_int_or_null(struct json_writer *json, const char *name, struct rows *rows, const char *column)
{
    json_key(json, name);
    if (row_null(rows, column))
        json_null(json);
    else
        json_int(json, row_int(rows, column));
}

static bool read_history(struct tx *tx, void *argument)
{
    struct history_reading *reading = argument;
    struct json_writer *json = &reading->json;
    buf_clear(json->out);
    *json = json_write_to(json->out);
    struct rows *rows = tx_query(tx, &SELECT_HISTORY, DB_PARAMS(DB_INT(reading->office->id), DB_INT(HISTORY_SHOWN)));
    json_begin_array(json);
    while (rows_next(rows)) {
        char at[CLOCK_RFC3339_SIZE];
        clock_format_rfc3339(row_int(rows, "at"), at);
        json_begin_object(json);
        json_member_string(json, "at", str_from(at));
        json_member_string(json, "user", row_text(rows, "user_id"));
        add_int_or_null(json, "seat", rows, "seat_id");
        json_member_string(json, "outcome", row_text(rows, "outcome"));
        add_int_or_null(json, "sequence", rows, "sequence");
        json_end_object(json);
    }
    json_end_array(json);
    return !tx_failed(tx);
}

static void add_attempts(struct json_writer *json, const struct ticket *ticket)
{
    json_begin_object(json);
    for (enum ticket_attempt attempt = 0; attempt < ATTEMPT_COUNT; attempt++)
        json_member_int(json, ticket_attempt_name(attempt), (int64_t)ticket_attempts(ticket, attempt));
    json_end_object(json);
}

static void add_seats(struct json_writer *json, struct house_state state)
{
    json_begin_object(json);
    json_member_int(json, "total", state.seats);
    json_member_int(json, "free", state.free);
    json_member_int(json, "taken", state.seats - state.free);
    json_end_object(json);
}

static void reply_overview(struct request *rq, struct office *office, struct str history)
{
    struct house_state state = house_state(office->house);
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", true);
    json_member_string(&json, "scheduleId", str_from(office->show.schedule));
    json_member_int(&json, "generation", state.generation);
    json_key(&json, "seats");
    add_seats(&json, state);
    json_key(&json, "attempts");
    add_attempts(&json, app_of(rq)->ticket);
    json_key(&json, "history");
    json_raw(&json, history);
    json_end_object(&json);
    reply_header(rq, STR("Cache-Control"), STR("no-store"));
    reply_json(rq, 200);
}

void get_admin_overview(struct request *rq)
{
    struct office *office = ticket_office_of(rq);
    if (!office)
        return;
    if (!house_state(office->house).trusted)
        office_refresh(office); /* a reset wants the generation that is shown here */
    struct buf history = BUF_INIT(256 * 1024);
    struct history_reading reading = {.office = office, .json = json_write_to(&history)};
    if (db_read(office->db, read_history, &reading) == DB_OK)
        reply_overview(rq, office, buf_str(&history));
    else
        reply_error(rq, ERR_SERVICE_UNAVAILABLE);
    buf_free(&history);
}

/* Which house is meant is said, never assumed: a slip takes somebody's seat. */
static struct office *named_office(struct request *rq)
{
    struct str schedule = request_query(rq, STR("scheduleId"));
    if (schedule.ptr)
        return ticket_office_named(rq, schedule);
    request_invalid(rq, "scheduleId", "is missing: it says of which house the seat is.");
    return NULL;
}

static void reply_no_such_seat(struct request *rq)
{
    reply_error_message(rq, ERR_NOT_FOUND, STR("There is no such seat."));
}

static void release_seat(struct request *rq, struct office *office, struct claim *claim)
{
    switch (fcfs_free_seat(rq, office, claim)) {
    case FCFS_RELEASED:
        log_info("an operator released a seat", LOG_C("schedule", office->show.schedule), LOG_INT("seat", claim->seat));
        reservation_reply_released(rq, office, claim);
        break;
    case FCFS_NOT_RESERVED: /* the attempt has brought the house up to date */
        if (claim->given_seat > house_state(office->house).seats)
            reply_no_such_seat(rq);
        else
            reply_error_message(rq, ERR_NOT_RESERVED, STR("Nobody has this seat."));
        break;
    case FCFS_CONTENTION: reply_error(rq, ERR_CONTENTION); break;
    case FCFS_UNAVAILABLE: reply_error(rq, ERR_SERVICE_UNAVAILABLE); break;
    default: reply_error(rq, ERR_INTERNAL); break;
    }
}

void delete_admin_seat(struct request *rq)
{
    struct claim claim = {.kind = CLAIM_FREE_SEAT, .user = STR("operator")};
    if (!str_to_int64(rq->params[0], &claim.given_seat)) {
        request_invalid(rq, "id", "must be a whole number.");
        return;
    }
    struct office *office = named_office(rq);
    if (!office)
        return;
    if (claim.given_seat < 1 || claim.given_seat > SEATS_MAX) /* no place in any house: claim.c relies on it */
        reply_no_such_seat(rq);
    else
        release_seat(rq, office, &claim);
}
