/* Values between our form and PostgreSQL's text form; bytes and arrays travel in binary. */
#include "db/postgres_connection.h"

#include <endian.h>

/* From PostgreSQL's catalog (pg_type), where they never change. */
enum {
    OID_ANY = 0,
    OID_BOOL = 16,
    OID_BYTEA = 17,
    OID_INT8 = 20,
    OID_TEXT = 25,
    OID_TEXT_ARRAY = 1009,
    OID_INT8_ARRAY = 1016,
    OID_UUID = 2950,
};

static const char *int_text(struct arena *arena, int64_t number)
{
    return arena_format(arena, "%lld", (long long)number).ptr; /* ends with NUL */
}

static const char *uuid_text(struct arena *arena, struct uuid uuid)
{
    char text[UUID_TEXT];
    uuid_format(uuid, text);
    return arena_c_string(arena, str_make(text, UUID_TEXT));
}

/* An array in binary form, which the server reads in half the time: its dimensions, the type of its elements, then each
 * with its length before it. */
enum { ARRAY_HEAD = 5 * 4, ELEMENT_HEAD = 4 };

static char *put_int32(char *at, int32_t number)
{
    uint32_t bytes = htobe32((uint32_t)number);
    memcpy(at, &bytes, sizeof(bytes));
    return at + sizeof(bytes);
}

static char *put_array_head(char *at, int element_type, size_t count, bool has_null)
{
    at = put_int32(at, count > 0); /* dimensions */
    at = put_int32(at, has_null);
    at = put_int32(at, element_type);
    at = put_int32(at, (int32_t)count);
    return put_int32(at, 1); /* the first index */
}

static void set_array(struct postgres_params *out, int i, const char *bytes, size_t count, const char *end)
{
    out->values[i] = bytes;
    out->lengths[i] = (int)(count ? end - bytes : ARRAY_HEAD - 2 * 4); /* an empty one has no dimension to describe */
    out->formats[i] = 1;
}

static void make_ints(struct postgres_params *out, int i, struct arena *arena, const int64_t *numbers, size_t count)
{
    char *bytes = arena_bytes(arena, ARRAY_HEAD + count * (ELEMENT_HEAD + sizeof(int64_t)));
    char *at = put_array_head(bytes, OID_INT8, count, false);
    for (size_t n = 0; n < count; n++) {
        uint64_t number = htobe64((uint64_t)numbers[n]);
        at = put_int32(at, sizeof(number));
        memcpy(at, &number, sizeof(number));
        at += sizeof(number);
    }
    out->types[i] = OID_INT8_ARRAY;
    set_array(out, i, bytes, count, at);
}

static void make_texts(struct postgres_params *out, int i, struct arena *arena, const struct str *texts, size_t count)
{
    size_t size = ARRAY_HEAD;
    bool has_null = false;
    for (size_t n = 0; n < count; n++) {
        size += ELEMENT_HEAD + texts[n].len;
        has_null |= !texts[n].ptr;
    }
    char *bytes = arena_bytes(arena, size);
    char *at = put_array_head(bytes, OID_TEXT, count, has_null);
    for (size_t n = 0; n < count; n++)
        at = texts[n].ptr ? str_put(put_int32(at, (int32_t)texts[n].len), texts[n]) : put_int32(at, -1);
    out->types[i] = OID_TEXT_ARRAY;
    set_array(out, i, bytes, count, at);
}

/* A text's type is left open, so that it can stand for a time or an enum as well. */
static void make(struct postgres_params *out, int i, struct arena *arena, const struct db_value *value)
{
    out->lengths[i] = 0;
    out->formats[i] = 0;
    switch (value->type) {
    case DB_TYPE_NULL:
        out->types[i] = OID_ANY;
        out->values[i] = NULL;
        break;
    case DB_TYPE_INT:
        out->types[i] = OID_INT8;
        out->values[i] = int_text(arena, value->number);
        break;
    case DB_TYPE_BOOL:
        out->types[i] = OID_BOOL;
        out->values[i] = value->truth ? "t" : "f";
        break;
    case DB_TYPE_TEXT:
        out->types[i] = OID_ANY;
        out->values[i] = value->text.ptr ? arena_c_string(arena, value->text) : NULL;
        break;
    case DB_TYPE_BYTES:
        out->types[i] = OID_BYTEA;
        out->values[i] = value->text.ptr;
        out->lengths[i] = (int)value->text.len;
        out->formats[i] = 1;
        break;
    case DB_TYPE_UUID:
        out->types[i] = OID_UUID;
        out->values[i] = uuid_text(arena, value->uuid);
        break;
    case DB_TYPE_INTS: make_ints(out, i, arena, value->array.items, value->array.count); break;
    case DB_TYPE_TEXTS: make_texts(out, i, arena, value->array.items, value->array.count); break;
    }
}

void postgres_params_make(struct postgres_params *out, struct arena *arena, const struct db_value *params, size_t count)
{
    out->count = (int)count;
    for (size_t i = 0; i < count; i++)
        make(out, (int)i, arena, &params[i]);
}

static unsigned hex_digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

/* \x0aff…, as every server since 9.0 writes it */
static struct str bytes_from_hex(struct arena *arena, struct str hex)
{
    size_t length = hex.len >= 2 ? (hex.len - 2) / 2 : 0;
    char *bytes = arena_bytes(arena, length);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)(hex_digit(hex.ptr[2 + 2 * i]) << 4 | hex_digit(hex.ptr[3 + 2 * i]));
    return str_make(bytes, length);
}

struct db_value postgres_cell_of(struct arena *arena, const PGresult *result, int row, int column)
{
    if (PQgetisnull(result, row, column))
        return DB_NULL;
    struct str text = str_make(PQgetvalue(result, row, column), (size_t)PQgetlength(result, row, column));
    switch (PQftype(result, column)) {
    case OID_BOOL: return DB_BOOL(text.ptr[0] == 't');
    case OID_BYTEA: return DB_BYTES(bytes_from_hex(arena, text));
    default: return DB_TEXT(text);
    }
}
