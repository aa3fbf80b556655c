/*
 * Lets a hiredis asynchronous context live on a libuv loop. hiredis ships an
 * adapter (adapters/libuv.h), but it ignores errors of the poll handle, leaks
 * when that cannot be made, and asks epoll twice per command; this one also
 * writes many commands with one system call. On the loop's thread.
 */
#ifndef COORD_REDIS_EVENTS_H
#define COORD_REDIS_EVENTS_H

#include <hiredis/async.h>
#include <stdbool.h>
#include <uv.h>

/* When true, closed(argument) is called once, on the loop, after hiredis has freed the context. */
bool redis_events_attach(redisAsyncContext *context, uv_loop_t *loop, void (*closed)(void *argument), void *argument);

/* Between the two, commands are gathered; then they are written at once, as far as the socket takes them.
 * The write may find the connection broken and free the context. */
void redis_events_cork(redisAsyncContext *context);
void redis_events_uncork(redisAsyncContext *context);

#endif
