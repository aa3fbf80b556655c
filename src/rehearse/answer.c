#include "rehearse/answer.h"

#include "base/json_read.h"

/* Takes a line off the front; false while its end has not come. */
static bool take_line(struct str *rest, struct str *line)
{
    const char *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
    if (!end)
        return false;
    size_t length = (size_t)(end - rest->ptr);
    *line = str_make(rest->ptr, length && end[-1] == '\r' ? length - 1 : length);
    *rest = str_from_offset(*rest, length + 1);
    return true;
}

static bool read_status(struct str line, int *status)
{
    uint64_t number;
    if (!str_starts(line, STR("HTTP/1.")) || line.len < 12 ||
        !str_to_uint64(str_first(str_from_offset(line, 9), 3), &number))
        return false;
    *status = (int)number;
    return number >= 100 && number <= 599;
}

struct framing {
    bool has_length, chunked;
    uint64_t length;
};

static bool read_header(struct str line, struct answer *answer, struct framing *framing)
{
    struct str value = line, name;
    str_split(&value, ':', &name);
    value = str_trim(value);
    if (str_ieq(name, STR("content-length"))) {
        framing->has_length = true;
        return str_to_uint64(value, &framing->length) && framing->length <= ANSWER_BODY_MAX;
    }
    if (str_ieq(name, STR("transfer-encoding")))
        framing->chunked = true;
    else if (str_ieq(name, STR("connection")))
        answer->closes = str_ieq(value, STR("close"));
    else if (str_ieq(name, STR("etag")))
        answer->etag = value;
    else if (str_ieq(name, STR("retry-after")) && !str_to_int64(value, &answer->retry_after_s))
        answer->retry_after_s = -1;
    return true;
}

/* The body's framing is known; is the body here? We ask with HTTP/1.1 and no coding, and our server always tells the
 * length; a proxy that chunks what had a length is not understood. */
static enum answer_outcome read_body(struct str bytes, size_t head, bool ended, const struct framing *framing,
                                     struct answer *answer)
{
    bool bodiless = answer->status == 204 || answer->status == 304;
    if (framing->chunked)
        return ANSWER_BROKEN;
    if (!bodiless && !framing->has_length) {
        answer->closes = true;
        answer->length = bytes.len;
        answer->body = str_from_offset(bytes, head);
        return ended ? ANSWER_COMPLETE : ANSWER_MORE;
    }
    answer->length = head + (bodiless ? 0 : (size_t)framing->length);
    if (bytes.len < answer->length)
        return ended ? ANSWER_BROKEN : ANSWER_MORE;
    answer->body = str_make(bytes.ptr + head, answer->length - head);
    return ANSWER_COMPLETE;
}

enum answer_outcome answer_read(struct str bytes, bool ended, struct answer *answer)
{
    struct str rest = bytes, line;
    struct framing framing = {0};
    *answer = (struct answer){.retry_after_s = -1};
    if (!take_line(&rest, &line))
        return ended || bytes.len > ANSWER_HEAD_MAX ? ANSWER_BROKEN : ANSWER_MORE;
    if (!read_status(line, &answer->status) || answer->status < 200)
        return ANSWER_BROKEN; /* we never ask for 100 */
    while (take_line(&rest, &line)) {
        if (line.len == 0)
            return read_body(bytes, bytes.len - rest.len, ended, &framing, answer);
        if (!read_header(line, answer, &framing))
            return ANSWER_BROKEN;
    }
    return ended || bytes.len > ANSWER_HEAD_MAX ? ANSWER_BROKEN : ANSWER_MORE;
}

/* `seat` is an object or null, and a number in the PRD's contract, so seat_id is read; giving back has only `seat`. */
struct seat_member {
    int64_t id;
};
static const struct json_field seat_fields[] = {JSON_FIELD(struct seat_member, id, "id")};
static const struct json_descriptor seat_descriptor = JSON_DESCRIPTOR(struct seat_member, seat_fields);

struct office_body {
    bool success, has_seat_id;
    struct str reason, reserved_by;
    int64_t seat_id, sequence, remaining;
    struct seat_member seat;
};
static const struct json_field office_fields[] = {
    JSON_FIELD(struct office_body, success, "success"),
    JSON_FIELD(struct office_body, reason, "reason", .max = 64),
    JSON_FIELD(struct office_body, reserved_by, "reserved_by", .max = 256),
    JSON_FIELD(struct office_body, seat_id, "seat_id"),
    JSON_FIELD(struct office_body, sequence, "sequence"),
    JSON_FIELD(struct office_body, remaining, "remainingSeats"),
    JSON_FIELD_OBJECT(struct office_body, seat, "seat", &seat_descriptor),
};
static const struct json_descriptor office_descriptor = JSON_DESCRIPTOR(struct office_body, office_fields);

bool verdict_read(struct str body, struct arena *arena, struct verdict *verdict)
{
    struct office_body read = {.seat_id = 0, .sequence = -1, .remaining = -1, .seat = {.id = -1}};
    struct json_problem problem;
    *verdict = (struct verdict){.seat = -1, .sequence = -1, .remaining = -1};
    if (!json_read(body, &office_descriptor, &read, arena, &problem))
        return false;
    *verdict = (struct verdict){
        .success = read.success,
        .reason = read.reason,
        .reserved_by = read.reserved_by,
        .sequence = read.sequence,
        .remaining = read.remaining,
        .seat = read.seat_id        ? read.seat_id
                : read.seat.id >= 0 ? read.seat.id
                : read.success      ? 0
                                    : -1,
    };
    return true;
}

void etag_read(struct str etag, int64_t *generation, int64_t *version)
{
    struct str rest = etag, house, second, third;
    *generation = *version = -1;
    if (rest.len < 2 || rest.ptr[0] != '"' || rest.ptr[rest.len - 1] != '"')
        return;
    rest = str_make(rest.ptr + 1, rest.len - 2);
    if (str_split(&rest, '-', &house) && str_split(&rest, '-', &second) && str_split(&rest, '-', &third) &&
        !(str_to_int64(second, generation) && str_to_int64(third, version)))
        *generation = *version = -1;
}

/* A map may be tens of megabytes: it is looked through for what its seats have in common instead of being read into a
 * struct. */
int64_t map_read(struct str body, void (*take)(void *context, int64_t seat), void *context)
{
    static const struct str ID = STR_INIT("{\"id\":"), TAKEN = STR_INIT("\"status\":true");
    int64_t seats = 0;
    struct str rest = body;
    if (!str_starts(body, STR("{\"success\":true,\"seats\":[")))
        return -1;
    const char *at;
    while ((at = memmem(rest.ptr, rest.len, ID.ptr, ID.len))) {
        rest = str_from_offset(rest, (size_t)(at - rest.ptr) + ID.len);
        ptrdiff_t comma = str_find_char(rest, ','), end = str_find_char(rest, '}');
        int64_t seat;
        if (comma < 0 || end < comma || !str_to_int64(str_first(rest, (size_t)comma), &seat))
            return -1;
        if (str_contains(str_first(rest, (size_t)end), TAKEN))
            take(context, seat);
        rest = str_from_offset(rest, (size_t)end);
        seats++;
    }
    return seats;
}
