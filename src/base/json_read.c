#include "base/json_read.h"

#include "base/json_scan.h"

#include <assert.h>

enum { FIRST_KEYS = 8 };

/* Where a value stands: a member of the object that `outer` is, or an item. */
struct place {
    const struct place *outer;
    const char *name; /* NULL for an item */
    size_t index;
};

struct reader {
    struct json_scan scan;
    struct json_problem *problem;
    size_t values;
    int depth;

    /* Unknown keys of the objects that are open, the innermost last, to see
     * duplicates. Begins in `first` and moves to the arena when it grows. */
    struct str *keys;
    size_t key_count, key_size;
    struct str first[FIRST_KEYS];
};

static bool read_object(struct reader *reader, const struct json_descriptor *descriptor, void *out,
                        const struct place *place);
static bool skip_value(struct reader *reader);

static bool refuse_json(struct reader *reader, const char *problem)
{
    reader->scan.problem = problem;
    return false;
}

static struct str place_path(struct reader *reader, const struct place *place)
{
    if (!place)
        return STR("");
    struct arena *arena = reader->scan.arena;
    struct str outer = place_path(reader, place->outer);
    if (!place->name)
        return arena_format(arena, "%.*s[%zu]", STR_ARG(outer), place->index);
    return outer.len ? arena_format(arena, "%.*s.%s", STR_ARG(outer), place->name) : str_from(place->name);
}

/* The JSON is fine so far, but not what the table wants at `place`. */
static bool refuse_field(struct reader *reader, const struct place *place, struct str what)
{
    struct str path = place_path(reader, place);
    reader->problem->field = path;
    reader->problem->message = arena_format(reader->scan.arena, "%.*s %.*s.", STR_ARG(path), STR_ARG(what));
    return false;
}

static struct str describe_range(struct arena *arena, const struct json_field *field)
{
    if (field->min == 0 && field->max == 0)
        return STR("");
    return arena_format(arena, " from %lld to %lld", (long long)field->min, (long long)field->max);
}

static struct str describe_bytes(struct arena *arena, const struct json_field *field)
{
    if (field->min == 0)
        return arena_format(arena, "of at most %lld bytes", (long long)field->max);
    if (field->min == field->max)
        return arena_format(arena, "of %lld bytes", (long long)field->max);
    return arena_format(arena, "of %lld to %lld bytes", (long long)field->min, (long long)field->max);
}

static struct str describe_count(struct arena *arena, const struct json_field *field, const char *items)
{
    if (field->min_items == 0)
        return arena_format(arena, "must be an array of at most %zu %s", field->max_items, items);
    return arena_format(arena, "must be an array of %zu to %zu %s", field->min_items, field->max_items, items);
}

static bool refuse_wrong(struct reader *reader, const struct json_field *field, const struct place *place)
{
    struct arena *arena = reader->scan.arena;
    bool item = !place->name;
    struct str what;
    if (field->type == JSON_STRING || (item && field->type == JSON_STRINGS))
        what = arena_format(arena, "must be a string %.*s", STR_ARG(describe_bytes(arena, field)));
    else if (field->type == JSON_INT || (item && field->type == JSON_INTS))
        what = arena_format(arena, "must be an integer%.*s", STR_ARG(describe_range(arena, field)));
    else if (field->type == JSON_BOOL)
        what = STR("must be true or false");
    else if (field->type == JSON_OBJECT || (item && field->type == JSON_OBJECTS))
        what = STR("must be an object");
    else
        what = describe_count(arena, field,
                              field->type == JSON_STRINGS ? "strings"
                              : field->type == JSON_INTS  ? "integers"
                                                          : "objects");
    return refuse_field(reader, place, what);
}

static bool read_string(struct reader *reader, const struct json_field *field, struct str *out,
                        const struct place *place)
{
    assert(field->max > 0);
    if (json_scan_kind(&reader->scan) != JSON_IS_STRING)
        return refuse_wrong(reader, field, place);
    struct str text;
    if (!json_scan_string(&reader->scan, &text))
        return false;
    if ((int64_t)text.len < field->min || (int64_t)text.len > field->max)
        return refuse_wrong(reader, field, place);
    *out = text;
    return true;
}

static bool read_int(struct reader *reader, const struct json_field *field, int64_t *out, const struct place *place)
{
    bool whole;
    int64_t value = 0;
    if (json_scan_kind(&reader->scan) != JSON_IS_NUMBER)
        return refuse_wrong(reader, field, place);
    if (!json_scan_number(&reader->scan, &whole, &value))
        return false;
    bool limited = field->min != 0 || field->max != 0;
    if (!whole || (limited && (value < field->min || value > field->max)))
        return refuse_wrong(reader, field, place);
    *out = value;
    return true;
}

static bool read_bool(struct reader *reader, const struct json_field *field, bool *out, const struct place *place)
{
    enum json_kind kind = json_scan_kind(&reader->scan);
    if (kind != JSON_IS_TRUE && kind != JSON_IS_FALSE)
        return refuse_wrong(reader, field, place);
    if (!json_scan_word(&reader->scan, kind == JSON_IS_TRUE ? STR("true") : STR("false")))
        return false;
    *out = kind == JSON_IS_TRUE;
    return true;
}

static bool count_value(struct reader *reader)
{
    if (++reader->values > JSON_MAX_VALUES)
        return refuse_json(reader, "there are too many values");
    return true;
}

static bool enter(struct reader *reader)
{
    if (++reader->depth > JSON_MAX_DEPTH)
        return refuse_json(reader, "the nesting is too deep");
    reader->scan.at++;
    return true;
}

static size_t item_size(const struct json_field *field)
{
    switch (field->type) {
    case JSON_STRINGS: return sizeof(struct str);
    case JSON_INTS: return sizeof(int64_t);
    default: return field->inner->size;
    }
}

static bool read_item(struct reader *reader, const struct json_field *field, void *out, const struct place *place)
{
    json_scan_space(&reader->scan);
    if (!count_value(reader))
        return false;
    switch (field->type) {
    case JSON_STRINGS: return read_string(reader, field, out, place);
    case JSON_INTS: return read_int(reader, field, out, place);
    default:
        if (json_scan_kind(&reader->scan) != JSON_IS_OBJECT)
            return refuse_wrong(reader, field, place);
        return read_object(reader, field->inner, out, place);
    }
}

/* All arrays look alike: a pointer to items and their count. The items double
 * their room in the arena, as far as max_items lets them. */
static bool read_array(struct reader *reader, const struct json_field *field, void *out, const struct place *place)
{
    if (json_scan_kind(&reader->scan) != JSON_IS_ARRAY)
        return refuse_wrong(reader, field, place);
    if (!enter(reader))
        return false;
    size_t size = item_size(field), count = 0, room = 0;
    char *items = NULL;
    bool more = !json_scan_take(&reader->scan, ']');
    while (more) {
        if (count == field->max_items)
            return refuse_wrong(reader, field, place);
        if (count == room) {
            room = room ? room * 2 : 4;
            char *larger = arena_alloc_array(reader->scan.arena, room, size);
            if (count)
                memcpy(larger, items, count * size);
            items = larger;
        }
        struct place item = {.outer = place, .index = count};
        if (!read_item(reader, field, items + count * size, &item))
            return false;
        count++;
        more = json_scan_take(&reader->scan, ',');
        if (!more && !json_scan_take(&reader->scan, ']'))
            return refuse_json(reader, "a comma or ] is expected");
    }
    reader->depth--;
    if (count < field->min_items)
        return refuse_wrong(reader, field, place);
    struct json_objects array = {.items = items, .count = count};
    _Static_assert(sizeof(array) == sizeof(struct json_ints) && sizeof(array) == sizeof(struct json_strings),
                   "arrays of all types look alike");
    memcpy(out, &array, sizeof(array));
    return true;
}

static bool read_member(struct reader *reader, const struct json_field *field, void *member, const struct place *place)
{
    switch (field->type) {
    case JSON_STRING: return read_string(reader, field, member, place);
    case JSON_INT: return read_int(reader, field, member, place);
    case JSON_BOOL: return read_bool(reader, field, member, place);
    case JSON_OBJECT:
        if (json_scan_kind(&reader->scan) != JSON_IS_OBJECT)
            return refuse_wrong(reader, field, place);
        return read_object(reader, field->inner, member, place);
    default: return read_array(reader, field, member, place);
    }
}

static bool read_field(struct reader *reader, const struct json_field *field, void *out, const struct place *outer)
{
    struct place place = {.outer = outer, .name = field->name};
    if (!count_value(reader))
        return false;
    if (json_scan_kind(&reader->scan) == JSON_IS_NULL && !field->required)
        return json_scan_word(&reader->scan, STR("null"));
    if (!read_member(reader, field, (char *)out + field->offset, &place))
        return false;
    if (field->present)
        *(bool *)((char *)out + field->present - 1) = true;
    return true;
}

/* Remembers an unknown key of the object whose keys begin at `base`. */
static bool add_key(struct reader *reader, size_t base, struct str key)
{
    for (size_t i = base; i < reader->key_count; i++)
        if (str_eq(reader->keys[i], key))
            return refuse_json(reader, "the same key came before");
    if (reader->key_count - base == JSON_MAX_UNKNOWN)
        return refuse_json(reader, "the object has too many members");
    if (reader->key_count == reader->key_size) {
        struct str *larger = ARENA_NEW_ARRAY(reader->scan.arena, struct str, reader->key_size * 2);
        memcpy(larger, reader->keys, reader->key_count * sizeof(*larger));
        reader->keys = larger;
        reader->key_size *= 2;
    }
    reader->keys[reader->key_count++] = key;
    return true;
}

static bool name_is(const char *name, struct str key)
{
    return name && strncmp(name, key.ptr, key.len) == 0 && name[key.len] == '\0';
}

static const struct json_field *find_field(const struct json_descriptor *descriptor, struct str key)
{
    for (size_t i = 0; i < descriptor->count; i++)
        if (name_is(descriptor->fields[i].name, key) || name_is(descriptor->fields[i].alias, key))
            return &descriptor->fields[i];
    return NULL;
}

/* The key and the colon; leaves the scan at the value. */
static bool read_key(struct reader *reader, struct str *key)
{
    json_scan_space(&reader->scan);
    if (json_scan_kind(&reader->scan) != JSON_IS_STRING)
        return refuse_json(reader, "a key in quotes is expected");
    if (!json_scan_string(&reader->scan, key))
        return false;
    if (!json_scan_take(&reader->scan, ':'))
        return refuse_json(reader, "a colon is expected");
    json_scan_space(&reader->scan);
    return true;
}

static bool check_required(struct reader *reader, const struct json_descriptor *descriptor, uint64_t seen,
                           const struct place *outer)
{
    for (size_t i = 0; i < descriptor->count; i++)
        if (descriptor->fields[i].required && !(seen >> i & 1)) {
            struct place place = {.outer = outer, .name = descriptor->fields[i].name};
            return refuse_field(reader, &place, STR("is missing"));
        }
    return true;
}

/* At the opening brace. An object that nobody wants has the empty table. */
static bool read_object(struct reader *reader, const struct json_descriptor *descriptor, void *out,
                        const struct place *place)
{
    assert(descriptor->count <= JSON_MAX_FIELDS);
    if (!enter(reader))
        return false;
    uint64_t seen = 0;
    size_t base = reader->key_count;
    bool more = !json_scan_take(&reader->scan, '}');
    while (more) {
        struct str key;
        if (!read_key(reader, &key))
            return false;
        const struct json_field *field = find_field(descriptor, key);
        if (field) {
            uint64_t bit = UINT64_C(1) << (field - descriptor->fields);
            struct place twice = {.outer = place, .name = field->name};
            if (seen & bit)
                return refuse_field(reader, &twice, STR("is given twice"));
            seen |= bit;
            if (!read_field(reader, field, out, place))
                return false;
        } else if (!add_key(reader, base, key) || !count_value(reader) || !skip_value(reader)) {
            return false;
        }
        more = json_scan_take(&reader->scan, ',');
        if (!more && !json_scan_take(&reader->scan, '}'))
            return refuse_json(reader, "a comma or } is expected");
    }
    reader->key_count = base;
    reader->depth--;
    return check_required(reader, descriptor, seen, place);
}

static bool skip_array(struct reader *reader)
{
    if (!enter(reader))
        return false;
    bool more = !json_scan_take(&reader->scan, ']');
    while (more) {
        json_scan_space(&reader->scan);
        if (!count_value(reader) || !skip_value(reader))
            return false;
        more = json_scan_take(&reader->scan, ',');
        if (!more && !json_scan_take(&reader->scan, ']'))
            return refuse_json(reader, "a comma or ] is expected");
    }
    reader->depth--;
    return true;
}

static bool skip_value(struct reader *reader)
{
    static const struct json_descriptor nothing = {0};
    bool whole;
    int64_t value;
    switch (json_scan_kind(&reader->scan)) {
    case JSON_IS_STRING: return json_scan_skip_string(&reader->scan);
    case JSON_IS_NUMBER: return json_scan_number(&reader->scan, &whole, &value);
    case JSON_IS_TRUE: return json_scan_word(&reader->scan, STR("true"));
    case JSON_IS_FALSE: return json_scan_word(&reader->scan, STR("false"));
    case JSON_IS_NULL: return json_scan_word(&reader->scan, STR("null"));
    case JSON_IS_OBJECT: return read_object(reader, &nothing, NULL, NULL);
    case JSON_IS_ARRAY: return skip_array(reader);
    case JSON_IS_NOTHING: break;
    }
    return refuse_json(reader, "a value is expected");
}

static bool read_document(struct reader *reader, const struct json_descriptor *descriptor, void *out)
{
    json_scan_space(&reader->scan);
    if (json_scan_kind(&reader->scan) != JSON_IS_OBJECT)
        return refuse_json(reader, "an object is expected");
    if (!read_object(reader, descriptor, out, NULL))
        return false;
    json_scan_space(&reader->scan);
    if (reader->scan.at != reader->scan.end)
        return refuse_json(reader, "nothing more is expected");
    return true;
}

bool json_read(struct str body, const struct json_descriptor *descriptor, void *out, struct arena *arena,
               struct json_problem *problem)
{
    struct reader reader = {
        .scan = {.start = body.ptr, .at = body.ptr, .end = body.ptr + body.len, .arena = arena},
        .problem = problem,
        .key_size = FIRST_KEYS,
    };
    reader.keys = reader.first;
    if (read_document(&reader, descriptor, out))
        return true;
    if (reader.scan.problem) {
        problem->field = STR("");
        problem->message = arena_format(arena, "The body is not JSON that can be read: %s at byte %zu.",
                                        reader.scan.problem, (size_t)(reader.scan.at - reader.scan.start));
    }
    return false;
}
