/*
 * Clients that go away: 100,000 connections send some requests, pipelined and often cut in the middle, and
 * leave at a random moment, with a reset or without. Afterwards the server has no connection, no stream, no file
 * descriptor and no memory more than before; and an honest client was served all the time.
 *
 * TICKETTOCK_TEST_ABORTS=N sets another number, for a run under a sanitizer.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/random.h"
#include "scene_server.h"
#include "test.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORKERS = 16, ROUNDS = 10, WARM_UP_ROUNDS = 3, MEMORY_SLACK_KB = 6 * 1024, REQUEST_BYTES_MAX = 256 * 1024 };

static struct scene_server server;
static int aborts_wanted = 100000;
static atomic_int aborts, honest_answers, failures;
static atomic_bool stopping;

static void sleep_us(uint64_t us)
{
    usleep((useconds_t)us);
}

/* From many source addresses, so that closed connections in TIME_WAIT do not use up the ports. */
static int connect_from_anywhere(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in from = {.sin_family = AF_INET};
    from.sin_addr.s_addr = htonl(0x7f000001u + 256u * (uint32_t)random_below(200));
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server.port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &(int){1}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    if (fd < 0 || bind(fd, (struct sockaddr *)&from, sizeof(from)) != 0 ||
        connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
        perror("connect");
        atomic_fetch_add(&failures, 1);
        close(fd);
        return -1;
    }
    return fd;
}

/* ---- clients that leave ---- */

static void add_request(struct buf *out)
{
    static const char get[] = "GET /%s HTTP/1.1\r\nHost: a\r\nX-Padding: %0*d\r\n\r\n";
    int padding = 1 + (int)random_below(200);
    switch (random_below(8)) {
    case 0:
    case 1: buf_add_format(out, get, "now", padding, 0); break;
    case 2:
    case 3: buf_add_format(out, get, "late", padding, 0); break;
    case 4: buf_add_format(out, get, random_below(4) ? "now" : "large", padding, 0); break;
    case 5: buf_add_format(out, get, random_below(8) ? "late" : "stream", padding, 0); break;
    case 6:
        buf_add_format(out, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%0*d", padding, padding, 0);
        break;
    default:
        buf_add_format(out, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
        buf_add_format(out, "%x\r\n%0*d\r\n0\r\n\r\n", (unsigned)padding, padding, 0);
        break;
    }
}

static void fill_requests(struct buf *out)
{
    buf_clear(out);
    size_t count = random_below(100) ? 1 + random_below(12) : 400; /* now and then more than the server reads ahead */
    for (size_t i = 0; i < count; i++)
        add_request(out);
    if (random_below(2)) /* cut the last one */
        out->len -= random_below(out->len);
}

static void leave(int fd)
{
    switch (random_below(3)) {
    case 0: setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger)); break;
    case 1:
        shutdown(fd, SHUT_WR);
        sleep_us(random_below(3000));
        break;
    default: break;
    }
    close(fd);
}

static void abort_once(struct buf *requests)
{
    static _Thread_local char scrap[65536];
    int fd = connect_from_anywhere();
    if (fd < 0)
        return;
    fill_requests(requests);
    size_t first = random_below(2) ? requests->len : random_below(requests->len + 1);
    if (send(fd, requests->data, first, MSG_NOSIGNAL | MSG_DONTWAIT) > 0 && first < requests->len) {
        sleep_us(random_below(2000));
        send(fd, requests->data + first, requests->len - first, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    switch (random_below(3)) {
    case 0: break;
    case 1: sleep_us(random_below(5000)); break;
    default:
        if (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, (int)random_below(10)) > 0)
            recv(fd, scrap, 1 + random_below(sizeof(scrap)), MSG_DONTWAIT);
    }
    leave(fd);
    atomic_fetch_add(&aborts, 1);
}

static void *abort_many(void *argument)
{
    int until = *(int *)argument;
    struct buf requests = BUF_INIT(REQUEST_BYTES_MAX);
    while (atomic_load(&aborts) < until && !atomic_load(&failures))
        abort_once(&requests);
    buf_free(&requests);
    return NULL;
}

static void abort_until(int until)
{
    pthread_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&workers[i], NULL, abort_many, &until), 0);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
}

/* ---- an honest client ---- */

/* Sends a GET and reads its answer, waiting at most five seconds; false when it does not come whole. */
static bool ask(int fd, const char *path, char *answer, size_t size)
{
    struct buf request = BUF_INIT(1024);
    buf_add_format(&request, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path);
    bool sent = send(fd, request.data, request.len, MSG_NOSIGNAL) == (ssize_t)request.len;
    buf_free(&request);
    size_t length = 0;
    while (sent && length < size - 1) {
        if (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 5000) != 1)
            return false;
        ssize_t got = recv(fd, answer + length, size - 1 - length, 0);
        if (got <= 0)
            return false;
        length += (size_t)got;
        answer[length] = '\0';
        const char *body = strstr(answer, "\r\n\r\n"), *told = strstr(answer, "Content-Length: ");
        if (body && told && strlen(body + 4) == strtoul(told + 16, NULL, 10))
            return strncmp(answer, "HTTP/1.1 200 ", 13) == 0;
    }
    return false;
}

static void *ask_all_the_time(void *argument)
{
    (void)argument;
    int fd = connect_from_anywhere();
    char answer[2048];
    while (fd >= 0 && !atomic_load(&stopping)) {
        if (!ask(fd, random_below(2) ? "/now" : "/late", answer, sizeof(answer))) {
            fputs("an honest client was not served\n", stderr);
            atomic_fetch_add(&failures, 1);
            break;
        }
        atomic_fetch_add(&honest_answers, 1);
    }
    close(fd);
    return NULL;
}

/* ---- what the server has open ---- */

static long memory_kb(void)
{
    char path[64], line[256];
    long kb = -1;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)server.pid);
    FILE *status = fopen(path, "r");
    assert_non_null(status);
    while (fgets(line, sizeof(line), status))
        if (sscanf(line, "VmRSS: %ld kB", &kb) == 1)
            break;
    fclose(status);
    return kb;
}

static int descriptors(void)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)server.pid);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Until nothing but the asking connection and `others` are open, for at most ten seconds; then that one goes, too. */
static void expect_quiet(int others)
{
    char answer[2048] = "", quiet[32];
    snprintf(quiet, sizeof(quiet), "\r\n\r\n%d 0", 1 + others);
    for (int i = 0; i < 200; i++) {
        int fd = connect_from_anywhere();
        assert_true(fd >= 0);
        bool answered = ask(fd, "/gauges", answer, sizeof(answer));
        close(fd);
        assert_true(answered);
        sleep_us(50000);
        if (strstr(answer, quiet))
            return;
    }
    fail_msg("connections or streams were left: %s", answer);
}

static void test_aborts_leave_nothing_behind(void **state)
{
    (void)state;
    pthread_t honest;
    int64_t began = clock_mono_ns();
    expect_quiet(0);
    int descriptors_before = descriptors();
    assert_int_equal(pthread_create(&honest, NULL, ask_all_the_time, NULL), 0);

    long memory_before = 0, memory_after = 0;
    for (int round = 1; round <= ROUNDS; round++) {
        abort_until(aborts_wanted / ROUNDS * round);
        expect_quiet(1);
        memory_after = memory_kb();
        if (round <= WARM_UP_ROUNDS)
            memory_before = memory_after;
    }
    atomic_store(&stopping, true);
    pthread_join(honest, NULL);
    assert_int_equal(failures, 0);
    expect_quiet(0);
    print_message("# %d aborts in %.1f s, %d honest answers, memory %ld to %ld kB, descriptors %d to %d\n", aborts,
                  (double)(clock_mono_ns() - began) / 1e9, honest_answers, memory_before, memory_after,
                  descriptors_before, descriptors());
    assert_int_equal(descriptors(), descriptors_before);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which keep freed memory for a while */
    assert_true(memory_after < memory_before + MEMORY_SLACK_KB);
#endif
    assert_int_equal(scene_server_stop(&server), 0);
}

int main(void)
{
    const char *wanted = getenv("TICKETTOCK_TEST_ABORTS");
    if (wanted)
        aborts_wanted = atoi(wanted);
    scene_server_start(&server);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aborts_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
