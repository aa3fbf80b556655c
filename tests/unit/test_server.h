/*
 * A small HTTP server for tests of clients: plain blocking sockets, a thread per
 * connection, on 127.0.0.1 and a free port. The path says how it behaves:
 *
 *   /hello        answers "hello"                  /echo        answers with the request itself
 *   /chunked      the same in chunks, a trailer    /redirect    302 to /hello
 *   /slow         answers after 100 ms             /loop        302 to /loop
 *   /never        does not answer                  /drop        closes without an answer
 *   /cut          closes within the body           /drop-later  the same, unless first on its connection
 *   /large        100,000 bytes, length told       /flood       chunks without end
 *   /headers      headers without end              /garbage     bytes that are not HTTP
 *   /continue     100, then answers "hello"        /ftp         302 to ftp://
 *                                                  /plain       302 to http://
 */
#ifndef TESTS_TEST_SERVER_H
#define TESTS_TEST_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>

struct test_server {
    int port;
    atomic_int connections; /* accepted so far */
    atomic_int requests;    /* read so far */
    atomic_int open, most_open;
    struct test_server_private *own;
};

/* With TLS, the certificate for 127.0.0.1, which is its own authority, goes to the PEM file `certificate`. */
void test_server_start(struct test_server *server, const char *certificate);
void test_server_stop(struct test_server *server);

/* A port of 127.0.0.1 on which nobody listens. */
int test_server_unused_port(void);

#endif
