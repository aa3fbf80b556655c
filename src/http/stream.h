/*
 * An answer that stays open: Server-Sent Events. A handler opens the stream and
 * returns; from then on no task is needed, and whoever opened it (a broadcaster on
 * the same loop) writes payloads until one side closes. A payload is built once
 * and shared by all streams of the loop. A reader that falls behind is dropped,
 * never waited for.
 *
 * All on the stream's loop.
 */
#ifndef HTTP_STREAM_H
#define HTTP_STREAM_H

#include "http/request.h"

struct stream;

#define STREAM_CONTENT_TYPE STR("text/event-stream")

struct payload {
    size_t references;
    size_t length;
    char bytes[];
};

/* With one reference, the caller's. NULL when there is no memory. */
struct payload *payload_create(struct str bytes);
void payload_release(struct payload *payload);

struct stream_owner {
    /* The stream is gone: forget it. Called exactly once, also after stream_close. */
    void (*closed)(void *context);
    void *context;
};

/* Makes this the answer: 200, text/event-stream. NULL when there is no memory, or too many are open, in all or from
 * this client: then that has been answered. */
struct stream *reply_stream(struct request *rq, struct stream_owner owner);

/* The answer to a HEAD of it: the same headers, and no stream. */
void reply_stream_head(struct request *rq);

/* Takes a reference of its own. May close the stream (then owner.closed has been called and it returns false). */
bool stream_write(struct stream *stream, struct payload *payload);
void stream_close(struct stream *stream);

#endif
