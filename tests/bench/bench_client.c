/*
 * A load client for what wrk cannot do. One thread, epoll, keep-alive connections.
 *
 *   bench_client claims PORT COUNT RATE CONNECTIONS PREFIX
 *       COUNT claims by unique users PREFIX-1, PREFIX-2 … RATE per second (open loop: a request's time runs
 *       from the moment it should have been sent), or as fast as answers come with RATE 0.
 *   bench_client reads PORT COUNT RATE CONNECTIONS PATH
 *       The same with GET PATH.
 *   bench_client readers PORT COUNT PAUSE_MS SECONDS PATH
 *       COUNT clients that each GET PATH, compressed, take all of a large answer, pause and do it again, for so long.
 *   bench_client listeners PORT COUNT ROUNDS PREFIX
 *       COUNT Server-Sent Events listeners; then ROUNDS claims, one after the other, and how long after each
 *       answer every listener had seen it.
 *
 * Prints one line of JSON.
 */
#include "base/buf.h"
#include "base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 512, ANSWER_MAX = 64 * 1024, WAIT_S = 300 };

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t *times; /* ns */
static size_t time_count;

static int compare(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return (first > second) - (first < second);
}

static double percentile_ms(double share)
{
    if (time_count == 0)
        return 0;
    size_t at = (size_t)(share * (double)(time_count - 1));
    return (double)times[at] / NS_PER_MS;
}

static void sort_times(void)
{
    qsort(times, time_count, sizeof(*times), compare);
}

static int open_connection(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static void watch(int poll, int fd, void *data)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = data};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) != 0)
        fail("epoll_ctl");
}

static size_t write_claim(char *out, size_t size, const char *prefix, int64_t number)
{
    static const char body[] = "{\"userName\":\"Kim Minji\",\"phone\":\"010-1234-5678\"}";
    int length =
        snprintf(out, size,
                 "POST /api/v1/seats/reservation/fcfs HTTP/1.1\r\nHost: localhost\r\nX-User-Id: %s-%lld\r\n"
                 "X-Forwarded-For: 10.%d.%d.%d\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                 prefix, (long long)number, (int)(number >> 16 & 255), (int)(number >> 8 & 255), (int)(number & 255),
                 sizeof(body) - 1, body);
    return (size_t)length;
}

static size_t write_read(char *out, size_t size, const char *path, int64_t number)
{
    (void)number;
    return (size_t)snprintf(out, size, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
}

/* What is asked; `what` is the users' prefix, or the path. */
struct question {
    size_t (*write)(char *out, size_t size, const char *what, int64_t number);
    const char *what;
};

struct client {
    int fd;
    bool busy;
    int64_t began_ns;
    size_t length;
    char answer[ANSWER_MAX];
};

static size_t succeeded, failed;

static void send_question(struct client *client, const struct question *question, int64_t number, int64_t began_ns)
{
    char request[512];
    size_t length = question->write(request, sizeof(request), question->what, number);
    if (send(client->fd, request, length, MSG_NOSIGNAL) != (ssize_t)length)
        fail("send");
    client->busy = true;
    client->length = 0;
    client->began_ns = began_ns;
}

/* The answers are small and come whole: "Content-Length" tells when one is complete. */
static bool read_answer(struct client *client)
{
    ssize_t got = recv(client->fd, client->answer + client->length, sizeof(client->answer) - 1 - client->length, 0);
    if (got <= 0)
        fail("the server closed a connection");
    client->length += (size_t)got;
    client->answer[client->length] = '\0';
    char *end = strstr(client->answer, "\r\n\r\n"), *field = strstr(client->answer, "Content-Length: ");
    if (!end || !field)
        return false;
    size_t total = (size_t)(end + 4 - client->answer) + strtoul(field + 16, NULL, 10);
    if (client->length < total)
        return false;
    bool good = strncmp(client->answer, "HTTP/1.1 200", 12) == 0 && strstr(end, "\"success\":true");
    succeeded += good;
    failed += !good;
    times[time_count++] = clock_mono_ns() - client->began_ns;
    client->busy = false;
    return true;
}

/* Until the next request is due, or a moment, when none will be. Asleep: the server needs the processor. */
static int wait_for_events(int poll, struct epoll_event events[EVENTS], int64_t due_ns)
{
    int64_t wait = due_ns < 0 ? 100 * NS_PER_MS : due_ns - clock_mono_ns();
    wait = wait > 0 ? wait : 0;
    struct timespec timeout = {.tv_sec = wait / NS_PER_S, .tv_nsec = wait % NS_PER_S};
    return epoll_pwait2(poll, events, EVENTS, &timeout, NULL);
}

static int ask_all(int port, int64_t count, double rate, size_t connections, const struct question *question)
{
    struct client *clients = calloc(connections, sizeof(*clients));
    struct client **idle = calloc(connections, sizeof(struct client *));
    size_t idle_count = connections;
    int poll = epoll_create1(0);
    times = calloc((size_t)count, sizeof(*times));
    if (!clients || !idle || !times)
        fail("calloc");
    for (size_t i = 0; i < connections; i++) {
        clients[i].fd = open_connection(port);
        watch(poll, clients[i].fd, &clients[i]);
        idle[i] = &clients[i];
    }
    int64_t start = clock_mono_ns(), sent = 0;
    while (time_count < (size_t)count) {
        int64_t now = clock_mono_ns();
        if (now - start > WAIT_S * NS_PER_S)
            break;
        int64_t due = -1;
        while (idle_count && sent < count) {
            due = rate > 0 ? start + (int64_t)((double)sent / rate * (double)NS_PER_S) : now;
            if (due > now)
                break;
            send_question(idle[--idle_count], question, ++sent, due);
            due = -1;
        }
        struct epoll_event events[EVENTS];
        int ready = wait_for_events(poll, events, due);
        for (int i = 0; i < ready; i++) {
            struct client *client = events[i].data.ptr;
            if (read_answer(client))
                idle[idle_count++] = client;
        }
    }
    double seconds = (double)(clock_mono_ns() - start) / (double)NS_PER_S;
    sort_times();
    printf("{\"requests\":%zu,\"seconds\":%.6f,\"succeeded\":%zu,\"errors\":%zu,\"p50_ms\":%.3f,\"p99_ms\":%.3f}\n",
           time_count, seconds, succeeded, (size_t)count - succeeded, percentile_ms(0.5), percentile_ms(0.99));
    free(idle);
    free(clients);
    return 0;
}

/* Readers: of large answers only the status and the length are looked at. */
struct large_reader {
    int fd;
    int64_t due_ns; /* the next request; 0: an answer is under way */
    int64_t began_ns;
    size_t missing; /* bytes of the answer's body */
    size_t head_length;
    char head[2048];
};

static void begin_large(struct large_reader *reader, const char *path)
{
    char request[512];
    int length =
        snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n", path);
    if (send(reader->fd, request, (size_t)length, MSG_NOSIGNAL) != length)
        fail("send");
    reader->began_ns = clock_mono_ns();
    reader->due_ns = 0;
    reader->head_length = reader->missing = 0;
}

/* Keeps the head; what comes behind it is counted. True when the head is complete. */
static bool read_large_head(struct large_reader *reader)
{
    ssize_t got =
        recv(reader->fd, reader->head + reader->head_length, sizeof(reader->head) - 1 - reader->head_length, 0);
    if (got <= 0)
        fail("the server closed a reader");
    reader->head_length += (size_t)got;
    reader->head[reader->head_length] = '\0';
    char *end = strstr(reader->head, "\r\n\r\n"), *field = strstr(reader->head, "Content-Length: ");
    if (!end || !field)
        return false;
    size_t behind = reader->head_length - (size_t)(end + 4 - reader->head);
    reader->missing = strtoul(field + 16, NULL, 10) - behind;
    return true;
}

/* True when the answer is complete. */
static bool read_large(struct large_reader *reader, size_t *bytes)
{
    static char waste[256 * 1024];
    if (!reader->missing) {
        if (!read_large_head(reader))
            return false;
        *bytes += reader->missing;
        return reader->missing == 0;
    }
    ssize_t got = recv(reader->fd, waste, reader->missing < sizeof(waste) ? reader->missing : sizeof(waste), 0);
    if (got <= 0)
        fail("the server closed a reader");
    reader->missing -= (size_t)got;
    return reader->missing == 0;
}

static int readers(int port, size_t count, int64_t pause_ms, int64_t seconds, const char *path)
{
    enum { TIMES_MAX = 10000000, TICK_MS = 1 };
    struct large_reader *all = calloc(count, sizeof(*all));
    int poll = epoll_create1(0);
    size_t bytes = 0;
    times = calloc(TIMES_MAX, sizeof(*times));
    if (!all || !times)
        fail("calloc");
    int64_t start = clock_mono_ns(), end = start + seconds * NS_PER_S;
    for (size_t i = 0; i < count; i++) { /* spread over the first pause */
        all[i].fd = open_connection(port);
        all[i].due_ns = start + 1 + (int64_t)i * pause_ms * NS_PER_MS / (int64_t)count;
        watch(poll, all[i].fd, &all[i]);
    }
    for (int64_t now = start; now < end && time_count < TIMES_MAX - EVENTS; now = clock_mono_ns()) {
        for (size_t i = 0; i < count; i++)
            if (all[i].due_ns && all[i].due_ns <= now)
                begin_large(&all[i], path);
        struct epoll_event events[EVENTS];
        int ready = epoll_wait(poll, events, EVENTS, TICK_MS);
        for (int i = 0; i < ready; i++) {
            struct large_reader *reader = events[i].data.ptr;
            if (!read_large(reader, &bytes))
                continue;
            bool good = strncmp(reader->head, "HTTP/1.1 200", 12) == 0;
            succeeded += good;
            failed += !good;
            times[time_count++] = clock_mono_ns() - reader->began_ns;
            reader->due_ns = clock_mono_ns() + pause_ms * NS_PER_MS + 1;
        }
    }
    sort_times();
    printf("{\"answers\":%zu,\"bytes\":%zu,\"errors\":%zu,\"p50_ms\":%.3f,\"p99_ms\":%.3f}\n", succeeded, bytes, failed,
           percentile_ms(0.5), percentile_ms(0.99));
    free(all);
    return 0;
}

/* Listeners: each event ends with an empty line; the last bytes tell. */
struct listener {
    int fd;
    unsigned events;
};

static bool read_events(struct listener *listener, char *buffer)
{
    ssize_t got = recv(listener->fd, buffer, ANSWER_MAX, 0);
    if (got <= 0)
        fail("the server closed a listener");
    unsigned before = listener->events;
    for (ssize_t i = 0; i + 6 < got; i++)
        if (memcmp(buffer + i, "event: ", 7) == 0)
            listener->events++;
    return listener->events > before;
}

/* Waits until all have seen `wanted` events; records each one's time since `began`. */
static void await_all(int poll, size_t count, unsigned wanted, int64_t began)
{
    static char buffer[ANSWER_MAX];
    struct epoll_event events[EVENTS];
    size_t seen = 0;
    while (seen < count) {
        int ready = epoll_wait(poll, events, EVENTS, WAIT_S * 1000);
        if (ready <= 0)
            fail("listeners did not hear of a claim");
        for (int i = 0; i < ready; i++) {
            struct listener *listener = events[i].data.ptr;
            if (read_events(listener, buffer) && listener->events == wanted) {
                if (began)
                    times[time_count++] = clock_mono_ns() - began;
                seen++;
            }
        }
    }
}

static int listeners(int port, size_t count, unsigned rounds, const char *prefix)
{
    static const char request[] = "GET /api/v1/seats/stream HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct listener *all = calloc(count, sizeof(*all));
    struct client claimer = {.fd = open_connection(port)};
    const struct question claim = {write_claim, prefix};
    int poll = epoll_create1(0);
    times = calloc(count * rounds + rounds, sizeof(*times));
    if (!all || !times)
        fail("calloc");
    for (size_t i = 0; i < count; i++) {
        all[i].fd = open_connection(port);
        watch(poll, all[i].fd, &all[i]);
        if (send(all[i].fd, request, sizeof(request) - 1, MSG_NOSIGNAL) < 0)
            fail("send");
    }
    await_all(poll, count, 1, 0);
    fcntl(claimer.fd, F_SETFL, 0); /* one at a time: simply block */
    for (unsigned round = 0; round < rounds; round++) {
        usleep(200000);
        send_question(&claimer, &claim, round + 1, clock_mono_ns());
        while (!read_answer(&claimer))
            ;
        time_count--; /* not a listener's time */
        await_all(poll, count, round + 2, clock_mono_ns());
    }
    sort_times();
    printf("{\"listeners\":%zu,\"seen\":%zu,\"errors\":%zu,\"p50_ms\":%.3f,\"p99_ms\":%.3f}\n", count, time_count,
           failed, percentile_ms(0.5), percentile_ms(0.99));
    free(all);
    return 0;
}

int main(int argc, char **argv)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    prctl(PR_SET_TIMERSLACK, 1UL); /* ns: to wake when a request is due */
    bool reads = argc == 7 && strcmp(argv[1], "reads") == 0;
    if (reads || (argc == 7 && strcmp(argv[1], "claims") == 0)) {
        struct question question = {reads ? write_read : write_claim, argv[6]};
        return ask_all(atoi(argv[2]), atoll(argv[3]), atof(argv[4]), (size_t)atoi(argv[5]), &question);
    }
    if (argc == 7 && strcmp(argv[1], "readers") == 0)
        return readers(atoi(argv[2]), (size_t)atoi(argv[3]), atoll(argv[4]), atoll(argv[5]), argv[6]);
    if (argc == 6 && strcmp(argv[1], "listeners") == 0)
        return listeners(atoi(argv[2]), (size_t)atoi(argv[3]), (unsigned)atoi(argv[4]), argv[5]);
    fputs("usage: bench_client claims PORT COUNT RATE CONNECTIONS PREFIX | reads PORT COUNT RATE CONNECTIONS PATH | "
          "readers PORT COUNT PAUSE_MS SECONDS PATH | listeners PORT COUNT ROUNDS PREFIX\n",
          stderr);
    return 2;
}
