/*
 * Places for connections that come when a limit is reached, so that whoever watches the server still learns that it
 * lives (/healthz, /readyz). They are few; so that a crowd of connections cannot keep them, whoever has said nothing
 * for longest goes when another comes. Each loop has its own.
 */
#include "http/connection.h"

#include <stdlib.h>
#include <sys/socket.h>

bool reserve_create(struct server_loop *home, size_t size)
{
    home->reserve_size = size;
    home->reserve = calloc(size + 1, sizeof(*home->reserve)); /* there may be none */
    return home->reserve;
}

/* What it has sent may not have been read yet: many can come in one round of the loop. */
static bool has_sent_something(const struct connection *connection)
{
    int fd;
    char byte;
    return connection->input.len || (uv_fileno((const uv_handle_t *)&connection->tcp, &fd) == 0 &&
                                     recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0);
}

static bool is_busy(const struct connection *connection)
{
    return connection->state != CONNECTION_LINGERING &&
           (connection->state != CONNECTION_HEAD || has_sent_something(connection));
}

static struct connection **find_oldest_after(struct server_loop *home, int64_t after_ns)
{
    struct connection **oldest = NULL;
    for (size_t i = 0; i < home->reserve_size; i++) {
        struct connection **place = &home->reserve[i];
        if (!*place)
            return place;
        if ((*place)->accepted_ns > after_ns && (!oldest || (*place)->accepted_ns < (*oldest)->accepted_ns))
            oldest = place;
    }
    return oldest;
}

bool reserve_enter(struct connection *connection)
{
    struct server_loop *home = connection->home;
    struct connection **place = find_oldest_after(home, 0);
    while (place && *place && is_busy(*place))
        place = find_oldest_after(home, (*place)->accepted_ns);
    if (!place)
        return false;
    if (*place)
        connection_turn_away(*place); /* leaves its place */
    connection->accepted_ns = clock_mono_ns();
    *place = connection;
    return true;
}

void reserve_leave(struct connection *connection)
{
    struct server_loop *home = connection->home;
    for (size_t i = 0; connection->reserved && i < home->reserve_size; i++)
        if (home->reserve[i] == connection)
            home->reserve[i] = NULL;
}
