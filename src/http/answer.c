/* Puts an answer on the wire: head, compression, writing, and what comes after. */
#include "base/gzip.h"
#include "base/log.h"
#include "http/connection.h"
#include "http/stream.h"
#include "tables/metrics.h"

enum {
    COMPRESS_FROM = 1024,
    HEAD_FIXED_BYTES = 512, /* more than a head has besides its content type and further headers */
};

static struct str status_line(int status)
{
    switch (status) {
#define LINE(code, text)                                                                                               \
    case code: return STR("HTTP/1.1 " #code " " text "\r\n")
        LINE(200, "OK");
        LINE(201, "Created");
        LINE(202, "Accepted");
        LINE(204, "No Content");
        LINE(301, "Moved Permanently");
        LINE(302, "Found");
        LINE(303, "See Other");
        LINE(304, "Not Modified");
        LINE(400, "Bad Request");
        LINE(401, "Unauthorized");
        LINE(403, "Forbidden");
        LINE(404, "Not Found");
        LINE(405, "Method Not Allowed");
        LINE(408, "Request Timeout");
        LINE(409, "Conflict");
        LINE(413, "Content Too Large");
        LINE(414, "URI Too Long");
        LINE(417, "Expectation Failed");
        LINE(422, "Unprocessable Content");
        LINE(429, "Too Many Requests");
        LINE(431, "Request Header Fields Too Large");
        LINE(500, "Internal Server Error");
        LINE(501, "Not Implemented");
        LINE(502, "Bad Gateway");
        LINE(503, "Service Unavailable");
        LINE(505, "HTTP Version Not Supported");
#undef LINE
    default: return STR("HTTP/1.1 500 Internal Server Error\r\n");
    }
}

static bool is_compressible(struct str type)
{
    return str_starts(type, STR("application/json")) || str_starts(type, STR("text/"));
}

/* Of a shared body only the length counts here. */
static struct str choose_body(struct request *rq)
{
    struct reply *reply = &rq->reply;
    if (reply->shared.body)
        return (struct str){NULL, answer_shared_length(rq)};
    struct str body = reply->fixed.ptr ? reply->fixed : buf_str(&reply->body);
    if (reply->fixed.ptr || body.len < COMPRESS_FROM || !is_compressible(reply->content_type))
        return body;
    reply_header(rq, STR("Vary"), STR("Accept-Encoding"));
    if (!request_accepts_gzip(rq) || !gzip_compress(body, &reply->packed))
        return body;
    reply_header(rq, STR("Content-Encoding"), STR("gzip"));
    return buf_str(&reply->packed);
}

static bool closes_after(const struct request *rq)
{
    return rq->reply.close || !rq->head.keep_alive || rq->connection->reserved || rq->connection->home->draining;
}

static bool has_length(const struct reply *reply)
{
    return reply->status != 204 && reply->status != 304 && !str_eq(reply->content_type, STREAM_CONTENT_TYPE);
}

/* Into room that is reserved once. False when there is none. */
static bool write_head(const struct request *rq, size_t body_length, struct buf *head)
{
    const struct reply *reply = &rq->reply;
    buf_clear(head);
    char *at = buf_reserve(head, HEAD_FIXED_BYTES + reply->content_type.len + reply->headers.len);
    if (!at)
        return false;
    at = str_put(at, status_line(reply->status));
    at = str_put(at, server_loop_date(rq->connection->home));
    if (reply->content_type.len) {
        at = str_put(at, STR("Content-Type: "));
        at = str_put(at, reply->content_type);
        at = str_put(at, STR("\r\n"));
    }
    if (has_length(reply)) {
        at = str_put(at, STR("Content-Length: "));
        at += format_uint(at, body_length);
        at = str_put(at, STR("\r\n"));
    }
    at = str_put(at, STR("X-Trace-Id: "));
    at = str_put(at, str_make(rq->trace, TRACE_ID_LENGTH));
    at = str_put(at, STR("\r\n"));
    at = str_put(at, buf_str(&reply->headers));
    if (closes_after(rq))
        at = str_put(at, STR("Connection: close\r\n"));
    else if (rq->head.minor == 0)
        at = str_put(at, STR("Connection: keep-alive\r\n"));
    at = str_put(at, STR("\r\n"));
    head->len = (size_t)(at - head->data);
    return true;
}

void answer_finish(struct connection *connection)
{
    struct request *rq = connection->request;
    bool streamed = rq->reply.streamed, close = closes_after(rq);
    connection->request = NULL;
    request_release(rq);
    if (connection->state == CONNECTION_CLOSING) {
        stream_connection_closed(connection);
        connection_forget(connection);
    } else if (streamed) {
        stream_begin(connection);
    } else if (connection->refusing) {
        connection_linger(connection);
    } else if (close) {
        connection_close(connection);
    } else {
        connection_next(connection);
    }
}

void answer_give_up(struct connection *connection)
{
    connection_close(connection);
    answer_finish(connection);
}

static void on_written(uv_write_t *write, int status)
{
    struct connection *connection = write->handle->data;
    if (status != 0)
        connection_close(connection);
    answer_finish(connection);
}

/* The loop's front is overwritten by the next answer: what is left of it moves to the request. */
static bool keep_front(struct request *rq, uv_buf_t *part)
{
    struct buf *own = &rq->reply.unsent_front;
    buf_add(own, str_make(part->base, part->len));
    *part = uv_buf_init(own->data, (unsigned)own->len);
    return !own->failed;
}

/* What the socket did not take at once is written when it can; a client that
 * does not read in time is cut (connection_check_deadline). */
static void write_rest(struct connection *connection, uv_buf_t *parts, unsigned count)
{
    if (uv_write(&connection->write, (uv_stream_t *)&connection->tcp, parts, count, on_written) == 0)
        connection_expect_read(connection);
    else
        answer_give_up(connection);
}

/* The parts that are still to be written after `written` bytes of them. */
unsigned answer_skip_written(uv_buf_t *parts, unsigned count, size_t written)
{
    unsigned left = 0;
    for (unsigned i = 0; i < count; i++) {
        size_t skip = written < parts[i].len ? written : parts[i].len;
        written -= skip;
        if (skip < parts[i].len)
            parts[left++] = uv_buf_init(parts[i].base + skip, (unsigned)(parts[i].len - skip));
    }
    return left;
}

static void count(const struct request *rq)
{
    size_t route = rq->route ? rq->route->index : METRIC_ROUTES;
    metric_add(METRIC_HTTP_REQUESTS, 1, route, (size_t)rq->reply.status / 100 - 1);
    metric_observe(METRIC_HTTP_REQUEST_DURATION, clock_mono_ns() - rq->started_ns, route);
}

void answer_send(struct request *rq)
{
    struct connection *connection = rq->connection;
    count(rq);
    if (connection->state == CONNECTION_CLOSING) {
        answer_finish(connection);
        return;
    }
    connection->state = CONNECTION_WRITING;
    struct str body = choose_body(rq);
    bool has_body = body.len > 0 && rq->head.method != HTTP_HEAD && !rq->reply.streamed;
    bool is_shared = has_body && rq->reply.shared.body, is_short = body.len <= SHORT_BODY_MAX && !is_shared;
    struct buf *front = &connection->home->answer_front;
    bool fits = write_head(rq, body.len, front) && !rq->reply.headers.failed && !rq->reply.body.failed;
    if (fits && has_body && is_short)
        fits = buf_add(front, body);
    if (!fits) {
        log_error("an answer did not fit into memory", LOG_STR("path", rq->head.path));
        answer_give_up(connection);
        return;
    }

    if (is_shared) {
        answer_send_shared(rq, buf_str(front));
        return;
    }
    uv_buf_t parts[2] = {uv_buf_init(front->data, (unsigned)front->len)};
    unsigned count = 1;
    if (has_body && !is_short)
        parts[count++] = uv_buf_init((char *)body.ptr, (unsigned)body.len);
    int written = uv_try_write((uv_stream_t *)&connection->tcp, parts, count);
    if (written < 0 && written != UV_EAGAIN) {
        answer_give_up(connection);
        return;
    }
    size_t taken = written > 0 ? (size_t)written : 0;
    count = answer_skip_written(parts, count, taken);
    if (count == 0)
        answer_finish(connection);
    else if (taken < front->len && !keep_front(rq, &parts[0]))
        answer_give_up(connection);
    else
        write_rest(connection, parts, count);
}
