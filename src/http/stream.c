#include "http/stream.h"

#include "base/random.h"
#include "http/connection.h"

#include <stdlib.h>

enum {
    WAITING_MAX = 64,            /* payloads that a slow reader may be behind */
    WAITING_BYTES = 1024 * 1024, /* and bytes, not counting the one being written */
};

struct stream {
    struct connection *connection;
    struct stream_owner owner;
    uv_write_t write;
    bool begun;   /* the head is out */
    bool writing; /* the first waiting payload is with libuv */
    bool closed;
    struct payload *waiting[WAITING_MAX]; /* a ring */
    size_t first, count, bytes;
    size_t offset;          /* into the first */
    int64_t end_ms;         /* uv_now: it has been open for long enough */
    struct in6_addr client; /* for whom it is counted */
};

struct payload *payload_create(struct str bytes)
{
    struct payload *payload = malloc(sizeof(*payload) + bytes.len);
    if (!payload)
        return NULL;
    payload->references = 1;
    payload->length = bytes.len;
    memcpy(payload->bytes, bytes.ptr, bytes.len);
    return payload;
}

void payload_release(struct payload *payload)
{
    if (--payload->references == 0)
        free(payload);
}

static void add_stream_headers(struct request *rq)
{
    reply_header(rq, STR("Cache-Control"), STR("no-store"));
    reply_header(rq, STR("X-Accel-Buffering"), STR("no")); /* nginx passes events on at once */
}

void reply_stream_head(struct request *rq)
{
    add_stream_headers(rq);
    reply_written(rq, 200, STREAM_CONTENT_TYPE);
}

static struct client_quota *streams_of(const struct connection *connection)
{
    return server_streams(connection->home->server);
}

/* Answers if there may be no more. */
static bool count_stream(struct request *rq, const struct in6_addr *client)
{
    switch (client_quota_add(streams_of(rq->connection), client, 1)) {
    case CLIENT_QUOTA_ADDED: return true;
    case CLIENT_QUOTA_FULL: reply_error(rq, ERR_OVERLOADED); break;
    case CLIENT_QUOTA_ADDRESS_FULL:
        reply_header(rq, STR("Retry-After"), STR("10"));
        reply_error(rq, ERR_TOO_MANY_STREAMS);
        break;
    }
    return false;
}

/* Up to a tenth earlier: those who came together do not have to come back together. */
static int64_t end_of_stream(const struct connection *connection)
{
    int64_t age = server_settings(connection->home->server)->stream_max_age_ms;
    return (int64_t)uv_now(connection->tcp.loop) + age - (int64_t)random_below((uint64_t)age / 10);
}

bool stream_is_over(const struct connection *connection, int64_t now)
{
    return connection->state == CONNECTION_STREAMING && connection->stream && now >= connection->stream->end_ms;
}

struct stream *reply_stream(struct request *rq, struct stream_owner owner)
{
    struct stream *stream = calloc(1, sizeof(*stream));
    struct in6_addr client = request_client(rq);
    if (!stream || !count_stream(rq, &client)) {
        if (!stream)
            reply_error(rq, ERR_OVERLOADED);
        free(stream);
        return NULL;
    }
    stream->client = client;
    stream->connection = rq->connection;
    stream->end_ms = end_of_stream(rq->connection);
    stream->owner = owner;
    rq->connection->stream = stream;
    rq->reply.status = 200;
    rq->reply.content_type = STREAM_CONTENT_TYPE;
    rq->reply.streamed = true;
    rq->reply.close = true; /* the end of a stream is the end of its connection */
    add_stream_headers(rq);
    return stream;
}

static void drop_first(struct stream *stream)
{
    struct payload *payload = stream->waiting[stream->first];
    stream->first = (stream->first + 1) % WAITING_MAX;
    stream->count--;
    stream->bytes -= payload->length;
    stream->offset = 0;
    payload_release(payload);
}

static void stream_free(struct stream *stream)
{
    while (stream->count)
        drop_first(stream);
    free(stream);
}

/* The connection is closing; its write, if one is under way, comes back first. */
void stream_connection_closed(struct connection *connection)
{
    struct stream *stream = connection->stream;
    if (!stream)
        return;
    connection->stream = NULL;
    client_quota_remove(streams_of(connection), &stream->client, 1);
    stream->closed = true;
    stream->owner.closed(stream->owner.context);
    if (!stream->writing)
        stream_free(stream);
}

void stream_close(struct stream *stream)
{
    connection_close(stream->connection);
}

static void pump(struct stream *stream);

static void on_stream_written(uv_write_t *write, int status)
{
    struct stream *stream = write->data;
    stream->writing = false;
    if (stream->closed) {
        stream_free(stream);
    } else if (status != 0) {
        stream_close(stream);
    } else {
        stream->connection->deadline_ms = 0;
        drop_first(stream);
        pump(stream);
    }
}

static void write_first_later(struct stream *stream)
{
    struct connection *connection = stream->connection;
    struct payload *payload = stream->waiting[stream->first];
    uv_buf_t part = uv_buf_init(payload->bytes + stream->offset, (unsigned)(payload->length - stream->offset));
    stream->write.data = stream;
    stream->writing = uv_write(&stream->write, (uv_stream_t *)&connection->tcp, &part, 1, on_stream_written) == 0;
    if (stream->writing)
        connection_expect_read(connection);
    else
        stream_close(stream);
}

/* Writes what is waiting until the socket is full. May free the stream. */
static void pump(struct stream *stream)
{
    while (stream->count && !stream->writing) {
        struct payload *payload = stream->waiting[stream->first];
        uv_buf_t part = uv_buf_init(payload->bytes + stream->offset, (unsigned)(payload->length - stream->offset));
        int written = uv_try_write((uv_stream_t *)&stream->connection->tcp, &part, 1);
        if (written < 0 && written != UV_EAGAIN) {
            stream_close(stream);
            return;
        }
        stream->offset += written > 0 ? (size_t)written : 0;
        if (stream->offset < payload->length) {
            write_first_later(stream);
            return;
        }
        drop_first(stream);
    }
}

/* What is queued before the stream has begun is its beginning, however large. */
static bool is_behind(const struct stream *stream, size_t more)
{
    if (stream->count == WAITING_MAX)
        return true;
    if (!stream->begun || stream->count < 2)
        return false;
    return stream->bytes - stream->waiting[stream->first]->length + more > WAITING_BYTES;
}

bool stream_write(struct stream *stream, struct payload *payload)
{
    if (is_behind(stream, payload->length)) {
        stream_close(stream);
        return false;
    }
    payload->references++;
    stream->waiting[(stream->first + stream->count++) % WAITING_MAX] = payload;
    stream->bytes += payload->length;
    if (!stream->begun || stream->writing)
        return true;
    struct connection *connection = stream->connection;
    pump(stream);
    return connection->stream != NULL;
}

void stream_begin(struct connection *connection)
{
    connection->state = CONNECTION_STREAMING;
    connection->deadline_ms = 0;
    buf_free(&connection->input);
    connection->stream->begun = true;
    if (connection->ended) {
        stream_close(connection->stream);
        return;
    }
    connection_resume_reading(connection); /* or nobody would see the client go */
    if (connection->stream)
        pump(connection->stream);
}
