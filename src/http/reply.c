/* The ways to answer a request, declared in http/request.h. They fill in the
 * reply; the connection sends it when the handler has returned. */
#include "base/random.h"
#include "http/connection.h"

#include <assert.h>

static void set_reply(struct request *rq, int status, struct str content_type)
{
    assert(!rq->reply.sent); /* a handler answers once */
    rq->reply.status = status;
    rq->reply.content_type = content_type;
    rq->reply.sent = true;
}

struct json_writer reply_json_writer(struct request *rq)
{
    buf_clear(&rq->reply.body);
    return json_write_to(&rq->reply.body);
}

void reply_written(struct request *rq, int status, struct str content_type)
{
    set_reply(rq, status, content_type);
}

void reply_json(struct request *rq, int status)
{
    reply_written(rq, status, STR("application/json"));
}

void reply_text(struct request *rq, int status, struct str content_type, struct str text)
{
    buf_clear(&rq->reply.body);
    buf_add(&rq->reply.body, text);
    set_reply(rq, status, content_type);
}

void reply_empty(struct request *rq, int status)
{
    buf_clear(&rq->reply.body);
    set_reply(rq, status, (struct str){NULL, 0});
}

void reply_fixed(struct request *rq, int status, struct str content_type, struct str bytes)
{
    rq->reply.fixed = bytes;
    set_reply(rq, status, content_type);
}

struct json_writer reply_error_begin(struct request *rq, enum error error, struct str message)
{
    const struct error_row *row = error_row(error);
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", false);
    json_member_string(&json, "reason", row->reason);
    json_member_string(&json, "message", message);
    return json;
}

/* Not the same for everybody, or all would come back in the same second. */
static void add_retry_after(struct request *rq)
{
    enum { LONGEST_S = 5 };
    char seconds = (char)('1' + random_below(LONGEST_S));
    reply_header(rq, STR("Retry-After"), str_make(&seconds, 1));
}

/* Every 401 says how to sign in (RFC 9110 15.5.2), and whether a token was the reason (RFC 6750 3.1). */
static void add_challenge(struct request *rq)
{
    reply_header(rq, STR("WWW-Authenticate"),
                 rq->identity.refused ? STR("Bearer error=\"invalid_token\"") : STR("Bearer"));
}

void reply_error_end(struct request *rq, enum error error, struct json_writer *json)
{
    json_member_string(json, "traceId", str_make(rq->trace, TRACE_ID_LENGTH));
    json_end_object(json);
    if (error_row(error)->status == 503)
        add_retry_after(rq);
    if (error_row(error)->status == 401)
        add_challenge(rq);
    reply_json(rq, error_row(error)->status);
}

void reply_error_message(struct request *rq, enum error error, struct str message)
{
    struct json_writer json = reply_error_begin(rq, error, message);
    reply_error_end(rq, error, &json);
}

void reply_error(struct request *rq, enum error error)
{
    reply_error_message(rq, error, error_row(error)->message);
}

bool request_invalid(struct request *rq, const char *field, const char *problem)
{
    reply_error_message(rq, ERR_VALIDATION, arena_format(&rq->arena, "%s %s", field, problem));
    return false;
}

void reply_discard(struct request *rq)
{
    buf_clear(&rq->reply.body);
    answer_release_shared(rq);
    rq->reply.fixed = (struct str){NULL, 0};
    rq->reply.sent = rq->reply.streamed = false;
}

void reply_header(struct request *rq, struct str name, struct str value)
{
    struct buf *headers = &rq->reply.headers;
    buf_add(headers, name);
    buf_add(headers, STR(": "));
    size_t start = headers->len;
    buf_add(headers, value);
    for (size_t i = start; i < headers->len; i++)
        if (headers->data[i] == '\r' || headers->data[i] == '\n' || headers->data[i] == '\0')
            headers->data[i] = ' ';
    buf_add(headers, STR("\r\n"));
}

static struct str without_weakness(struct str etag)
{
    return str_starts(etag, STR("W/")) ? str_from_offset(etag, 2) : etag;
}

/* If-None-Match is a list of quoted tags, weak ones marked W/, or "*". It asks for the weak comparison, in which they
 * count as the others (RFC 9110 13.1.2). */
bool reply_not_modified(struct request *rq, struct str etag)
{
    struct str rest = request_header(rq, STR("If-None-Match")), item;
    while (str_split(&rest, ',', &item)) {
        item = str_trim(item);
        if (str_eq(without_weakness(item), without_weakness(etag)) || str_eq(item, STR("*"))) {
            reply_header(rq, STR("ETag"), etag);
            reply_empty(rq, 304);
            return true;
        }
    }
    return false;
}
