#include "http/client_loop.h"

#include "task/task.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>

struct client_loop {
    struct loop *loop;
    CURLM *multi;
    uv_timer_t timer; /* libcurl's */
    size_t transfers, max_transfers;
};

/* A socket that a transfer waits for. libcurl sometimes closes it before it says that it no longer waits for it, and by
 * then its number may belong to another thread; so the loop polls a number of its own for the same socket. */
struct watch {
    uv_poll_t poll;
    struct client_loop *here;
    curl_socket_t socket;
    int own_number;
};

/* Lies on the stack of the task that waits for it. libcurl knows it from curl_multi_add_handle to
 * curl_multi_remove_handle, which comes before the task goes on in every case. */
struct transfer {
    struct wakeup done;
    struct transfer *next; /* in wake_finished */
    CURLcode result;
};

/* A woken task runs at once and may do anything, close this client loop included; so nothing but the list of those to
 * wake is used once the first has been woken. */
static void wake_finished(struct client_loop *here)
{
    struct transfer *finished = NULL, **end = &finished;
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(here->multi, &left))) {
        if (message->msg != CURLMSG_DONE)
            continue;
        CURL *easy = message->easy_handle;
        struct transfer *transfer;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer);
        transfer->result = message->data.result;
        curl_multi_remove_handle(here->multi, easy);
        transfer->next = NULL;
        *end = transfer;
        end = &transfer->next;
    }
    while (finished) {
        struct transfer *next = finished->next;
        wakeup_now(&finished->done);
        finished = next;
    }
}

static void socket_ready(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = poll->data;
    struct client_loop *here = watch->here;
    int what = status < 0 ? CURL_CSELECT_ERR : 0;
    what |= events & UV_READABLE ? CURL_CSELECT_IN : 0;
    what |= events & UV_WRITABLE ? CURL_CSELECT_OUT : 0;
    int running;
    curl_multi_socket_action(here->multi, watch->socket, what, &running); /* may close the watch */
    wake_finished(here);
}

/* The way libuv closes its own: ThreadSanitizer follows descriptors, but hears neither of F_DUPFD nor of libuv's
 * closings, and would take each number that comes back for the same socket. */
static void close_number(int number)
{
    uv_fs_t request;
    uv_fs_close(NULL, &request, number, NULL);
    uv_fs_req_cleanup(&request);
}

static struct watch *watch_create(struct client_loop *here, curl_socket_t socket)
{
    struct watch *watch = calloc(1, sizeof(*watch));
    int own_number = fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if (!watch || own_number < 0 || uv_poll_init(loop_uv(here->loop), &watch->poll, own_number) != 0) {
        if (own_number >= 0)
            close_number(own_number);
        free(watch);
        return NULL;
    }
    watch->poll.data = watch;
    watch->here = here;
    watch->socket = socket;
    watch->own_number = own_number;
    curl_multi_assign(here->multi, socket, watch);
    return watch;
}

static void free_watch(uv_handle_t *poll)
{
    free(poll->data);
}

static void watch_end(struct watch *watch)
{
    uv_close((uv_handle_t *)&watch->poll, free_watch); /* leaves the poll set at once, frees later */
    close_number(watch->own_number);
}

/* libcurl tells what it waits for. A failure must not be told to libcurl, which would give up every transfer of the
 * loop; the one concerned ends by its deadline. */
static int watch_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *socket_context)
{
    (void)easy;
    struct watch *watch = socket_context;
    if (what == CURL_POLL_REMOVE) {
        if (watch)
            watch_end(watch);
        return 0;
    }
    if (!watch && !(watch = watch_create(context, socket)))
        return 0;
    int events = what & CURL_POLL_IN ? UV_READABLE : 0;
    events |= what & CURL_POLL_OUT ? UV_WRITABLE : 0;
    uv_poll_start(&watch->poll, events, socket_ready);
    return 0;
}

static void time_has_come(uv_timer_t *timer)
{
    struct client_loop *here = timer->data;
    int running;
    curl_multi_socket_action(here->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    wake_finished(here);
}

static int set_timer(CURLM *multi, long ms, void *context)
{
    (void)multi;
    struct client_loop *here = context;
    if (ms < 0) {
        uv_timer_stop(&here->timer);
        return 0;
    }
    uv_update_time(loop_uv(here->loop));
    uv_timer_start(&here->timer, time_has_come, (uint64_t)ms, 0);
    return 0;
}

struct client_loop *client_loop_create(const struct client_loop_limits *limits)
{
    struct client_loop *here = calloc(1, sizeof(*here));
    CURLM *multi = curl_multi_init();
    if (!here || !multi) {
        free(here);
        curl_multi_cleanup(multi);
        return NULL;
    }
    here->loop = loop_current();
    here->multi = multi;
    here->max_transfers = limits->transfers;
    uv_timer_init(loop_uv(here->loop), &here->timer);
    here->timer.data = here;
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, here);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, here);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)limits->connections);
    curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)limits->connections);
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)limits->connections_per_host);
    return here;
}

static void free_client_loop(uv_handle_t *timer)
{
    free(timer->data);
}

void client_loop_close(struct client_loop *here)
{
    assert(here->transfers == 0);
    curl_multi_cleanup(here->multi);
    uv_close((uv_handle_t *)&here->timer, free_client_loop);
}

enum client_loop_outcome client_loop_run(struct client_loop *here, CURL *easy, int64_t deadline_ns, CURLcode *result)
{
    struct transfer transfer = {.result = CURLE_OUT_OF_MEMORY};
    wakeup_prepare(&transfer.done);
    if (here->transfers >= here->max_transfers)
        return CLIENT_LOOP_BUSY;
    if (curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfer) != CURLE_OK ||
        curl_multi_add_handle(here->multi, easy) != CURLM_OK) {
        *result = CURLE_OUT_OF_MEMORY;
        return CLIENT_LOOP_DONE;
    }
    here->transfers++;
    bool done = wakeup_wait_until(&transfer.done, deadline_ns);
    here->transfers--;
    if (!done)
        curl_multi_remove_handle(here->multi, easy);
    *result = transfer.result;
    return done ? CLIENT_LOOP_DONE : CLIENT_LOOP_DEADLINE;
}
