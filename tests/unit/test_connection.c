/* Connections of the HTTP server, seen from a raw socket: pipelining, half-closed clients, refusals, streams. */
#include "base/buf.h"
#include "base/clock.h"
#include "scene_server.h"
#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_MAX = 4 << 20, PATIENCE_MS = 5000 };

static struct scene_server server;

static int connect_to_server(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server.port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static void send_text(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Sends all of it and meanwhile reads what comes, until the server ends the connection or nothing has come for
 * `quiet_ms`. The answer has a NUL behind it. True when the connection was ended. */
static bool talk(int fd, struct str request, int quiet_ms, struct buf *answer)
{
    bool ended = false;
    while (!ended) {
        struct pollfd poller = {.fd = fd, .events = request.len ? POLLIN | POLLOUT : POLLIN};
        if (poll(&poller, 1, quiet_ms) == 0)
            break;
        if (poller.revents & POLLOUT) {
            ssize_t sent = send(fd, request.ptr, request.len, MSG_NOSIGNAL | MSG_DONTWAIT);
            request = str_from_offset(request, sent > 0 ? (size_t)sent : 0);
        }
        if (poller.revents & ~POLLOUT) {
            char *room = buf_reserve(answer, 65536);
            assert_non_null(room);
            ssize_t got = recv(fd, room, 65535, MSG_DONTWAIT);
            ended = got <= 0;
            answer->len += got > 0 ? (size_t)got : 0;
        }
    }
    assert_non_null(buf_c_string(answer));
    return ended;
}

/* Not with strstr or memmem: under the sanitizers they look at all of the text each time. */
static size_t count_of(const struct buf *text, const char *part)
{
    size_t count = 0, length = strlen(part);
    const char *end = text->data + text->len;
    for (const char *at = text->data; (at = memchr(at, part[0], (size_t)(end - at))); at++)
        count += (size_t)(end - at) >= length && memcmp(at, part, length) == 0;
    return count;
}

/* Talks over a new connection that the server must end; the answer is freed by the caller. */
static struct buf ended_answer(const char *request)
{
    struct buf answer = BUF_INIT(ANSWER_MAX);
    int fd = connect_to_server();
    assert_true(talk(fd, str_from(request), PATIENCE_MS, &answer));
    close(fd);
    return answer;
}

/* More than the server reads ahead, with handlers that wait: the client has to wait, too, but loses nothing. */
static void test_pipelining_without_end(void **state)
{
    (void)state;
    enum { REQUESTS = 1000 };
    struct buf requests = BUF_INIT(2 << 20), answer = BUF_INIT(ANSWER_MAX);
    for (int i = 0; i < REQUESTS; i++)
        buf_add_format(&requests, "GET /soon HTTP/1.1\r\nHost: a\r\nX-Padding: %01000d\r\n%s\r\n", i,
                       i == REQUESTS - 1 ? "Connection: close\r\n" : "");
    assert_false(requests.failed);
    int fd = connect_to_server();
    assert_true(talk(fd, buf_str(&requests), PATIENCE_MS, &answer));
    close(fd);
    assert_int_equal(count_of(&answer, "\r\n\r\nsoon"), REQUESTS);
    buf_free(&requests);
    buf_free(&answer);
}

/* Sends until the server takes no more, since nobody reads its answers; returns what is left. */
static struct str send_until_stuck(int fd, struct str requests)
{
    struct pollfd poller = {.fd = fd, .events = POLLOUT};
    while (requests.len && poll(&poller, 1, 100) > 0) {
        ssize_t sent = send(fd, requests.ptr, requests.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        requests = str_from_offset(requests, sent > 0 ? (size_t)sent : 0);
    }
    return requests;
}

/* What the socket did not take of an answer waits, while others are answered with other heads. */
static void test_a_client_that_reads_late_gets_its_own_heads(void **state)
{
    (void)state;
    enum { REQUESTS = 40000, OTHERS = 8 }; /* more answers than a socket keeps; others enough for each loop */
    struct buf requests = BUF_INIT(2 << 20), answer = BUF_INIT(16 << 20);
    for (int i = 1; i < REQUESTS; i++)
        buf_add(&requests, STR("GET /now HTTP/1.1\r\nHost: a\r\n\r\n"));
    buf_add(&requests, STR("GET /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    assert_false(requests.failed);
    int fd = connect_to_server(), room = 128 * 1024;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)), 0);
    struct str rest = send_until_stuck(fd, buf_str(&requests));
    for (int i = 0; i < OTHERS; i++) {
        struct buf other = ended_answer("GET /nowhere HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        assert_int_equal(count_of(&other, "HTTP/1.1 404 "), 1);
        buf_free(&other);
    }
    assert_true(talk(fd, rest, PATIENCE_MS, &answer));
    close(fd);
    assert_int_equal(count_of(&answer, "HTTP/1.1 200 OK\r\n"), REQUESTS);
    assert_int_equal(count_of(&answer, "\r\n\r\nnow"), REQUESTS);
    assert_int_equal(count_of(&answer, "HTTP/1.1 "), REQUESTS);
    buf_free(&requests);
    buf_free(&answer);
}

static void test_answers_keep_their_order(void **state)
{
    (void)state;
    struct buf answer = ended_answer("GET /late HTTP/1.1\r\nHost: a\r\n\r\n"
                                     "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nfirst"
                                     "\r\n"
                                     "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                                     "3\r\nsec\r\n3\r\nond\r\n0\r\n\r\n"
                                     "GET /now HTTP/1.0\r\n\r\n");
    const char *late = strstr(answer.data, "\r\n\r\nlate"), *first = strstr(answer.data, "\r\n\r\nfirst");
    const char *second = strstr(answer.data, "\r\n\r\nsecond"), *now = strstr(answer.data, "\r\n\r\nnow");
    assert_true(late && late < first && first < second && second < now);
    buf_free(&answer);
}

static void test_nothing_is_read_after_close(void **state)
{
    (void)state;
    struct buf answer = ended_answer("GET /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                                     "GET /soon HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_int_equal(count_of(&answer, "HTTP/1.1 "), 1);
    assert_non_null(strstr(answer.data, "Connection: close\r\n"));
    buf_free(&answer);
}

static void test_nothing_is_read_after_a_refusal(void **state)
{
    (void)state;
    struct buf answer = ended_answer("GET /soon HTTP/1.1\r\nHost: a\r\n\r\n"
                                     "GET /now HTTP/1.1\r\nHost: a\r\nBad Name: x\r\n\r\n"
                                     "GET /now HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_int_equal(count_of(&answer, "HTTP/1.1 200 "), 1);
    assert_int_equal(count_of(&answer, "HTTP/1.1 400 "), 1);
    assert_int_equal(count_of(&answer, "HTTP/1.1 "), 2);
    buf_free(&answer);
}

/* A refusal before the method is known has a body, also when the request's memory served a HEAD before. */
static void test_refusal_after_head(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) { /* so that each loop has served a HEAD */
        struct buf head = ended_answer("HEAD /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        assert_non_null(strstr(head.data, "Content-Length: 3\r\n"));
        assert_null(strstr(head.data, "\r\n\r\nnow"));
        buf_free(&head);
        struct buf answer = ended_answer("\x16\x03\x01");
        assert_non_null(strstr(answer.data, "HTTP/1.1 400 "));
        assert_non_null(strstr(answer.data, "\"bad_request\""));
        buf_free(&answer);
    }
}

static void test_half_closed_client_gets_its_answer(void **state)
{
    (void)state;
    struct buf answer = BUF_INIT(ANSWER_MAX);
    int fd = connect_to_server();
    send_text(fd, "GET /late HTTP/1.1\r\nHost: a\r\n\r\nGET /late HTTP/1.1\r\nHost: a\r\n\r\n");
    shutdown(fd, SHUT_WR);
    assert_true(talk(fd, STR(""), PATIENCE_MS, &answer));
    close(fd);
    assert_int_equal(count_of(&answer, "\r\n\r\nlate"), 2);
    buf_free(&answer);
}

/* A request that will never be complete does not hold the connection until its time is up. */
static void test_half_closed_in_a_request(void **state)
{
    (void)state;
    static const char *const cut[] = {
        "GET /late HTTP/1.1\r\nHost: a\r\n\r\nGET /now HTTP/1.1\r\n",
        "GET /late HTTP/1.1\r\nHost: a\r\n\r\nPOST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc",
    };
    for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
        struct buf answer = BUF_INIT(ANSWER_MAX);
        int fd = connect_to_server();
        send_text(fd, cut[i]);
        shutdown(fd, SHUT_WR);
        assert_true(talk(fd, STR(""), PATIENCE_MS, &answer));
        close(fd);
        assert_int_equal(count_of(&answer, "HTTP/1.1 "), 1);
        buf_free(&answer);
    }
}

static void test_expect_continue(void **state)
{
    (void)state;
    struct buf answer = BUF_INIT(ANSWER_MAX);
    int fd = connect_to_server();
    send_text(fd, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n"
                  "Connection: close\r\n\r\n");
    assert_false(talk(fd, STR(""), 200, &answer));
    assert_string_equal(answer.data, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_true(talk(fd, STR("hello"), PATIENCE_MS, &answer));
    close(fd);
    assert_non_null(strstr(answer.data, "\r\n\r\nhello"));
    buf_free(&answer);
}

static void expect_gauges(const char *gauges)
{
    struct buf answer = BUF_INIT(ANSWER_MAX);
    int64_t until = clock_mono_ns() + PATIENCE_MS * INT64_C(1000000);
    do {
        buf_free(&answer);
        answer = ended_answer("GET /gauges HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    } while (!strstr(answer.data, gauges) && clock_mono_ns() < until);
    assert_non_null(strstr(answer.data, gauges));
    buf_free(&answer);
}

/* The client fills what the server reads ahead, opens a stream with it and goes: the stream ends. */
static void test_a_stream_sees_its_client_go(void **state)
{
    (void)state;
    struct buf requests = BUF_INIT(2 << 20), answer = BUF_INIT(ANSWER_MAX);
    buf_add(&requests, STR("GET /late HTTP/1.1\r\nHost: a\r\n\r\nGET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
    for (int i = 0; i < 300; i++)
        buf_add_format(&requests, "GET /now HTTP/1.1\r\nHost: a\r\nX-Padding: %0500d\r\n\r\n", i);
    int fd = connect_to_server();
    assert_false(talk(fd, buf_str(&requests), 300, &answer));
    assert_non_null(strstr(answer.data, "\r\n\r\ndata: hello\n\n"));
    expect_gauges("\r\n\r\n2 1");
    close(fd);
    expect_gauges("\r\n\r\n1 0");
    buf_free(&requests);
    buf_free(&answer);
}

static void test_the_server_stops_cleanly(void **state)
{
    (void)state;
    int fd = connect_to_server();
    assert_int_equal(scene_server_stop(&server), 0);
    close(fd);
}

int main(void)
{
    scene_server_start(&server);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_client_that_reads_late_gets_its_own_heads),
        cmocka_unit_test(test_pipelining_without_end),
        cmocka_unit_test(test_answers_keep_their_order),
        cmocka_unit_test(test_nothing_is_read_after_close),
        cmocka_unit_test(test_nothing_is_read_after_a_refusal),
        cmocka_unit_test(test_refusal_after_head),
        cmocka_unit_test(test_half_closed_client_gets_its_answer),
        cmocka_unit_test(test_half_closed_in_a_request),
        cmocka_unit_test(test_expect_continue),
        cmocka_unit_test(test_a_stream_sees_its_client_go),
        cmocka_unit_test(test_the_server_stops_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
