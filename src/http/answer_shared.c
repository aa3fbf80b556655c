/*
 * Answers whose body is shared and may be large (http/shared_body.h). They are written in steps, and those of a loop
 * take turns: a client that reads a whole house must not hold up others who ask for little, least of all those who
 * buy. All turns together take about a tenth of the loop's time, which is still hundreds of megabytes a second.
 */
#include "base/clock.h"
#include "http/connection.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

enum {
    COUNTED_FROM = 16 * 1024,   /* less than this any socket takes at once: it waits for nobody */
    KERNEL_UNSENT = 128 * 1024, /* what the system keeps for a client that does not read, and not megabytes */
    STEP_BYTES = 64 * 1024,
    STEP_PARTS = 32,
    TURN_NS = 200 * 1000, /* of the processor, for all who are in the queue */
    REST_MS = 2,
};

static size_t whole_length(const struct shared_reply *shared)
{
    return shared->front.len + shared->body->length + shared->end.len;
}

static struct client_quota *unsent_of(const struct request *rq)
{
    return server_unsent(rq->connection->home->server);
}

bool reply_shared(struct request *rq, struct str content_type, struct str front, struct shared_body *body,
                  struct str end)
{
    struct shared_reply shared = {.body = body, .front = front, .end = end};
    size_t length = whole_length(&shared);
    if (length >= COUNTED_FROM) {
        shared.counted = length;
        shared.client = request_client(rq);
    }
    if (shared.counted && client_quota_add(unsent_of(rq), &shared.client, shared.counted) != CLIENT_QUOTA_ADDED) {
        shared_body_release(body);
        reply_error(rq, ERR_OVERLOADED);
        return false;
    }
    rq->reply.shared = shared;
    reply_written(rq, 200, content_type);
    return true;
}

void answer_release_shared(struct request *rq)
{
    struct shared_reply *shared = &rq->reply.shared;
    if (!shared->body)
        return;
    if (shared->counted)
        client_quota_remove(unsent_of(rq), &shared->client, shared->counted);
    shared_body_release(shared->body);
    *shared = (struct shared_reply){0};
}

size_t answer_shared_length(const struct request *rq)
{
    return whole_length(&rq->reply.shared);
}

/* The head and the front, all pieces, the end: where the n-th of them lies. */
static struct str part_at(const struct reply *reply, size_t n)
{
    const struct shared_body *body = reply->shared.body;
    if (n == 0)
        return buf_str(&reply->unsent_front);
    return n <= body->count ? body->pieces[n - 1] : reply->shared.end;
}

static bool is_all_sent(const struct shared_reply *shared)
{
    return shared->piece > shared->body->count + 1;
}

static void advance(struct reply *reply, size_t written)
{
    struct shared_reply *shared = &reply->shared;
    while (!is_all_sent(shared)) {
        size_t left = part_at(reply, shared->piece).len - shared->offset;
        if (written < left) {
            shared->offset += written;
            return;
        }
        written -= left;
        shared->piece++;
        shared->offset = 0;
    }
}

static unsigned gather(const struct reply *reply, uv_buf_t parts[STEP_PARTS], size_t *bytes)
{
    size_t offset = reply->shared.offset, last = reply->shared.body->count + 1;
    unsigned count = 0;
    *bytes = 0;
    for (size_t n = reply->shared.piece; n <= last && count < STEP_PARTS && *bytes < STEP_BYTES; n++) {
        struct str part = str_first(str_from_offset(part_at(reply, n), offset), STEP_BYTES - *bytes);
        offset = 0;
        if (part.len)
            parts[count++] = uv_buf_init((char *)part.ptr, (unsigned)part.len);
        *bytes += part.len;
    }
    return count;
}

/* The queue of those whose turn will come. */

static void on_turn(uv_timer_t *timer);

static void wait_for_turn(struct connection *connection)
{
    struct server_loop *home = connection->home;
    connection->deadline_ms = 0;
    connection->next_turn = NULL;
    *home->turns_end = connection;
    home->turns_end = &connection->next_turn;
    if (!uv_is_active((uv_handle_t *)&home->turn))
        uv_timer_start(&home->turn, on_turn, 0, 0);
}

static struct connection *take_turn(struct server_loop *home)
{
    struct connection *connection = home->turns_first;
    home->turns_first = connection->next_turn;
    if (!home->turns_first)
        home->turns_end = &home->turns_first;
    return connection;
}

static void go_on(struct connection *connection)
{
    if (is_all_sent(&connection->request->reply.shared))
        answer_finish(connection);
    else
        wait_for_turn(connection);
}

static void on_step_written(uv_write_t *write, int status)
{
    struct connection *connection = write->handle->data;
    struct reply *reply = &connection->request->reply;
    if (status != 0)
        connection_close(connection);
    if (connection->state == CONNECTION_CLOSING) {
        answer_finish(connection);
        return;
    }
    advance(reply, reply->shared.writing);
    go_on(connection);
}

/* What the socket did not take of a step is written when it can; a client that does not read in time is cut. */
static void write_step(struct connection *connection)
{
    struct reply *reply = &connection->request->reply;
    uv_buf_t parts[STEP_PARTS];
    size_t bytes;
    unsigned count = gather(reply, parts, &bytes);
    int written = uv_try_write((uv_stream_t *)&connection->tcp, parts, count);
    if (written < 0 && written != UV_EAGAIN) {
        answer_give_up(connection);
        return;
    }
    size_t taken = written > 0 ? (size_t)written : 0;
    advance(reply, taken);
    count = answer_skip_written(parts, count, taken);
    reply->shared.writing = bytes - taken;
    if (count == 0)
        go_on(connection);
    else if (uv_write(&connection->write, (uv_stream_t *)&connection->tcp, parts, count, on_step_written) == 0)
        connection_expect_read(connection);
    else
        answer_give_up(connection);
}

static void on_turn(uv_timer_t *timer)
{
    struct server_loop *home = timer->data;
    int64_t until = clock_thread_ns() + TURN_NS;
    while (home->turns_first && clock_thread_ns() < until) {
        struct connection *connection = take_turn(home);
        if (connection->state == CONNECTION_CLOSING)
            answer_finish(connection);
        else
            write_step(connection);
    }
    if (home->turns_first)
        uv_timer_start(timer, on_turn, REST_MS, 0);
    else
        uv_timer_stop(timer);
}

void answer_turns_init(struct server_loop *home)
{
    home->turns_end = &home->turns_first;
    uv_timer_init(loop_uv(home->loop), &home->turn);
    home->turn.data = home;
}

static void bound_kernel_buffer(const struct connection *connection)
{
    int fd, bytes = KERNEL_UNSENT;
    if (uv_fileno((const uv_handle_t *)&connection->tcp, &fd) == 0)
        setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof(bytes)); /* without it, only more is kept */
}

/* The first step goes at once, which is all of it where the house is small; unless others wait for their turn. */
void answer_send_shared(struct request *rq, struct str head)
{
    struct buf *front = &rq->reply.unsent_front;
    if (rq->reply.shared.counted)
        bound_kernel_buffer(rq->connection);
    bool fits = buf_add(front, head) && buf_add(front, rq->reply.shared.front);
    if (!fits)
        answer_give_up(rq->connection);
    else if (rq->reply.shared.counted && rq->connection->home->turns_first)
        wait_for_turn(rq->connection);
    else
        write_step(rq->connection);
}
