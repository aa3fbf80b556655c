#include "rehearse/target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* The first address of those that connections get for themselves, 127.1.0.0; 127.0.0.x is for servers. */
#define OWN_BASE UINT32_C(0x7f010000)
#define OWN_COUNT UINT32_C(0xfe0000)

bool target_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
        return ntohl(four->sin_addr.s_addr) >> 24 == 127;
    }
    if (address->sa_family != AF_INET6)
        return false;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127);
}

static bool refuse(struct buf *problem, struct str url, const char *why)
{
    buf_add_format(problem, "%.*s %s.", STR_ARG(url), why);
    return false;
}

/* Host and port out of "host", "host:port", "[::1]:port". */
static bool split_authority(struct str authority, struct str *host, struct str *port)
{
    *port = STR("80");
    if (authority.len && authority.ptr[0] == '[') {
        ptrdiff_t end = str_find_char(authority, ']');
        if (end < 0)
            return false;
        *host = str_first(str_from_offset(authority, 1), (size_t)end - 1);
        struct str rest = str_from_offset(authority, (size_t)end + 1);
        if (rest.len && rest.ptr[0] != ':')
            return false;
        if (rest.len)
            *port = str_from_offset(rest, 1);
    } else {
        struct str rest = authority;
        str_split(&rest, ':', host);
        if (host->len < authority.len)
            *port = rest;
    }
    uint64_t number;
    return host->len > 0 && host->len <= TARGET_HOST_MAX && str_to_uint64(*port, &number) && number > 0 &&
           number < 65536;
}

static bool check_addresses(struct str url, bool owned, const struct addrinfo *found, struct buf *problem)
{
    for (; found && !owned; found = found->ai_next) {
        char text[INET6_ADDRSTRLEN] = "?";
        if (target_is_loopback(found->ai_addr))
            continue;
        getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST);
        buf_add_format(problem,
                       "%.*s is %s, which is not this machine. A rehearsal is a stampede: it is for servers that are "
                       "yours. Say --i-own-this-server if this one is.",
                       STR_ARG(url), text);
        return false;
    }
    return true;
}

static bool listens(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval patience = {.tv_sec = 2};
    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    bool good = connect(fd, address->ai_addr, address->ai_addrlen) == 0;
    close(fd);
    return good;
}

/* Of several addresses, as "localhost" has them, the first where somebody listens; if possible one of IPv4's loopback,
 * because there connections can have addresses of their own. */
static const struct addrinfo *choose(const struct addrinfo *found)
{
    const struct addrinfo *chosen = NULL;
    if (!found->ai_next)
        return found;
    for (const struct addrinfo *one = found; one; one = one->ai_next) {
        bool better =
            !chosen || (one->ai_family == AF_INET && target_is_loopback(one->ai_addr) && chosen->ai_family != AF_INET);
        if (better && listens(one))
            chosen = one;
    }
    return chosen ? chosen : found;
}

bool target_parse(struct str url, bool owned, struct target *target, struct buf *problem)
{
    struct str rest = url, host, port;
    if (str_starts(url, STR("https://")))
        return refuse(problem, url,
                      "needs TLS, which a rehearsal does not speak: ask the server itself, behind its proxy, "
                      "with http://");
    if (str_starts(rest, STR("http://")))
        rest = str_from_offset(rest, 7);
    else if (str_contains(rest, STR("://")))
        return refuse(problem, url, "is no http:// address");
    if (rest.len && rest.ptr[rest.len - 1] == '/')
        rest.len--;
    if (str_find_char(rest, '/') >= 0 || str_find_char(rest, '@') >= 0 || str_find_char(rest, '?') >= 0)
        return refuse(problem, url, "must be like http://host:port, without anything behind it");
    if (!split_authority(rest, &host, &port))
        return refuse(problem, url, "must be like http://host:port");

    snprintf(target->host, sizeof(target->host), "%.*s", STR_ARG(host));
    snprintf(target->authority, sizeof(target->authority), "%.*s", STR_ARG(rest));
    char service[8];
    snprintf(service, sizeof(service), "%.*s", STR_ARG(port));
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *found;
    int failure = getaddrinfo(target->host, service, &hints, &found);
    if (failure != 0) {
        buf_add_format(problem, "%.*s: the name cannot be looked up: %s.", STR_ARG(url), gai_strerror(failure));
        return false;
    }
    bool good = check_addresses(url, owned, found, problem);
    if (good) {
        const struct addrinfo *chosen = choose(found);
        memcpy(&target->address, chosen->ai_addr, chosen->ai_addrlen);
        target->address_size = chosen->ai_addrlen;
    }
    freeaddrinfo(found);
    return good;
}

bool target_has_own_addresses(const struct target *target)
{
    return target->address.ss_family == AF_INET &&
           target_is_loopback((const struct sockaddr *)(const void *)&target->address);
}

static struct in_addr own_address(uint32_t own)
{
    return (struct in_addr){.s_addr = htonl(own ? OWN_BASE + own % OWN_COUNT : INADDR_LOOPBACK)};
}

void target_own_address(uint32_t own, char text[INET_ADDRSTRLEN])
{
    struct in_addr address = own_address(own);
    inet_ntop(AF_INET, &address, text, INET_ADDRSTRLEN);
}

int target_connect(const struct target *target, uint32_t own, bool *connected)
{
    int fd = socket(target->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0)
        return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (own && target_has_own_addresses(target)) {
        struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr = own_address(own)};
        setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
        if (bind(fd, (struct sockaddr *)&from, sizeof(from)) != 0)
            goto failed;
    }
    *connected = connect(fd, (const struct sockaddr *)(const void *)&target->address, target->address_size) == 0;
    if (*connected || errno == EINPROGRESS)
        return fd;
failed:;
    int failure = errno;
    close(fd);
    errno = failure;
    return -1;
}
