/*
 * A server of our own in a child process, for tests of connections: routes that answer at once, late, at length, with a
 * stream, or take a body, and one that tells what is open. The parent talks to it over loopback.
 *
 *   GET  /now     "now"                         POST /echo    the body
 *   GET  /soon    "soon", after a wait of 1 ms  GET  /large   4 MiB
 *   GET  /late    "late", after 0 … 20 ms
 *   GET  /stream  events until the client goes  GET  /gauges  "<connections> <streams>"
 */
#ifndef TESTS_SCENE_SERVER_H
#define TESTS_SCENE_SERVER_H

#include <sys/types.h>

struct scene_server {
    pid_t pid;
    int port;
};

/* Forks: call it before the program has threads. */
void scene_server_start(struct scene_server *server);

/* Stops it with SIGTERM; the exit status is 0 when it drained in time and a sanitizer, if any, found nothing. */
int scene_server_stop(struct scene_server *server);

#endif
