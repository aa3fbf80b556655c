/* Whatever our reader accepts, jansson accepts too and reads the same from it;
 * and what we write of a string that was read is read as the same string. */
#include "base/json_read.h"
#include "base/json_write.h"
#include "json_oracle.h"

#include <stdlib.h>

struct inner {
    struct str s;
};

struct probe {
    struct str s;
    int64_t i;
    bool has_i;
    bool b;
    struct json_ints n;
    struct json_strings t;
    struct inner o;
    struct json_objects l;
};

static const struct json_field inner_fields[] = {JSON_FIELD(struct inner, s, "s", .required = true, .max = 64)};
static const struct json_descriptor inner_descriptor = JSON_DESCRIPTOR(struct inner, inner_fields);
static const struct json_field probe_fields[] = {
    JSON_FIELD(struct probe, s, "s", .alias = "S", .max = 4096),
    JSON_FIELD(struct probe, i, "i", .present = JSON_PRESENT(struct probe, has_i)),
    JSON_FIELD(struct probe, b, "b"),
    JSON_FIELD(struct probe, n, "n", .max_items = 100),
    JSON_FIELD(struct probe, t, "t", .max_items = 10, .max = 64),
    JSON_FIELD_OBJECT(struct probe, o, "o", &inner_descriptor),
    JSON_FIELD_OBJECTS(struct probe, l, "l", &inner_descriptor, .max_items = 10),
};
static const struct json_descriptor probe_descriptor = JSON_DESCRIPTOR(struct probe, probe_fields);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void compare(const struct probe *probe, struct str body)
{
    struct json_oracle *oracle = json_oracle_open(body.ptr, body.len);
    must(oracle != NULL);

    const char *text;
    size_t len, count;
    int64_t value;
    bool has_s = json_oracle_string(oracle, "s", &text, &len) || json_oracle_string(oracle, "S", &text, &len);
    must(has_s == (probe->s.ptr != NULL));
    must(!has_s || str_eq(probe->s, str_make(text, len)));

    must(json_oracle_int(oracle, "i", &value) == probe->has_i);
    must(!probe->has_i || value == probe->i);

    if (json_oracle_count(oracle, "n", &count)) {
        must(count == probe->n.count);
        for (size_t i = 0; i < count; i++)
            must(json_oracle_item(oracle, "n", i, &value) && value == probe->n.items[i]);
    }
    json_oracle_close(oracle);
}

static void write_and_read_again(struct str text, struct arena *arena)
{
    struct buf out = BUF_INIT(1 << 20);
    struct json_writer w = json_write_to(&out);
    json_begin_object(&w);
    json_member_string(&w, "s", text);
    json_end_object(&w);
    struct probe again = {0};
    struct json_problem problem;
    must(json_read(buf_str(&out), &probe_descriptor, &again, arena, &problem) && str_eq(again.s, text));
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    arena_init(&arena, 1 << 24);
    struct str body = str_make((const char *)data, size);
    struct probe probe = {0};
    struct json_problem problem = {0};
    if (json_read(body, &probe_descriptor, &probe, &arena, &problem)) {
        compare(&probe, body);
        if (probe.s.ptr)
            write_and_read_again(probe.s, &arena);
    } else {
        must(problem.message.len > 0 && str_is_utf8(problem.message));
    }
    arena_free(&arena);
    return 0;
}
