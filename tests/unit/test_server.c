#include "test_server.h"

#include "base/buf.h"
#include "test.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 2048, REQUEST_MAX = 1 << 20, LARGE = 100000 };

struct connection {
    struct test_server *server;
    pthread_t thread;
    int socket;
    SSL *tls;
    int requests;
};

struct test_server_private {
    pthread_t thread;
    int socket;
    SSL_CTX *tls;
    pthread_mutex_t mutex; /* for count and for closing sockets */
    struct connection connections[CONNECTIONS_MAX];
    int count;
};

/* ---- bytes ---- */

static ptrdiff_t receive(struct connection *c, char *data, size_t size)
{
    return c->tls ? SSL_read(c->tls, data, (int)size) : recv(c->socket, data, size, 0);
}

static bool send_all(struct connection *c, struct str data)
{
    while (data.len) {
        ptrdiff_t sent =
            c->tls ? SSL_write(c->tls, data.ptr, (int)data.len) : send(c->socket, data.ptr, data.len, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        data = str_from_offset(data, (size_t)sent);
    }
    return true;
}

static bool send_answer(struct connection *c, const char *headers, struct str body)
{
    struct buf answer = BUF_INIT(REQUEST_MAX);
    buf_add_format(&answer, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nX-Kind:  test \r\n%s\r\n", body.len, headers);
    buf_add(&answer, body);
    bool sent = send_all(c, buf_str(&answer));
    buf_free(&answer);
    return sent;
}

/* Until the peer has gone. */
static void send_forever(struct connection *c, struct str piece)
{
    while (send_all(c, piece))
        ;
}

/* ---- requests ---- */

static size_t content_length(struct str head)
{
    struct str line;
    uint64_t length = 0;
    while (str_split(&head, '\n', &line))
        if (line.len > 15 && str_ieq(str_first(line, 15), STR("Content-Length:")))
            str_to_uint64(str_trim(str_make(line.ptr + 15, line.len - 16)), &length);
    return (size_t)length;
}

/* One request into `request`; false when the peer has gone. No pipelining. */
static bool read_request(struct connection *c, struct buf *request)
{
    buf_clear(request);
    for (;;) {
        const char *end = request->len ? memmem(request->data, request->len, "\r\n\r\n", 4) : NULL;
        if (end) {
            size_t head = (size_t)(end - request->data) + 4;
            if (request->len >= head + content_length(str_make(request->data, head)))
                return true;
        }
        char *room = buf_reserve(request, 16384);
        ptrdiff_t got = room ? receive(c, room, 16384) : 0;
        if (got <= 0)
            return false;
        request->len += (size_t)got;
    }
}

/* True when the connection goes on. */
static bool serve_request(struct connection *c, struct str request)
{
    struct str rest = request, method, path;
    str_split(&rest, ' ', &method);
    str_split(&rest, ' ', &path);
    char byte;
    static char large[LARGE];

    if (str_eq(path, STR("/echo")))
        return send_answer(c, "", request);
    if (str_eq(path, STR("/chunked")))
        return send_all(c, STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n"
                               "X-Trailer: late\r\n\r\n"));
    if (str_eq(path, STR("/redirect")))
        return send_all(c, STR("HTTP/1.1 302 Found\r\nLocation: /hello\r\nContent-Length: 4\r\n\r\ngone"));
    if (str_eq(path, STR("/loop")))
        return send_all(c, STR("HTTP/1.1 302 Found\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n"));
    if (str_eq(path, STR("/ftp")))
        return send_all(c, STR("HTTP/1.1 302 Found\r\nLocation: ftp://127.0.0.1/\r\nContent-Length: 0\r\n\r\n"));
    if (str_eq(path, STR("/plain")))
        return send_all(c, STR("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n"));
    if (str_eq(path, STR("/slow")))
        return usleep(100000) == 0 && send_answer(c, "", STR("hello"));
    if (str_eq(path, STR("/large")))
        return send_answer(c, "", str_make(large, LARGE));
    if (str_eq(path, STR("/continue")))
        return send_all(c, STR("HTTP/1.1 100 Continue\r\nX-Kind: early\r\n\r\n")) && send_answer(c, "", STR("hello"));
    if (str_eq(path, STR("/drop-later")))
        return c->requests == 1 && send_answer(c, "", STR("hello"));

    if (str_eq(path, STR("/never")))
        receive(c, &byte, 1); /* comes back when the peer closes */
    else if (str_eq(path, STR("/cut")))
        send_all(c, STR("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello"));
    else if (str_eq(path, STR("/garbage")))
        send_all(c, STR("\1\2\3 what is this\r\n\r\n"));
    else if (str_eq(path, STR("/flood"))) {
        send_all(c, STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"));
        send_forever(c, STR("10\r\n0123456789abcdef\r\n"));
    } else if (str_eq(path, STR("/headers"))) {
        send_all(c, STR("HTTP/1.1 200 OK\r\n"));
        send_forever(c, STR("X-More: and more\r\n"));
    } else if (!str_eq(path, STR("/drop")))
        return send_answer(c, "", str_eq(method, STR("HEAD")) ? STR("") : STR("hello"));
    return false;
}

static void *serve_connection(void *argument)
{
    struct connection *c = argument;
    struct test_server *server = c->server;
    if (c->tls && SSL_accept(c->tls) != 1)
        goto end;
    struct buf request = BUF_INIT(REQUEST_MAX);
    while (read_request(c, &request)) {
        atomic_fetch_add(&server->requests, 1);
        c->requests++;
        if (!serve_request(c, buf_str(&request)))
            break;
    }
    buf_free(&request);
end:
    atomic_fetch_sub(&server->open, 1);
    pthread_mutex_lock(&server->own->mutex);
    SSL_free(c->tls);
    close(c->socket);
    c->socket = -1;
    pthread_mutex_unlock(&server->own->mutex);
    return NULL;
}

static void *accept_connections(void *argument)
{
    struct test_server *server = argument;
    struct test_server_private *own = server->own;
    int socket;
    while ((socket = accept(own->socket, NULL, NULL)) >= 0) {
        pthread_mutex_lock(&own->mutex);
        assert_true(own->count < CONNECTIONS_MAX);
        struct connection *c = &own->connections[own->count++];
        *c = (struct connection){.server = server, .socket = socket};
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        if (own->tls) {
            c->tls = SSL_new(own->tls);
            SSL_set_fd(c->tls, socket);
        }
        atomic_fetch_add(&server->connections, 1);
        int open = atomic_fetch_add(&server->open, 1) + 1;
        if (open > server->most_open)
            server->most_open = open;
        assert_int_equal(pthread_create(&c->thread, NULL, serve_connection, c), 0);
        pthread_mutex_unlock(&own->mutex);
    }
    return NULL;
}

/* ---- start and stop ---- */

static void add_alternative_name(X509 *certificate)
{
    X509_EXTENSION *name = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "IP:127.0.0.1");
    assert_non_null(name);
    X509_add_ext(certificate, name, -1);
    X509_EXTENSION_free(name);
}

static SSL_CTX *create_tls(const char *certificate_file)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    X509_set_version(certificate, 2);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME *name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"test", -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    add_alternative_name(certificate);
    assert_true(X509_sign(certificate, key, EVP_sha256()) > 0);

    FILE *file = fopen(certificate_file, "w");
    assert_non_null(file);
    assert_int_equal(PEM_write_X509(file, certificate), 1);
    fclose(file);

    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    assert_int_equal(SSL_CTX_use_certificate(tls, certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(tls, key), 1);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return tls;
}

static int listen_somewhere(int *port)
{
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 1024), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return listener;
}

int test_server_unused_port(void)
{
    int port;
    close(listen_somewhere(&port));
    return port;
}

void test_server_start(struct test_server *server, const char *certificate)
{
    *server = (struct test_server){.own = calloc(1, sizeof(*server->own))};
    server->own->socket = listen_somewhere(&server->port);
    if (certificate)
        server->own->tls = create_tls(certificate);
    pthread_mutex_init(&server->own->mutex, NULL);
    assert_int_equal(pthread_create(&server->own->thread, NULL, accept_connections, server), 0);
}

void test_server_stop(struct test_server *server)
{
    struct test_server_private *own = server->own;
    shutdown(own->socket, SHUT_RDWR);
    pthread_join(own->thread, NULL);
    close(own->socket);
    pthread_mutex_lock(&own->mutex);
    for (int i = 0; i < own->count; i++)
        if (own->connections[i].socket >= 0)
            shutdown(own->connections[i].socket, SHUT_RDWR);
    pthread_mutex_unlock(&own->mutex);
    for (int i = 0; i < own->count; i++)
        pthread_join(own->connections[i].thread, NULL);
    SSL_CTX_free(own->tls);
    pthread_mutex_destroy(&own->mutex);
    free(own);
}
