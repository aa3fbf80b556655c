/*
 * A connection's bytes as pipelined requests: heads, bodies, chunks. For every input
 *   - reading it whole and in random parts gives the same requests and the same refusal,
 *   - http-parser sees the same requests in what we accept (http_oracle.h).
 */
#include "base/buf.h"
#include "http/chunk.h"
#include "http/head.h"
#include "http_oracle.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BODY_MAX = 4096, TRANSCRIPT_MAX = 16 << 20 };
static const struct head_limits limits = {.line = 512, .headers = 2048};

enum stage { IN_HEAD, IN_BODY, IN_CHUNKS, ENDED };

/* A connection without sockets: what has arrived and what has been made of it. */
struct wire {
    struct str arrived; /* everything so far */
    size_t begin;       /* of the current request in it */
    size_t at;          /* of the first byte not yet used */
    enum stage stage;
    struct head_scan scan;
    struct http_head head;
    size_t head_length;
    struct chunk_reader chunks;
    struct buf body;
    struct buf transcript;
    struct str all; /* with the oracle: the input, of which `arrived` is a part; otherwise empty */
};

static void end(struct wire *wire, const char *why)
{
    buf_add_format(&wire->transcript, "ended: %s\n", why);
    wire->stage = ENDED;
}

static void end_refused(struct wire *wire, enum error error)
{
    struct str reason = error_row(error)->reason;
    buf_add_format(&wire->transcript, "refused: %.*s\n", STR_ARG(reason));
    wire->stage = ENDED;
}

static void ask_oracle(const struct wire *wire)
{
    const struct http_head *head = &wire->head;
    struct oracle_request request = {
        .method = http_method_name(head->method),
        .path = head->path,
        .query = head->query,
        .minor = head->minor,
        .keep_alive = head->keep_alive,
        .body = buf_str(&wire->body),
        .length = wire->at - wire->begin,
        .header_count = head->header_count,
    };
    for (size_t i = 0; i < head->header_count; i++)
        request.headers[i] = (struct oracle_header){head->headers[i].name, head->headers[i].value};
    http_oracle_check(str_from_offset(wire->all, wire->begin), &request);
}

static void end_request(struct wire *wire)
{
    const struct http_head *head = &wire->head;
    buf_add_format(&wire->transcript, "request %d %.*s ? %.*s 1.%d %d%d%d to %zu\n", (int)head->method,
                   STR_ARG(head->path), STR_ARG(head->query), head->minor, head->keep_alive, head->expects_continue,
                   head->chunked, wire->at);
    for (size_t i = 0; i < head->header_count; i++)
        buf_add_format(&wire->transcript, "%.*s = %.*s\n", STR_ARG(head->headers[i].name),
                       STR_ARG(head->headers[i].value));
    buf_add(&wire->transcript, buf_str(&wire->body));
    if (wire->all.len)
        ask_oracle(wire);

    wire->begin = wire->at;
    wire->scan = (struct head_scan){0};
    wire->chunks = (struct chunk_reader){0};
    buf_clear(&wire->body);
    wire->stage = IN_HEAD;
    if (!head->keep_alive)
        end(wire, "close");
}

/* As a server does: the head is read again from the memory that holds all that has arrived by now. */
static void refresh_head(struct wire *wire)
{
    enum error error;
    if (!head_parse(str_make(wire->arrived.ptr + wire->begin, wire->head_length), &wire->head, &error))
        abort(); /* it was accepted before */
}

static bool step_head(struct wire *wire)
{
    enum error error;
    struct str bytes = str_from_offset(wire->arrived, wire->begin);
    enum head_outcome outcome = head_scan(&wire->scan, bytes, &limits, &wire->head_length, &error);
    if (outcome == HEAD_MORE)
        return false;
    if (outcome == HEAD_REFUSED || !head_parse(str_first(bytes, wire->head_length), &wire->head, &error)) {
        end_refused(wire, error);
        return true;
    }
    wire->at = wire->begin + wire->head_length;
    if (wire->head.content_length > BODY_MAX)
        end_refused(wire, ERR_BODY_TOO_LARGE);
    else
        wire->stage = wire->head.chunked ? IN_CHUNKS : IN_BODY;
    return true;
}

static bool step_body(struct wire *wire)
{
    size_t missing = (size_t)wire->head.content_length - wire->body.len;
    struct str part = str_first(str_from_offset(wire->arrived, wire->at), missing);
    if (!buf_add(&wire->body, part))
        abort();
    wire->at += part.len;
    if (part.len < missing)
        return false;
    refresh_head(wire);
    end_request(wire);
    return true;
}

static bool step_chunks(struct wire *wire)
{
    enum error error;
    size_t taken;
    enum chunk_outcome outcome =
        chunk_read(&wire->chunks, str_from_offset(wire->arrived, wire->at), &wire->body, &taken, &error);
    wire->at += taken;
    if (outcome == CHUNK_MORE)
        return false;
    refresh_head(wire);
    if (outcome == CHUNK_COMPLETE)
        end_request(wire);
    else
        end_refused(wire, error);
    return true;
}

static void arrive(struct wire *wire, struct str arrived)
{
    wire->arrived = arrived;
    bool went_on = true;
    while (went_on && wire->stage != ENDED) {
        switch (wire->stage) {
        case IN_HEAD: went_on = step_head(wire); break;
        case IN_BODY: went_on = step_body(wire); break;
        default: went_on = step_chunks(wire); break;
        }
    }
}

/* Parts of 1 … largest bytes; each arrival is a copy of exactly its size, so that reading past it is seen. */
static struct buf read_parts(struct str input, uint64_t seed, size_t largest, bool with_oracle)
{
    struct wire wire = {.body.max = BODY_MAX, .transcript.max = TRANSCRIPT_MAX};
    if (with_oracle)
        wire.all = input;
    char *previous = NULL;
    for (size_t end_of_part = 0; end_of_part < input.len && wire.stage != ENDED;) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        end_of_part += 1 + (size_t)(seed >> 33) % largest;
        if (end_of_part > input.len || largest == input.len)
            end_of_part = input.len;
        char *copy = malloc(end_of_part);
        if (!copy)
            abort();
        memcpy(copy, input.ptr, end_of_part);
        arrive(&wire, str_make(copy, end_of_part));
        free(previous);
        previous = copy;
    }
    free(previous);
    buf_free(&wire.body);
    return wire.transcript;
}

static void compare_parts(struct str input, uint64_t seed, size_t largest, const struct buf *whole)
{
    struct buf parts = read_parts(input, seed, largest, false);
    if (!str_eq(buf_str(&parts), buf_str(whole))) {
        fprintf(stderr, "splitting changed\n%.*s\nto\n%.*s\n", STR_ARG(buf_str(whole)), STR_ARG(buf_str(&parts)));
        abort();
    }
    buf_free(&parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str input = str_make((const char *)data, size);
    if (size == 0 || size > 8192)
        return 0;
    struct buf whole = read_parts(input, 0, input.len, true);
    uint64_t seed = str_hash(input);
    if (size <= 512)
        compare_parts(input, seed, 1, &whole);
    compare_parts(input, seed, 7, &whole);
    compare_parts(input, seed, size / 2 + 1, &whole);
    buf_free(&whole);
    return 0;
}
