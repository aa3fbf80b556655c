#include "services/ticket/seats_routes.h"

#include "base/clock.h"
#include "http/stream.h"
#include "services/ticket/listeners.h"
#include "services/ticket/renderer.h"
#include "services/ticket/seats_json.h"
#include "services/ticket/ticket_internal.h"

#include <stdio.h>

enum { COMPRESS_FROM_SEATS = 32 }; /* about a kilobyte of them */

void get_show(struct request *rq)
{
    struct office *office = ticket_office_of(rq);
    if (!office)
        return;
    const struct show *show = &office->show;
    struct house_state state = house_state(office->house);
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", true);
    json_key(&json, "show");
    json_begin_object(&json);
    json_member_string(&json, "scheduleId", str_from(show->schedule));
    json_member_string(&json, "title", str_from(show->title));
    json_member_string(&json, "titleKo", str_from(show->title_ko));
    json_member_string(&json, "venue", str_from(show->venue));
    json_member_string(&json, "venueKo", str_from(show->venue_ko));
    json_key(&json, "startsAt");
    if (show->starts_at) {
        char text[CLOCK_RFC3339_SIZE];
        clock_format_rfc3339(show->starts_at, text);
        json_string(&json, str_from(text));
    } else {
        json_null(&json);
    }
    json_member_int(&json, "seats", state.seats);
    json_member_int(&json, "rowLength", office_row_length(state.seats));
    json_member_string(&json, "userHeader", app_of(rq)->settings->fcfs_user_header);
    json_end_object(&json);
    json_end_object(&json);
    reply_header(rq, STR("Cache-Control"), STR("no-cache"));
    reply_json(rq, 200);
}

/* A house that is not trusted may be behind: bring it up to date before it is shown. */
static bool make_current(struct request *rq, struct office *office)
{
    if (house_state(office->house).trusted || office_refresh(office))
        return true;
    reply_error(rq, ERR_SERVICE_UNAVAILABLE);
    return false;
}

static void add_list_headers(struct request *rq)
{
    reply_header(rq, STR("Cache-Control"), STR("public, max-age=1"));
    reply_header(rq, STR("Vary"), STR("Accept-Encoding"));
}

/* How GET /seats is wanted. */
struct wanted_list {
    bool bare; /* the PRD's array, without an object around it */
    enum edition_form form;
};

/* The compressed form is the same list for whoever reads it, but not the same bytes: so its tag is weak. */
enum { LIST_ETAG_MAX = 96 };
static struct str list_etag(const struct office *office, const struct house_state *state, struct wanted_list wanted,
                            char out[LIST_ETAG_MAX])
{
    int length = snprintf(out, LIST_ETAG_MAX, "%s\"%lld-%lld-%lld%s\"", wanted.form == EDITION_GZIP ? "W/" : "",
                          (long long)office->id, (long long)state->generation, (long long)state->version,
                          wanted.bare ? "-array" : "");
    return str_make(out, (size_t)length);
}

/* Takes the reference to the edition. What stands around the seats is put into the reply's own body. */
static bool reply_edition(struct request *rq, struct edition *edition, struct wanted_list wanted)
{
    struct str front = wanted.bare ? STR("[") : STR("{\"success\":true,\"seats\":[");
    struct str end = wanted.bare ? STR("]") : STR("]}");
    if (wanted.form == EDITION_GZIP) {
        struct buf *edges = &rq->reply.body;
        struct gzip_sum sum = gzip_sum_join(gzip_sum_join(gzip_sum_of(front), edition->sum), gzip_sum_of(end));
        buf_clear(edges);
        gzip_begin(edges, front);
        size_t front_length = edges->len;
        gzip_end(edges, end, sum);
        front = str_first(buf_str(edges), front_length);
        end = str_from_offset(buf_str(edges), front_length);
    }
    return reply_shared(rq, STR("application/json"), front, &edition->body, end);
}

/* The version is the ETag: who has it needs nothing, and no seat is looked at. Who has not gets the edition that all
 * readers share. */
void get_seats(struct request *rq)
{
    struct str format = request_query(rq, STR("format"));
    bool bare = str_eq(format, STR("array"));
    if (format.ptr && !bare) {
        request_invalid(rq, "format", "must be array, or be left out.");
        return;
    }
    struct office *office = ticket_office_of(rq);
    if (!office || !make_current(rq, office))
        return;
    struct house_state state = house_state(office->house);
    bool packed = state.seats >= COMPRESS_FROM_SEATS && request_accepts_gzip(rq);
    struct wanted_list wanted = {.bare = bare, .form = packed ? EDITION_GZIP : EDITION_PLAIN};
    char etag[LIST_ETAG_MAX];
    if (reply_not_modified(rq, list_etag(office, &state, wanted, etag))) {
        add_list_headers(rq);
        return;
    }
    struct edition *edition = rendering_read(office->renderings[wanted.form]);
    if (!edition) {
        reply_error(rq, ERR_OVERLOADED);
        return;
    }
    state = edition->state;
    if (!reply_edition(rq, edition, wanted))
        return;
    add_list_headers(rq);
    reply_header(rq, STR("ETag"), list_etag(office, &state, wanted, etag));
    if (wanted.form == EDITION_GZIP)
        reply_header(rq, STR("Content-Encoding"), STR("gzip"));
}

void get_seat(struct request *rq)
{
    struct office *office = ticket_office_of(rq);
    int64_t seat;
    if (!office)
        return;
    if (!str_to_int64(rq->params[0], &seat)) {
        request_invalid(rq, "id", "must be a whole number.");
        return;
    }
    if (!make_current(rq, office))
        return;
    int64_t seats = house_state(office->house).seats;
    if (seat < 1 || seat > seats) {
        reply_error_message(rq, ERR_NOT_FOUND, STR("There is no such seat."));
        return;
    }
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", true);
    json_key(&json, "seat");
    seats_json_seat(&json, seat, office_row_length(seats), !house_is_free(office->house, seat));
    json_end_object(&json);
    reply_json(rq, 200);
}

void get_seat_stream(struct request *rq)
{
    struct office *office = ticket_office_of(rq);
    if (!office || !make_current(rq, office))
        return;
    if (rq->head.method == HTTP_HEAD)
        reply_stream_head(rq);
    else
        listeners_add(office->listeners, rq);
}
