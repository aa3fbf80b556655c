/* Values between our form and PostgreSQL's text form; bytes travel in binary. */
#include "db/postgres_connection.h"

/* From PostgreSQL's catalog (pg_type), where they never change. */
enum { OID_ANY = 0, OID_BOOL = 16, OID_BYTEA = 17, OID_INT8 = 20, OID_INT8_ARRAY = 1016, OID_UUID = 2950 };

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

static size_t put_int(char *out, int64_t number)
{
    size_t sign = number < 0;
    out[0] = '-';
    return sign + format_uint(out + sign, sign ? 0 - (uint64_t)number : (uint64_t)number);
}

/* {1,-2,3} */
static const char *ints_text(struct arena *arena, const int64_t *numbers, size_t count)
{
    char *text = arena_bytes(arena, count * 21 + 3), *at = text;
    *at++ = '{';
    for (size_t i = 0; i < count; i++) {
        if (i)
            *at++ = ',';
        at += put_int(at, numbers[i]);
    }
    *at++ = '}';
    *at = '\0';
    return text;
}

static char *put_quoted(char *at, struct str text)
{
    *at++ = '"';
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"' || text.ptr[i] == '\\')
            *at++ = '\\';
        *at++ = text.ptr[i];
    }
    *at++ = '"';
    return at;
}

/* {"one","a \"quoted\" one",NULL} */
static const char *texts_text(struct arena *arena, const struct str *texts, size_t count)
{
    size_t size = 3;
    for (size_t i = 0; i < count; i++)
        size += 2 * texts[i].len + sizeof("NULL,");
    char *text = arena_bytes(arena, size), *at = text;
    *at++ = '{';
    for (size_t i = 0; i < count; i++) {
        if (i)
            *at++ = ',';
        if (texts[i].ptr) {
            at = put_quoted(at, texts[i]);
        } else {
            memcpy(at, "NULL", 4);
            at += 4;
        }
    }
    *at++ = '}';
    *at = '\0';
    return text;
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
    case DB_TYPE_INTS:
        out->types[i] = OID_INT8_ARRAY;
        out->values[i] = ints_text(arena, value->array.items, value->array.count);
        break;
    case DB_TYPE_TEXTS:
        out->types[i] = OID_ANY;
        out->values[i] = texts_text(arena, value->array.items, value->array.count);
        break;
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
