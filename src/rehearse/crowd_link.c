/* The sockets of a crowd: opening, sending, receiving. One request at a time on each. */
#include "rehearse/crowd_internal.h"

#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SLOW_REQUEST_MS = 1000, GATHERED_MAX = 512 << 20 };

static struct link *take_idle(struct crowd *crowd, enum pool pool)
{
    struct link *link = crowd->idle[pool];
    if (link)
        crowd->idle[pool] = link->next;
    return link;
}

static void make_idle(struct crowd *crowd, struct link *link)
{
    link->visit = NULL;
    link->next = crowd->idle[link->pool];
    crowd->idle[link->pool] = link;
}

/* An idle one is in a list; it leaves it first. */
static void leave_idle(struct crowd *crowd, struct link *link)
{
    struct link **place = &crowd->idle[link->pool];
    while (*place && *place != link)
        place = &(*place)->next;
    if (*place)
        *place = link->next;
}

static void forget_input(struct crowd *crowd, struct link *link)
{
    crowd->gathered -= link->input.size;
    buf_free(&link->input);
}

void link_close(struct crowd *crowd, struct link *link)
{
    close(link->fd);
    link->fd = -1;
    link->visit = NULL;
    forget_input(crowd, link);
    link->next = crowd->unused;
    crowd->unused = link;
    crowd->tally.open--;
}

static void fail_request(struct crowd *crowd, struct link *link, enum end end)
{
    struct visit *visit = link->visit;
    visit_end_request(crowd, visit, end, NULL);
    link_close(crowd, link);
}

/* All that the socket takes; one byte if the user's network is slow. */
void link_send_more(struct crowd *crowd, struct link *link)
{
    struct visit *visit = link->visit;
    char text[REQUEST_MAX];
    size_t length = link->request_length = visit_format(crowd, visit, text);
    bool slow = visit->persona == PERSONA_SLOW;
    if (!visit->sent_ns) {
        visit->sent_ns = clock_mono_ns();
        histogram_add(&crowd->tally.lag, (uint64_t)(visit->sent_ns - visit->due_ns));
        crowd->tally.sent++;
    }
    if (slow)
        visit->due_ns = clock_mono_ns(); /* the time it took to send until here is the user's own */
    size_t left = slow ? 1 : length - link->bytes_sent;
    ssize_t sent = send(link->fd, text + link->bytes_sent, left, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        fail_request(crowd, link, END_BROKEN);
        return;
    }
    if (sent > 0)
        link->bytes_sent += (size_t)sent;
    bool complete = link->bytes_sent == length;
    if (complete && visit->persona == PERSONA_GIVE_UP)
        fail_request(crowd, link, END_GAVE_UP);
    else if (!complete && slow &&
             !wake_heap_add(&crowd->wakers, &visit->waker,
                            clock_mono_ns() + SLOW_REQUEST_MS * NS_PER_MS / (int64_t)length))
        fail_request(crowd, link, END_NOT_SENT);
}

static void assign(struct crowd *crowd, struct link *link, struct visit *visit)
{
    link->visit = visit;
    link->bytes_sent = link->request_length = 0;
    visit->link = link;
    if (link->connected)
        link_send_more(crowd, link);
}

/* Opens one for the visit; on failure the visit has been told. */
static void open_for(struct crowd *crowd, enum pool pool, struct visit *visit)
{
    struct link *link = crowd->unused;
    crowd->unused = link->next;
    uint32_t number = (uint32_t)(crowd->link_count++ * crowd->plan->threads + crowd->index) + 1;
    *link = (struct link){
        .pool = pool,
        .number = number,
        .target = (uint32_t)(number % crowd->plan->target_count),
        .visit = visit,
        .input = BUF_INIT(ANSWER_HEAD_MAX + ANSWER_BODY_MAX),
    };
    bool own = pool == POOL_OWN && !crowd->plan->forwarded_for;
    link->fd = target_connect(&crowd->plan->targets[link->target], own ? number : 0, &link->connected);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = link};
    if (link->fd < 0 || epoll_ctl(crowd->epoll, EPOLL_CTL_ADD, link->fd, &event) != 0) {
        if (link->fd >= 0)
            close(link->fd);
        link->fd = -1;
        link->next = crowd->unused;
        crowd->unused = link;
        visit_end_request(crowd, visit, END_REFUSED, NULL);
        return;
    }
    crowd->tally.opened++;
    if (++crowd->tally.open > crowd->tally.open_most)
        crowd->tally.open_most = crowd->tally.open;
    assign(crowd, link, visit);
}

static void serve_pool(struct crowd *crowd, enum pool pool)
{
    enum pool other = pool == POOL_OWN ? POOL_SHARED : POOL_OWN;
    struct visit *visit;
    while ((visit = crowd->queue[pool])) {
        struct link *link = take_idle(crowd, pool);
        if (!link && !crowd->unused && (link = take_idle(crowd, other))) {
            link_close(crowd, link); /* its place is needed */
            link = NULL;
        }
        if (!link && !crowd->unused)
            return;
        crowd->queue[pool] = visit->next_in_queue;
        if (!crowd->queue[pool])
            crowd->queue_end[pool] = &crowd->queue[pool];
        if (link)
            assign(crowd, link, visit);
        else
            open_for(crowd, pool, visit);
    }
}

void links_serve(struct crowd *crowd)
{
    for (enum pool pool = 0; pool < POOL_COUNT; pool++)
        serve_pool(crowd, pool);
}

/* Keeps the part of an answer that has come. Large seat maps on many connections must not take all memory. */
static bool gather(struct crowd *crowd, struct link *link, struct str bytes)
{
    size_t before = link->input.size;
    bool good = bytes.ptr == link->input.data || buf_add(&link->input, bytes);
    crowd->gathered += link->input.size - before;
    return good && crowd->gathered <= GATHERED_MAX;
}

/* Looks whether the answer is complete in what has come; most come in one piece and are never copied. */
static void take_bytes(struct crowd *crowd, struct link *link, struct str bytes, bool ended)
{
    struct answer answer;
    switch (answer_read(bytes, ended, &answer)) {
    case ANSWER_COMPLETE:
        visit_end_request(crowd, link->visit, END_ANSWERED, &answer);
        if (answer.closes || ended || answer.length != bytes.len) {
            link_close(crowd, link);
        } else {
            forget_input(crowd, link);
            make_idle(crowd, link);
        }
        break;
    case ANSWER_BROKEN: fail_request(crowd, link, END_BROKEN); break;
    case ANSWER_MORE:
        if (!gather(crowd, link, bytes))
            fail_request(crowd, link, END_TOO_LARGE);
        break;
    }
}

/* Bytes that nobody asked for, or the end of a connection that was kept for later. */
static void close_idle(struct crowd *crowd, struct link *link)
{
    leave_idle(crowd, link);
    link_close(crowd, link);
}

/* False when there is nothing more to read now. `ends`: the server has closed its side, so it is read to its end. */
static bool receive(struct crowd *crowd, struct link *link, bool ends)
{
    struct buf *input = &link->input;
    bool gathering = input->len > 0;
    size_t before = input->size;
    char *into = gathering ? buf_reserve(input, READ_BYTES) : crowd->read_bytes;
    crowd->gathered += input->size - before;
    ssize_t got = into ? recv(link->fd, into, READ_BYTES, 0) : -1;
    if (got < 0 && into && (errno == EAGAIN || errno == EINTR))
        return false;
    if (!link->visit) {
        close_idle(crowd, link);
    } else if (got < 0) {
        fail_request(crowd, link, END_BROKEN);
    } else {
        if (gathering)
            input->len += (size_t)got;
        struct str bytes = gathering ? buf_str(input) : str_make(crowd->read_bytes, (size_t)got);
        take_bytes(crowd, link, bytes, got == 0);
    }
    return link->fd >= 0 && (ends || got == READ_BYTES);
}

static bool finish_connecting(struct crowd *crowd, struct link *link)
{
    int failure = 0;
    socklen_t size = sizeof(failure);
    if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &failure, &size) != 0 || failure != 0) {
        fail_request(crowd, link, END_REFUSED);
        return false;
    }
    link->connected = true;
    link_send_more(crowd, link);
    return link->fd >= 0;
}

/* The socket had no room for all of the request. Slow users send by the clock instead. */
static bool has_more_to_send(const struct link *link)
{
    return link->visit && link->visit->persona != PERSONA_SLOW && link->bytes_sent < link->request_length;
}

void link_event(struct crowd *crowd, struct link *link, uint32_t events)
{
    bool ends = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
    assert(link->fd >= 0); /* nothing but its own event closes it while events are handled */
    if (!link->connected) {
        if (!(events & EPOLLOUT) && !ends)
            return;
        if (!finish_connecting(crowd, link))
            return;
    } else if ((events & EPOLLOUT) && has_more_to_send(link)) {
        link_send_more(crowd, link);
    }
    if (!(events & EPOLLIN) && !ends)
        return;
    while (link->fd >= 0 && receive(crowd, link, ends))
        ;
}
