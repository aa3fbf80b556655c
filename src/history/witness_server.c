/* Asks a running server as a buyer would: the seat map, and each user's own seat. With the admin token, its totals. */
#include "history/witness.h"

#include "base/json_read.h"
#include "base/json_scan.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

enum { ANSWER_MAX = 1 << 28, TIMEOUT_S = 30, TEXT_MAX = 512, ANSWER_ARENA_MAX = 1 << 20 };

struct talk {
    struct witness *witness;
    CURL *curl;
    const char *url;
    struct buf body;
    struct arena arena;   /* of the present answer */
    const char *schedule; /* "scheduleId=demo", or "" */
    char user_header[TEXT_MAX];
    int64_t seats;
};

static size_t take_body(char *bytes, size_t size, size_t count, void *argument)
{
    struct talk *talk = argument;
    return buf_add(&talk->body, str_make(bytes, size * count)) ? size * count : 0;
}

static const char *header_line(struct talk *talk, const char *name, struct str value)
{
    return arena_c_string(&talk->arena, arena_format(&talk->arena, "%s: %.*s", name, STR_ARG(value)));
}

/* GET url + path, with the schedule and perhaps a header "Name: value"; the answer is in talk->body. */
static bool ask(struct talk *talk, const char *path, const char *name, struct str value)
{
    arena_reset(&talk->arena);
    struct str url =
        arena_format(&talk->arena, "%s%s%s%s", talk->url, path, strchr(path, '?') ? "&" : "?", talk->schedule);
    struct str gateway_token = talk->witness->gateway_token;
    struct curl_slist *headers = NULL;
    if (name)
        headers = curl_slist_append(NULL, header_line(talk, name, value));
    if (name && gateway_token.len)
        headers = curl_slist_append(headers, header_line(talk, "X-Gateway-Token", gateway_token));
    buf_clear(&talk->body);
    curl_easy_setopt(talk->curl, CURLOPT_URL, arena_c_string(&talk->arena, url));
    curl_easy_setopt(talk->curl, CURLOPT_HTTPHEADER, headers);
    CURLcode code = curl_easy_perform(talk->curl);
    long status = 0;
    curl_easy_getinfo(talk->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(headers);
    if (code != CURLE_OK)
        return witness_problem(talk->witness, "GET %s: %s", path, curl_easy_strerror(code));
    return status == 200 || witness_problem(talk->witness, "GET %s was answered with %ld", path, status);
}

static bool read_answer(struct talk *talk, const struct json_descriptor *descriptor, void *out, const char *path)
{
    struct json_problem problem;
    return json_read(buf_str(&talk->body), descriptor, out, &talk->arena, &problem) ||
           witness_problem(talk->witness, "GET %s: %.*s", path, STR_ARG(problem.message));
}

struct show {
    struct str user_header;
    int64_t seats;
};
struct show_answer {
    struct show show;
};
static const struct json_field show_fields[] = {
    JSON_FIELD(struct show, user_header, "userHeader", .required = true, .max = TEXT_MAX - 1),
    JSON_FIELD(struct show, seats, "seats", .required = true),
};
static const struct json_descriptor show_descriptor = JSON_DESCRIPTOR(struct show, show_fields);
static const struct json_field show_answer_fields[] = {
    JSON_FIELD_OBJECT(struct show_answer, show, "show", &show_descriptor, .required = true),
};
static const struct json_descriptor show_answer_descriptor = JSON_DESCRIPTOR(struct show_answer, show_answer_fields);

static bool ask_show(struct talk *talk)
{
    struct show_answer answer = {0};
    if (!ask(talk, "/api/v1/show", NULL, STR("")) ||
        !read_answer(talk, &show_answer_descriptor, &answer, "/api/v1/show"))
        return false;
    snprintf(talk->user_header, sizeof(talk->user_header), "%.*s", STR_ARG(answer.show.user_header));
    talk->seats = answer.show.seats;
    return true;
}

/* {"id":5,"name":"A-5","status":true} */
static bool scan_seat(struct json_scan *scan, int64_t *seat, bool *taken)
{
    struct str name, text;
    bool whole;
    if (!json_scan_take(scan, '{'))
        return false;
    do {
        json_scan_space(scan);
        if (json_scan_kind(scan) != JSON_IS_STRING || !json_scan_string(scan, &name) || !json_scan_take(scan, ':'))
            return false;
        json_scan_space(scan);
        bool read = false;
        switch (json_scan_kind(scan)) {
        case JSON_IS_STRING: read = json_scan_string(scan, &text); break;
        case JSON_IS_TRUE: read = *taken = json_scan_word(scan, STR("true")); break;
        case JSON_IS_FALSE: read = json_scan_word(scan, STR("false")), *taken = false; break;
        case JSON_IS_NUMBER: read = json_scan_number(scan, &whole, seat); break;
        default: break;
        }
        if (!read)
            return false;
    } while (json_scan_take(scan, ','));
    return json_scan_take(scan, '}');
}

/* The bare array: it may have a million seats, more than json_read takes. */
static bool scan_map(struct talk *talk, uint64_t *map, int64_t *free_seats)
{
    struct str body = buf_str(&talk->body);
    struct json_scan scan = {.start = body.ptr, .at = body.ptr, .end = body.ptr + body.len, .arena = &talk->arena};
    if (!json_scan_take(&scan, '['))
        return false;
    if (json_scan_take(&scan, ']'))
        return true;
    do {
        int64_t seat = 0;
        bool taken = false;
        if (!scan_seat(&scan, &seat, &taken) || seat < 1 || seat > talk->witness->book->seats)
            return false;
        bit_set(map, seat, taken);
        *free_seats += !taken;
    } while (json_scan_take(&scan, ','));
    return json_scan_take(&scan, ']');
}

static bool ask_map(struct talk *talk)
{
    int64_t free_seats = 0;
    uint64_t *map = calloc((size_t)talk->witness->book->seats / 64 + 1, sizeof(*map));
    bool good = map && ask(talk, "/api/v1/seats?format=array", NULL, STR(""));
    if (good && !scan_map(talk, map, &free_seats))
        good = witness_problem(talk->witness, "GET /api/v1/seats: no map of this house");
    good = good && witness_map(talk->witness, map, free_seats);
    free(map);
    return good;
}

struct mine {
    int64_t seat, sequence;
};
static const struct json_field mine_fields[] = {
    JSON_FIELD(struct mine, seat, "seat_id"),
    JSON_FIELD(struct mine, sequence, "sequence"),
};
static const struct json_descriptor mine_descriptor = JSON_DESCRIPTOR(struct mine, mine_fields);

static bool ask_users(struct talk *talk)
{
    struct witness *witness = talk->witness;
    for (size_t user = 0; user < witness->user_count; user++) {
        struct mine mine = {.seat = 0, .sequence = -1};
        if (!ask(talk, "/api/v1/seats/reservation", talk->user_header, book_user(witness->book, (uint32_t)user)) ||
            !read_answer(talk, &mine_descriptor, &mine, "/api/v1/seats/reservation") ||
            !witness_user(witness, (uint32_t)user, mine.seat, mine.sequence))
            return false;
    }
    return true;
}

struct totals {
    int64_t total, free, taken;
};
struct overview {
    struct totals seats;
};
static const struct json_field totals_fields[] = {
    JSON_FIELD(struct totals, total, "total", .required = true),
    JSON_FIELD(struct totals, free, "free", .required = true),
    JSON_FIELD(struct totals, taken, "taken", .required = true),
};
static const struct json_descriptor totals_descriptor = JSON_DESCRIPTOR(struct totals, totals_fields);
static const struct json_field overview_fields[] = {
    JSON_FIELD_OBJECT(struct overview, seats, "seats", &totals_descriptor, .required = true),
};
static const struct json_descriptor overview_descriptor = JSON_DESCRIPTOR(struct overview, overview_fields);

static bool ask_totals(struct talk *talk)
{
    struct witness *witness = talk->witness;
    struct overview overview = {0};
    if (!witness->admin_token.len)
        return true;
    if (!ask(talk, "/api/v1/admin/overview", "X-Admin-Token", witness->admin_token) ||
        !read_answer(talk, &overview_descriptor, &overview, "/api/v1/admin/overview"))
        return false;
    const struct totals *seats = &overview.seats;
    if (seats->taken + seats->free != seats->total || seats->total != witness->book->seats)
        verdict_add(witness->verdict, VIOLATION_WRONG_COUNT, NULL, 0,
                    "The server counts %lld taken and %lld free of %lld seats, and the house has %lld.",
                    (long long)seats->taken, (long long)seats->free, (long long)seats->total,
                    (long long)witness->book->seats);
    return true;
}

/* Percent-encoded for the query. */
static const char *schedule_of(struct talk *talk)
{
    struct witness *witness = talk->witness;
    if (!witness->schedule.len)
        return "";
    char *escaped = curl_easy_escape(talk->curl, witness->schedule.ptr, (int)witness->schedule.len);
    struct str query = arena_format(witness->arena, "scheduleId=%s", escaped ? escaped : "");
    curl_free(escaped);
    return arena_c_string(witness->arena, query);
}

static bool talk_over(struct talk *talk)
{
    talk->schedule = schedule_of(talk);
    curl_easy_setopt(talk->curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(talk->curl, CURLOPT_WRITEDATA, talk);
    curl_easy_setopt(talk->curl, CURLOPT_TIMEOUT, (long)TIMEOUT_S);
    curl_easy_setopt(talk->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(talk->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(talk->curl, CURLOPT_NOSIGNAL, 1L);
    if (!ask_show(talk))
        return false;
    if (talk->seats != talk->witness->book->seats) {
        verdict_add(talk->witness->verdict, VIOLATION_WRONG_COUNT, NULL, 0,
                    "The house had %lld seats when the history began; in the end it has %lld.",
                    (long long)talk->witness->book->seats, (long long)talk->seats);
        return true;
    }
    return ask_users(talk) && ask_map(talk) && ask_totals(talk);
}

bool witness_ask_server(struct witness *witness, const char *url)
{
    struct str trimmed = str_from(url);
    while (trimmed.len && trimmed.ptr[trimmed.len - 1] == '/')
        trimmed.len--;
    witness->name = "the server";
    struct talk talk = {.witness = witness,
                        .url = arena_c_string(witness->arena, trimmed),
                        .body = BUF_INIT(ANSWER_MAX)};
    arena_init(&talk.arena, ANSWER_ARENA_MAX);
    bool good = false;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK && (talk.curl = curl_easy_init()))
        good = talk_over(&talk);
    else
        witness_problem(witness, "libcurl does not start");
    curl_easy_cleanup(talk.curl);
    buf_free(&talk.body);
    arena_free(&talk.arena);
    return good;
}
