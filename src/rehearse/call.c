#include "rehearse/call.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_MAX = 8192, READ_BYTES = 64 * 1024 };

static bool refuse(const struct target *target, const char *what, const char *why, struct buf *problem)
{
    buf_add_format(problem, "http://%s %s: %s.", target->authority, what, why);
    return false;
}

/* Waits until the socket is ready for this; false when the time is over. */
static bool await(int fd, short events, int64_t deadline_ns)
{
    struct pollfd poll_fd = {.fd = fd, .events = events};
    int64_t left_ms = (deadline_ns - clock_mono_ns()) / NS_PER_MS;
    return left_ms > 0 && poll(&poll_fd, 1, (int)left_ms) > 0;
}

static bool finish_connecting(int fd, int64_t deadline_ns, const struct target *target, struct buf *problem)
{
    int failure = 0;
    socklen_t size = sizeof(failure);
    if (!await(fd, POLLOUT, deadline_ns))
        return refuse(target, "cannot be reached", "no answer in time", problem);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) != 0 || failure != 0)
        return refuse(target, "cannot be reached", strerror(failure), problem);
    return true;
}

static bool send_all(int fd, struct str text, int64_t deadline_ns)
{
    while (text.len) {
        ssize_t sent = send(fd, text.ptr, text.len, MSG_NOSIGNAL);
        if (sent > 0)
            text = str_from_offset(text, (size_t)sent);
        else if (errno != EAGAIN || !await(fd, POLLOUT, deadline_ns))
            return false;
    }
    return true;
}

static bool receive(int fd, struct buf *bytes, struct answer *answer, int64_t deadline_ns)
{
    for (;;) {
        char *room = buf_reserve(bytes, READ_BYTES);
        if (!room || !await(fd, POLLIN, deadline_ns))
            return false;
        ssize_t got = recv(fd, room, READ_BYTES, 0);
        if (got < 0)
            return false;
        bytes->len += (size_t)got;
        switch (answer_read(buf_str(bytes), got == 0, answer)) {
        case ANSWER_COMPLETE: return true;
        case ANSWER_BROKEN: return false;
        case ANSWER_MORE: break;
        }
    }
}

bool call_server(const struct target *target, const char *method, const char *path, const char *headers,
                 struct str body, struct buf *bytes, struct answer *answer, struct buf *problem)
{
    struct buf request = BUF_INIT(REQUEST_MAX);
    int64_t deadline_ns = clock_mono_ns() + CALL_TIMEOUT_MS * NS_PER_MS;
    bool connected, good = false;
    *bytes = BUF_INIT(ANSWER_HEAD_MAX + ANSWER_BODY_MAX);
    int fd = target_connect(target, 0, &connected);
    if (fd < 0)
        return refuse(target, "cannot be reached", strerror(errno), problem);
    buf_add_format(&request, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s", method, path, target->authority,
                   headers);
    if (body.len)
        buf_add_format(&request, "Content-Type: application/json\r\nContent-Length: %zu\r\n", body.len);
    buf_add(&request, STR("\r\n"));
    buf_add(&request, body);
    if (connected || finish_connecting(fd, deadline_ns, target, problem)) {
        good =
            !request.failed && send_all(fd, buf_str(&request), deadline_ns) && receive(fd, bytes, answer, deadline_ns);
        if (!good)
            refuse(target, "gave no answer that could be understood", "is this a Tickettock server?", problem);
    }
    buf_free(&request);
    close(fd);
    return good;
}
