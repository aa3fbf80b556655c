#include "services/ticket/reservation_routes.h"

#include "base/clock.h"
#include "base/json_read.h"
#include "base/phone.h"
#include "services/ticket/fcfs.h"
#include "services/ticket/seats_json.h"
#include "services/ticket/ticket_internal.h"

enum { USER_MAX = 128, NAME_MAX_BYTES = 100, PHONE_MAX = 32 };

/* What the request says. Each returns false when it found it wrong; what to answer differs by endpoint. */

static bool read_user(struct request *rq, struct claim *claim)
{
    claim->user = rq->identity.user_id;
    return claim->user.len > 0 && claim->user.len <= USER_MAX && str_is_utf8(claim->user);
}

static void reply_missing_user(struct request *rq)
{
    const struct settings *settings = app_of(rq)->settings;
    bool accounts_only = !settings->fcfs_guests && settings->fcfs_trust_user_header != TRUST_USER_HEADER_ALWAYS;
    reply_error(rq, accounts_only ? ERR_UNAUTHORIZED : ERR_MISSING_USER);
}

struct body {
    struct str user_name, phone;
};
static const struct json_field body_fields[] = {
    JSON_FIELD(struct body, user_name, "userName", .alias = "user_name", .max = NAME_MAX_BYTES),
    JSON_FIELD(struct body, phone, "phone", .max = PHONE_MAX),
};
static const struct json_descriptor body_descriptor = JSON_DESCRIPTOR(struct body, body_fields);

static bool read_body(struct request *rq, struct claim *claim, struct str *problem)
{
    struct body body = {0};
    struct json_problem json_problem;
    if (rq->body.len && !json_read(rq->body, &body_descriptor, &body, &rq->arena, &json_problem)) {
        *problem = json_problem.message;
        return false;
    }
    if (body.phone.len && !phone_to_e164(&rq->arena, body.phone, &claim->phone)) {
        *problem = STR("phone must be like +821012345678 or 010-1234-5678.");
        return false;
    }
    claim->user_name = body.user_name.len ? body.user_name : (struct str){NULL, 0};
    return true;
}

/* What JSON carries exactly; and our own numbers, which go on behind the gateway's, must still find room. */
static const int64_t SEQUENCE_MAX = (INT64_C(1) << 53) - 1;

/* The gateway's number is believed only together with its secret; a gateway that sends none has lost its Redis. */
static bool read_sequence(struct request *rq, struct claim *claim)
{
    struct str sequence = request_header(rq, STR("X-Fcfs-Seq"));
    if (!rq->identity.by_gateway || !sequence.ptr)
        return true;
    return str_to_int64(sequence, &claim->given_sequence) && claim->given_sequence > 0 &&
           claim->given_sequence <= SEQUENCE_MAX;
}

/* Answers. */

static void add_seat(struct request *rq, struct json_writer *json, struct office *office, const struct claim *claim)
{
    int64_t ttl = app_of(rq)->settings->fcfs_user_ttl;
    if (claim->seat) {
        json_key(json, "seat");
        seats_json_seat(json, claim->seat, office_row_length(house_state(office->house).seats), true);
    }
    json_key(json, "seat_id");
    if (claim->seat)
        json_int(json, claim->seat);
    else
        json_null(json);
    json_member_string(json, "reserved_by", claim->user);
    if (claim->seat && ttl) {
        int64_t left = ttl - (clock_wall_ms() - claim->claimed_at) / MS_PER_S;
        json_member_int(json, "userTtlRemaining", left > 0 ? left : 0);
    }
}

static void reply_claim(struct request *rq, struct office *office, const struct claim *claim)
{
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", true);
    add_seat(rq, &json, office, claim);
    json_key(&json, "reason");
    json_null(&json);
    json_member_int(&json, "remainingSeats", claim->remaining);
    json_member_int(&json, "sequence", claim->sequence);
    json_end_object(&json);
    reply_json(rq, 200);
}

static void reply_claim_error(struct request *rq, struct office *office, enum error error, const struct claim *claim)
{
    struct json_writer json = reply_error_begin(rq, error, error_row(error)->message);
    add_seat(rq, &json, office, claim);
    reply_error_end(rq, error, &json);
}

/* ?wrap=1: the answer as the body of another, for looking at it. False: it has answered 400. */
static bool read_wrap(struct request *rq, bool *wrap)
{
    struct str text = request_query(rq, STR("wrap"));
    *wrap = str_eq(text, STR("1"));
    return *wrap || !text.ptr || request_invalid(rq, "wrap", "must be 1, or be left out.");
}

static void wrap_answer(struct request *rq)
{
    if (!rq->reply.sent)
        return;
    int status = rq->reply.status;
    struct str body = arena_copy(&rq->arena, buf_str(&rq->reply.body));
    reply_discard(rq);
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "gatewayWrapped", true);
    json_member_int(&json, "status", status);
    json_key(&json, "body");
    json_raw(&json, body);
    json_end_object(&json);
    reply_json(rq, status);
}

static void claim_lowest(struct request *rq, struct office *office, struct claim *claim)
{
    switch (fcfs_run(rq, office, claim)) {
    case FCFS_CLAIMED: reply_claim(rq, office, claim); break;
    case FCFS_SOLD_OUT: reply_claim_error(rq, office, ERR_SOLD_OUT, claim); break;
    case FCFS_DUPLICATE: reply_claim_error(rq, office, ERR_DUPLICATE, claim); break;
    case FCFS_ALREADY_RESERVED: reply_claim_error(rq, office, ERR_ALREADY_RESERVED, claim); break;
    case FCFS_CONTENTION: reply_claim_error(rq, office, ERR_CONTENTION, claim); break;
    case FCFS_COORD_FAILED: reply_claim_error(rq, office, ERR_REDIS_ERROR, claim); break;
    case FCFS_UNAVAILABLE: reply_claim_error(rq, office, ERR_SERVICE_UNAVAILABLE, claim); break;
    case FCFS_SEAT_TAKEN:
    case FCFS_RELEASED:
    case FCFS_NOT_RESERVED: reply_error(rq, ERR_INTERNAL); break; /* not of this kind of claim */
    }
}

void post_reservation_fcfs(struct request *rq)
{
    struct claim claim = {.kind = CLAIM_LOWEST};
    struct office *office;
    struct str problem;
    bool wrap;
    if (!read_wrap(rq, &wrap))
        return;
    if (!read_user(rq, &claim))
        reply_missing_user(rq);
    else if (!read_body(rq, &claim, &problem))
        reply_error_message(rq, ERR_VALIDATION, problem);
    else if (!read_sequence(rq, &claim))
        reply_error(rq, ERR_SEQUENCE_UNAVAILABLE);
    else if ((office = ticket_office_of(rq)))
        claim_lowest(rq, office, &claim);
    if (wrap)
        wrap_answer(rq);
}

/* The PRD's contract: business outcomes are 200, and the bodies are its own. */

static void reply_plain(struct request *rq, int status, const char *key, const char *text, int64_t seat)
{
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", text == NULL);
    if (text)
        json_member_string(&json, key, str_from(text));
    if (seat)
        json_member_int(&json, "seat", seat);
    json_end_object(&json);
    reply_json(rq, status);
}

static void try_seat(struct request *rq, struct office *office, struct claim *claim)
{
    switch (fcfs_run(rq, office, claim)) {
    case FCFS_CLAIMED: reply_plain(rq, 200, "", NULL, claim->seat); break;
    case FCFS_SEAT_TAKEN:
    case FCFS_ALREADY_RESERVED: reply_plain(rq, 200, "reason", "already reserved", claim->seat); break;
    case FCFS_SOLD_OUT: reply_plain(rq, 200, "reason", "sold out", 0); break;
    case FCFS_DUPLICATE: reply_plain(rq, 409, "reason", "duplicate request", 0); break;
    default: reply_plain(rq, 500, "error", "internal error", 0); break;
    }
}

void post_reservation(struct request *rq)
{
    struct claim claim = {.kind = CLAIM_BY_SEQUENCE};
    struct office *office;
    struct str problem;
    if (!read_user(rq, &claim) || !read_body(rq, &claim, &problem))
        reply_plain(rq, 400, "error", "bad request", 0);
    else if (!read_sequence(rq, &claim))
        reply_plain(rq, 500, "error", "internal error", 0);
    else if ((office = ticket_office_of(rq)))
        try_seat(rq, office, &claim);
    else if (rq->reply.status == 503) {
        reply_discard(rq);
        reply_plain(rq, 500, "error", "internal error", 0);
    }
}

/* My seat. */

struct lookup {
    struct office *office;
    struct claim *claim;
};

static bool lookup_unit(struct tx *tx, void *argument)
{
    struct lookup *lookup = argument;
    lookup->claim->seat = 0;
    return claim_find(tx, lookup->office->id, lookup->claim) || !tx_failed(tx);
}

static void reply_my_seat(struct request *rq, struct office *office, const struct claim *claim)
{
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", true);
    add_seat(rq, &json, office, claim);
    if (claim->seat) {
        json_member_int(&json, "sequence", claim->sequence);
    } else {
        json_key(&json, "seat");
        json_null(&json);
    }
    json_end_object(&json);
    reply_header(rq, STR("Cache-Control"), STR("no-store"));
    reply_json(rq, 200);
}

void get_reservation(struct request *rq)
{
    struct claim claim = {0};
    struct office *office;
    if (!read_user(rq, &claim)) {
        reply_missing_user(rq);
    } else if ((office = ticket_office_of(rq))) {
        struct lookup lookup = {.office = office, .claim = &claim};
        if (db_read(office->db, lookup_unit, &lookup) == DB_OK)
            reply_my_seat(rq, office, &claim);
        else
            reply_error(rq, ERR_SERVICE_UNAVAILABLE);
    }
}

void reservation_reply_released(struct request *rq, struct office *office, const struct claim *claim)
{
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", true);
    json_key(&json, "seat");
    seats_json_seat(&json, claim->seat, office_row_length(house_state(office->house).seats), false);
    json_member_int(&json, "remainingSeats", claim->remaining);
    json_end_object(&json);
    reply_json(rq, 200);
}

void delete_reservation(struct request *rq)
{
    struct claim claim = {.kind = CLAIM_RELEASE};
    struct office *office;
    if (!read_user(rq, &claim)) {
        reply_missing_user(rq);
        return;
    }
    if (!(office = ticket_office_of(rq)))
        return;
    switch (fcfs_run(rq, office, &claim)) {
    case FCFS_RELEASED: reservation_reply_released(rq, office, &claim); break;
    case FCFS_NOT_RESERVED: reply_error(rq, ERR_NOT_RESERVED); break;
    case FCFS_DUPLICATE: reply_error(rq, ERR_DUPLICATE); break;
    case FCFS_CONTENTION: reply_error(rq, ERR_CONTENTION); break;
    case FCFS_COORD_FAILED: reply_error(rq, ERR_REDIS_ERROR); break;
    case FCFS_UNAVAILABLE: reply_error(rq, ERR_SERVICE_UNAVAILABLE); break;
    default: reply_error(rq, ERR_INTERNAL); break;
    }
}
