#include "history/history_format.h"

#include "base/json_write.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { GATHER_BYTES = 64 * 1024, GATHER_MAX = GATHER_BYTES + HISTORY_LINE_MAX };

struct history_writer {
    pthread_mutex_t lock;
    int file;
    int error; /* errno of the first write that failed; nothing is written after it */
    uint64_t count;
    struct buf gathered;
};

static void member_text(struct json_writer *json, const char *name, struct str text)
{
    if (text.ptr)
        json_member_string(json, name, text);
}

static void member_number(struct json_writer *json, const char *name, int64_t number)
{
    if (number >= 0)
        json_member_int(json, name, number);
}

static void write_header(struct buf *out, const struct history_header *header)
{
    struct json_writer json = json_write_to(out);
    json_begin_object(&json);
    json_member_string(&json, "tickettock", STR("history"));
    json_member_int(&json, "version", HISTORY_VERSION);
    member_text(&json, "scheduleId", header->schedule);
    member_number(&json, "seats", header->seats);
    member_number(&json, "started", header->started);
    member_number(&json, "servers", header->servers);
    member_text(&json, "taken", header->taken);
    member_text(&json, "duplicatePolicy", header->duplicate_policy);
    member_number(&json, "duplicateTtlMs", header->duplicate_ttl_ms);
    member_number(&json, "mapLagMs", header->map_lag_ms);
    json_end_object(&json);
    buf_add_char(out, '\n');
}

static void write_op(struct buf *out, const struct history_op *op)
{
    struct json_writer json = json_write_to(out);
    json_begin_object(&json);
    json_member_string(&json, "op", str_from(history_kind_name(op->kind)));
    member_text(&json, "user", op->user);
    member_text(&json, "address", op->address);
    json_member_int(&json, "start", op->start);
    json_key(&json, "end");
    if (op->end == HISTORY_NO_ANSWER)
        json_null(&json);
    else
        json_int(&json, op->end);
    json_key(&json, "status");
    if (op->status)
        json_int(&json, op->status);
    else
        json_null(&json);
    member_text(&json, "reason", op->reason);
    member_text(&json, "owner", op->owner);
    member_number(&json, "seat", op->seat);
    member_number(&json, "seq", op->sequence);
    member_number(&json, "remaining", op->remaining);
    member_number(&json, "server", op->server);
    member_number(&json, "generation", op->generation);
    member_number(&json, "version", op->version);
    member_text(&json, "taken", op->taken);
    json_end_object(&json);
    buf_add_char(out, '\n');
}

static void write_out(struct history_writer *writer)
{
    size_t done = 0;
    if (writer->gathered.failed && !writer->error)
        writer->error = ENOMEM;
    while (done < writer->gathered.len && !writer->error) {
        ssize_t written = write(writer->file, writer->gathered.data + done, writer->gathered.len - done);
        if (written >= 0)
            done += (size_t)written;
        else if (errno != EINTR)
            writer->error = errno;
    }
    buf_clear(&writer->gathered);
}

static void free_writer(struct history_writer *writer)
{
    pthread_mutex_destroy(&writer->lock);
    buf_free(&writer->gathered);
    free(writer);
}

struct history_writer *history_writer_create(const char *path, const struct history_header *header)
{
    struct history_writer *writer = calloc(1, sizeof(*writer));
    if (!writer)
        return NULL;
    pthread_mutex_init(&writer->lock, NULL);
    buf_init(&writer->gathered, GATHER_MAX);
    writer->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (writer->file < 0) {
        log_error("cannot write the history", LOG_C("path", path), LOG_C("reason", strerror(errno)));
        free_writer(writer);
        return NULL;
    }
    write_header(&writer->gathered, header);
    write_out(writer);
    return writer;
}

void history_append(struct history_writer *writer, const struct history_op *op)
{
    pthread_mutex_lock(&writer->lock);
    write_op(&writer->gathered, op);
    writer->count++;
    if (writer->gathered.len >= GATHER_BYTES || writer->gathered.failed)
        write_out(writer);
    pthread_mutex_unlock(&writer->lock);
}

void history_writer_flush(struct history_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    write_out(writer);
    pthread_mutex_unlock(&writer->lock);
}

bool history_writer_close(struct history_writer *writer)
{
    buf_add_format(&writer->gathered, "{\"op\":\"end\",\"count\":%llu}\n", (unsigned long long)writer->count);
    write_out(writer);
    if (close(writer->file) != 0 && !writer->error)
        writer->error = errno;
    int error = writer->error;
    free_writer(writer);
    if (error)
        log_error("the history is incomplete", LOG_C("reason", strerror(error)));
    return error == 0;
}
