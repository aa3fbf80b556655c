/*
 * Reads a JSON object into a struct by a table of the fields that are wanted:
 *
 *     struct claim_body { struct str user_name; struct str phone; int64_t count; bool has_count; };
 *
 *     static const struct json_field claim_fields[] = {
 *         JSON_FIELD(struct claim_body, user_name, "userName", .alias = "user_name", .max = 64),
 *         JSON_FIELD(struct claim_body, phone, "phone", .required = true, .min = 3, .max = 32),
 *         JSON_FIELD(struct claim_body, count, "count", .min = 1, .max = 4,
 *                    .present = JSON_PRESENT(struct claim_body, has_count)),
 *     };
 *     static const struct json_descriptor claim_descriptor = JSON_DESCRIPTOR(struct claim_body, claim_fields);
 *
 *     struct claim_body claim = {.count = 1};
 *     if (!json_read(body, &claim_descriptor, &claim, arena, &problem)) … answer 400 with problem.field, .message
 *
 * The type of the member says what JSON must bring: struct str, int64_t, bool,
 * struct json_strings, struct json_ints; JSON_FIELD_OBJECT and JSON_FIELD_OBJECTS
 * take further tables. A field that is absent (or null, unless required) leaves
 * its member as it was, so the initialiser holds the defaults; an absent struct
 * str that was {0} has ptr NULL, a present one never. `present` sets a bool.
 *
 * Fields that no table names are checked like all others and left out. Refused
 * are: anything but an object at the top, nesting beyond JSON_MAX_DEPTH, more
 * than JSON_MAX_VALUES values or JSON_MAX_UNKNOWN unwanted members in an object,
 * the same key twice (an alias counts as the same), U+0000, text that is not
 * UTF-8, lone surrogates, numbers out of range, anything behind the object.
 *
 * There is no tree: one pass over the body. Strings point into the body, those
 * with escapes and the arrays into the arena; both must live as long as the
 * struct. The size of the body is limited by the caller.
 */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include "base/arena.h"

enum {
    JSON_MAX_DEPTH = 16,
    JSON_MAX_VALUES = 10000,
    JSON_MAX_FIELDS = 64,   /* of one table */
    JSON_MAX_UNKNOWN = 128, /* keys of one object that its table does not name */
};

struct json_strings {
    struct str *items;
    size_t count;
};

struct json_ints {
    int64_t *items;
    size_t count;
};

/* items is an array of the struct that the inner table describes. */
struct json_objects {
    void *items;
    size_t count;
};

enum json_type { JSON_STRING, JSON_INT, JSON_BOOL, JSON_STRINGS, JSON_INTS, JSON_OBJECT, JSON_OBJECTS };

struct json_descriptor;

struct json_field {
    const char *name;
    const char *alias; /* another name for the same field; NULL for none */
    enum json_type type;
    size_t offset;  /* of the member */
    size_t present; /* JSON_PRESENT, or 0 */
    bool required;
    int64_t min, max; /* bytes of a string (max must be given), value of an integer (both 0: any); of each item */
    size_t min_items, max_items;         /* of an array; max_items must be given */
    const struct json_descriptor *inner; /* of an object or of each object in an array */
};

struct json_descriptor {
    const struct json_field *fields;
    size_t count;
    size_t size; /* of the struct */
};

#define JSON_FIELD(struct_type, member, json_name, ...)                                                                \
    {                                                                                                                  \
        .name = (json_name), .offset = offsetof(struct_type, member),                                                  \
        .type = _Generic(((struct_type){}).member, struct str                                                          \
                         : JSON_STRING, int64_t                                                                        \
                         : JSON_INT, bool                                                                              \
                         : JSON_BOOL, struct json_strings                                                              \
                         : JSON_STRINGS, struct json_ints                                                              \
                         : JSON_INTS),                                                                                 \
        __VA_ARGS__                                                                                                    \
    }
#define JSON_FIELD_OBJECT(struct_type, member, json_name, descriptor, ...)                                             \
    {                                                                                                                  \
        .name = (json_name), .offset = offsetof(struct_type, member), .type = JSON_OBJECT, .inner = (descriptor),      \
        __VA_ARGS__                                                                                                    \
    }
#define JSON_FIELD_OBJECTS(struct_type, member, json_name, descriptor, ...)                                            \
    {                                                                                                                  \
        .name = (json_name), .offset = offsetof(struct_type, member),                                                  \
        .type = _Generic(((struct_type){}).member, struct json_objects                                                 \
                         : JSON_OBJECTS),                                                                              \
        .inner = (descriptor), __VA_ARGS__                                                                             \
    }
/* One more than the offset, so that 0 can mean none. */
#define JSON_PRESENT(struct_type, member) (offsetof(struct_type, member) + 1)
#define JSON_DESCRIPTOR(struct_type, table)                                                                            \
    {                                                                                                                  \
        .fields = (table), .count = sizeof(table) / sizeof((table)[0]), .size = sizeof(struct_type)                    \
    }

struct json_problem {
    struct str field;   /* "phone", "tickets[2].price"; empty when the text is no JSON */
    struct str message; /* "phone must be a string of 3 to 32 bytes." */
};

/* False with *problem set, in the arena; *out may then be filled in part. */
__attribute__((warn_unused_result)) bool json_read(struct str body, const struct json_descriptor *descriptor, void *out,
                                                   struct arena *arena, struct json_problem *problem);

#endif
