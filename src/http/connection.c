#include "http/connection.h"

#include "base/clock.h"
#include "base/log.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdlib.h>

enum {
    PIPELINE_BYTES = 64 * 1024, /* of waiting requests; then the client has to wait */
    INPUT_SPARE = 2 * READ_BUFFER,
    LINGER_MS = 1000,
    PROGRESS_BYTES = 64 * 1024, /* a client that reads this much within the time to write is slow, but reads */
    SCARCE_WRITE_MS = 2000,     /* where there is little room for unsent bytes: to read a step of a large answer */
    RESERVED_MS = 2000,         /* for whoever came over a limit to say what they want */
    KEEP_INPUT_BYTES = 1024,    /* an idle connection keeps no more memory than this for its input */
};

static int64_t now_ms(const struct connection *connection)
{
    return (int64_t)uv_now(connection->tcp.loop);
}

static const struct server_settings *settings_of(const struct connection *connection)
{
    return server_settings(connection->home->server);
}

static void expect_within(struct connection *connection, int64_t ms)
{
    connection->deadline_ms = now_ms(connection) + ms;
}

/* Closing. */

void connection_forget(struct connection *connection)
{
    if (!connection->closed || connection->request)
        return;
    struct server_loop *home = connection->home;
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        home->connections = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    home->connection_count--;
    buf_free(&connection->input);
    free(connection);
    server_loop_connection_gone(home);
}

static void on_closed(uv_handle_t *handle)
{
    struct connection *connection = handle->data;
    connection->closed = true;
    if (!connection->reserved)
        server_leave(connection->home->server, &connection->address);
    connection_forget(connection);
}

/* While a body arrives the request is the connection's own. Later it belongs to
 * its task, and then to the write of its answer: they find the connection closing
 * and give the request back (answer.c). */
static bool begin_closing(struct connection *connection)
{
    if (connection->state == CONNECTION_CLOSING)
        return false;
    if (connection->state == CONNECTION_BODY) {
        request_release(connection->request);
        connection->request = NULL;
    }
    connection->state = CONNECTION_CLOSING;
    reserve_leave(connection);
    stream_connection_closed(connection);
    return true;
}

void connection_close(struct connection *connection)
{
    if (begin_closing(connection))
        uv_close((uv_handle_t *)&connection->tcp, on_closed);
}

/* For a client that does not read: closing alone would leave the kernel with megabytes to deliver, for minutes. */
static void cut(struct connection *connection)
{
    if (begin_closing(connection) && uv_tcp_close_reset(&connection->tcp, on_closed) != 0)
        uv_close((uv_handle_t *)&connection->tcp, on_closed);
}

static void on_shutdown(uv_shutdown_t *shutdown, int status)
{
    struct connection *connection = shutdown->handle->data;
    if (status != 0 && connection->state == CONNECTION_LINGERING)
        connection_close(connection);
}

void connection_linger(struct connection *connection)
{
    connection->state = CONNECTION_LINGERING;
    buf_free(&connection->input);
    expect_within(connection, LINGER_MS);
    if (connection->ended || uv_shutdown(&connection->shutdown, (uv_stream_t *)&connection->tcp, on_shutdown) != 0)
        connection_close(connection);
    else
        connection_resume_reading(connection);
}

/* Reading. Each of these takes bytes from the front of `bytes` and returns how
 * many it used; 0 when it needs more. */

static bool take_request(struct connection *connection)
{
    connection->request = request_take(connection->home, connection);
    if (!connection->request) {
        connection_close(connection);
        return false;
    }
    connection->state = CONNECTION_BODY;
    return true;
}

static size_t refuse(struct connection *connection, size_t used, enum error error)
{
    connection->refusing = true;
    if (connection->state == CONNECTION_HEAD && !take_request(connection))
        return used;
    dispatch_refuse(connection->request, error);
    return used;
}

static void begin_body(struct connection *connection)
{
    struct request *rq = connection->request;
    connection->chunk = (struct chunk_reader){0};
    buf_clear(&rq->body_bytes);
    rq->body_bytes.max = rq->route->body_limit;
    expect_within(connection, settings_of(connection)->body_timeout_ms);
    if (rq->head.expects_continue && rq->head.minor > 0) {
        static char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
        uv_buf_t line = uv_buf_init(go_on, sizeof(go_on) - 1);
        /* Nothing else is being written, so these few bytes fit into any socket that is alive. */
        if (uv_try_write((uv_stream_t *)&connection->tcp, &line, 1) != (int)line.len)
            connection_close(connection);
    }
}

static void run_request(struct connection *connection)
{
    struct request *rq = connection->request;
    rq->body = buf_str(&rq->body_bytes);
    connection->state = CONNECTION_RUNNING;
    connection->deadline_ms = 0;
    dispatch_run(rq);
}

static size_t read_head(struct connection *connection, struct str bytes)
{
    const struct server_settings *settings = settings_of(connection);
    struct head_limits limits = {.line = settings->max_request_line_bytes, .headers = settings->max_header_bytes};
    enum error error;
    size_t length;
    switch (head_scan(&connection->scan, bytes, &limits, &length, &error)) {
    case HEAD_MORE: return 0;
    case HEAD_REFUSED: return refuse(connection, bytes.len, error);
    case HEAD_COMPLETE: break;
    }
    connection->scan = (struct head_scan){0};

    if (!take_request(connection))
        return length;
    struct request *rq = connection->request;
    if (!buf_add(&rq->head_bytes, str_first(bytes, length))) {
        connection_close(connection);
        return length;
    }
    if (!head_parse(buf_str(&rq->head_bytes), &rq->head, &error))
        return refuse(connection, length, error);
    dispatch_route(rq);
    if (connection->reserved && !(rq->route && rq->route->reserved))
        return refuse(connection, length, ERR_OVERLOADED);

    bool has_body = rq->head.chunked || (rq->head.has_length && rq->head.content_length > 0);
    if (!has_body)
        run_request(connection);
    else if (!rq->route)
        return refuse(connection, length, rq->allowed_methods ? ERR_METHOD_NOT_ALLOWED : ERR_NOT_FOUND);
    else if (rq->route->body_limit == 0 || rq->head.content_length > rq->route->body_limit)
        return refuse(connection, length, ERR_BODY_TOO_LARGE);
    else
        begin_body(connection);
    return length;
}

static size_t read_body(struct connection *connection, struct str bytes)
{
    struct request *rq = connection->request;
    if (!rq->head.chunked) {
        struct str part = str_first(bytes, rq->head.content_length - rq->body_bytes.len);
        if (!buf_add(&rq->body_bytes, part))
            return refuse(connection, part.len, ERR_OVERLOADED);
        if (rq->body_bytes.len == rq->head.content_length)
            run_request(connection);
        return part.len;
    }
    enum error error;
    size_t taken = 0;
    switch (chunk_read(&connection->chunk, bytes, &rq->body_bytes, &taken, &error)) {
    case CHUNK_MORE: break;
    case CHUNK_COMPLETE: run_request(connection); break;
    case CHUNK_REFUSED: return refuse(connection, bytes.len, error);
    }
    return taken;
}

/* Reads as many requests as are there and can be run now. */
static size_t consume(struct connection *connection, struct str bytes)
{
    size_t used = 0;
    connection->consuming = true;
    for (;;) {
        struct str rest = str_from_offset(bytes, used);
        size_t step = 0;
        if (connection->state == CONNECTION_HEAD && rest.len)
            step = read_head(connection, rest);
        else if (connection->state == CONNECTION_BODY && rest.len)
            step = read_body(connection, rest);
        if (step == 0)
            break;
        used += step;
    }
    connection->consuming = false;
    return used;
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    (void)suggested;
    struct connection *connection = handle->data;
    *buffer = uv_buf_init(connection->home->read_buffer, READ_BUFFER);
}

/* As many requests wait behind the running one as may. */
static bool has_enough(const struct connection *connection)
{
    bool busy = connection->state == CONNECTION_RUNNING || connection->state == CONNECTION_WRITING;
    return busy && connection->input.len >= PIPELINE_BYTES;
}

static void keep(struct connection *connection, struct str rest)
{
    if (connection->state == CONNECTION_CLOSING || connection->state == CONNECTION_LINGERING)
        return;
    if (!buf_add(&connection->input, rest)) {
        connection_close(connection);
        return;
    }
    if (has_enough(connection) && connection->reading) {
        uv_read_stop((uv_stream_t *)&connection->tcp);
        connection->reading = false;
    }
}

/* A head that has begun must be complete soon; an idle connection may wait longer. */
static void watch_head(struct connection *connection, bool was_idle)
{
    if (connection->state == CONNECTION_HEAD && was_idle && connection->input.len && !connection->reserved)
        expect_within(connection, settings_of(connection)->header_timeout_ms);
}

static void on_bytes(struct connection *connection, struct str bytes)
{
    switch (connection->state) {
    case CONNECTION_LINGERING:
    case CONNECTION_CLOSING:
    case CONNECTION_STREAMING: /* a stream's client has nothing to say any more */ return;
    case CONNECTION_RUNNING:
    case CONNECTION_WRITING: keep(connection, bytes); return;
    case CONNECTION_HEAD:
    case CONNECTION_BODY: break;
    }
    bool was_idle = connection->state == CONNECTION_HEAD && connection->input.len == 0;
    if (connection->input.len == 0) {
        size_t used = consume(connection, bytes);
        if (used < bytes.len)
            keep(connection, str_from_offset(bytes, used));
    } else if (buf_add(&connection->input, bytes)) {
        buf_consume(&connection->input, consume(connection, buf_str(&connection->input)));
    } else {
        connection_close(connection);
    }
    watch_head(connection, was_idle);
}

/* The client may close its sending side and still wait for the answer. */
static void on_end(struct connection *connection)
{
    connection->ended = true;
    if (connection->state == CONNECTION_RUNNING || connection->state == CONNECTION_WRITING) {
        uv_read_stop((uv_stream_t *)&connection->tcp);
        connection->reading = false;
    } else {
        connection_close(connection);
    }
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct connection *connection = stream->data;
    if (count > 0)
        on_bytes(connection, str_make(buffer->base, (size_t)count));
    else if (count == UV_EOF)
        on_end(connection);
    else if (count < 0)
        connection_close(connection);
}

void connection_resume_reading(struct connection *connection)
{
    if (connection->reading || connection->ended || connection->state == CONNECTION_CLOSING || has_enough(connection))
        return;
    connection->reading = uv_read_start((uv_stream_t *)&connection->tcp, on_alloc, on_read) == 0;
    if (!connection->reading)
        connection_close(connection);
}

/* Called when an answer is out, from deep inside consume when everything went
 * without waiting; then the loop there goes on by itself. */
void connection_next(struct connection *connection)
{
    connection->state = CONNECTION_HEAD;
    expect_within(connection, settings_of(connection)->idle_timeout_ms);
    if (connection->consuming)
        return;
    if (connection->input.len)
        buf_consume(&connection->input, consume(connection, buf_str(&connection->input)));
    if (connection->state == CONNECTION_CLOSING || connection->state == CONNECTION_LINGERING)
        return;
    if (connection->ended && (connection->state == CONNECTION_HEAD || connection->state == CONNECTION_BODY)) {
        connection_close(connection); /* the rest of that request will never come */
        return;
    }
    if (connection->input.len == 0 && connection->input.size > KEEP_INPUT_BYTES)
        buf_free(&connection->input);
    watch_head(connection, true);
    connection_resume_reading(connection);
}

void connection_expect_read(struct connection *connection)
{
    connection->unsent = uv_stream_get_write_queue_size((uv_stream_t *)&connection->tcp);
    expect_within(connection, settings_of(connection)->write_timeout_ms);
}

/* The patience with a client that does not read is shorter when others find no room for their answers. */
static int64_t deadline_of(const struct connection *connection)
{
    bool is_large = connection->state == CONNECTION_WRITING && connection->request->reply.shared.body;
    if (!is_large || !client_quota_is_scarce(server_unsent(connection->home->server)))
        return connection->deadline_ms;
    int64_t began = connection->deadline_ms - settings_of(connection)->write_timeout_ms;
    return began + SCARCE_WRITE_MS < connection->deadline_ms ? began + SCARCE_WRITE_MS : connection->deadline_ms;
}

void connection_check_deadline(struct connection *connection, int64_t now)
{
    if (stream_is_over(connection, now)) {
        connection_close(connection);
        return;
    }
    if (!connection->deadline_ms || now < deadline_of(connection))
        return;
    bool mid_request =
        connection->state == CONNECTION_BODY || (connection->state == CONNECTION_HEAD && connection->input.len);
    bool writing = connection->state == CONNECTION_WRITING || connection->state == CONNECTION_STREAMING;
    size_t unsent = uv_stream_get_write_queue_size((uv_stream_t *)&connection->tcp);
    if (mid_request)
        refuse(connection, 0, ERR_REQUEST_TIMEOUT);
    else if (writing && unsent + PROGRESS_BYTES <= connection->unsent)
        connection_expect_read(connection);
    else if (writing)
        cut(connection);
    else if (connection->reserved && connection->state == CONNECTION_HEAD)
        connection_turn_away(connection);
    else
        connection_close(connection);
}

/* Accepting. */

static bool learn_address(struct connection *connection)
{
    struct sockaddr_storage peer;
    int length = sizeof(peer);
    if (uv_tcp_getpeername(&connection->tcp, (struct sockaddr *)&peer, &length) != 0)
        return false;
    if (peer.ss_family == AF_INET6) {
        connection->address = ((struct sockaddr_in6 *)&peer)->sin6_addr;
    } else {
        unsigned char mapped[16] = {[10] = 0xff, [11] = 0xff};
        memcpy(mapped + 12, &((struct sockaddr_in *)&peer)->sin_addr, 4);
        memcpy(&connection->address, mapped, sizeof(mapped));
    }
    bool is_v4 = IN6_IS_ADDR_V4MAPPED(&connection->address);
    const unsigned char *bytes = connection->address.s6_addr;
    return inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? bytes + 12 : bytes, connection->address_text,
                     sizeof(connection->address_text)) != NULL;
}

static void on_refused_closed(uv_handle_t *handle)
{
    struct connection *connection = handle->data;
    connection->home->connection_count--;
    server_loop_connection_gone(connection->home);
    free(connection);
}

/* A short answer if the socket takes it. */
static void write_refusal(struct connection *connection)
{
    static char answer[] =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    uv_buf_t line = uv_buf_init(answer, sizeof(answer) - 1);
    uv_try_write((uv_stream_t *)&connection->tcp, &line, 1);
}

void connection_turn_away(struct connection *connection)
{
    write_refusal(connection);
    connection_close(connection);
}

/* Over a limit, the other listener's, or broken: it never was one of ours. */
static void refuse_at_door(struct connection *connection)
{
    write_refusal(connection);
    uv_close((uv_handle_t *)&connection->tcp, on_refused_closed);
}

/* Whoever comes over a limit may still ask how we are. */
static bool admit(struct connection *connection)
{
    if (server_admit(connection->home->server, &connection->address))
        return true;
    connection->reserved = !connection->internal && reserve_enter(connection);
    return connection->reserved;
}

void connection_accept(struct listener *listener)
{
    struct server_loop *home = listener->home;
    struct connection *connection = calloc(1, sizeof(*connection));
    if (!connection) {
        log_error("no memory for a connection");
        return;
    }
    connection->home = home;
    connection->internal = listener->internal;
    uv_tcp_init(loop_uv(home->loop), &connection->tcp);
    connection->tcp.data = connection;
    home->connection_count++;
    if (uv_accept((uv_stream_t *)&listener->tcp, (uv_stream_t *)&connection->tcp) != 0 || !learn_address(connection) ||
        !admit(connection)) {
        refuse_at_door(connection);
        return;
    }
    connection->next = home->connections;
    if (home->connections)
        home->connections->previous = connection;
    home->connections = connection;

    uv_tcp_nodelay(&connection->tcp, 1);
    buf_init(&connection->input, settings_of(connection)->max_header_bytes + INPUT_SPARE);
    expect_within(connection, connection->reserved ? RESERVED_MS : settings_of(connection)->header_timeout_ms);
    connection_resume_reading(connection);
}
