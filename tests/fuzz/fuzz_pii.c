/*
 * Base64, keys in settings, and sealed values. For every input
 *   - base64 that is accepted is what would be written for its bytes, and bytes written are read back,
 *   - a value is opened only where it was sealed: the input as it comes is never opened, but what sealing the input
 *     makes is, until one of its bits is flipped.
 */
#include "base/base64.h"
#include "base/log.h"
#include "pii/pii.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void check_base64(struct arena *arena, enum base64_kind kind, struct str text)
{
    size_t size;
    char *bytes = arena_bytes(arena, base64_room(text.len) + 1);
    if (base64_read(kind, text, bytes, &size)) {
        char *again = arena_bytes(arena, text.len + 1);
        expect(size <= base64_room(text.len) && base64_length(kind, size) == text.len);
        base64_write(kind, bytes, size, again);
        expect(str_eq(str_make(again, text.len), text));
    }
    size_t length = base64_length(kind, text.len);
    char *written = arena_bytes(arena, length + 1), *back = arena_bytes(arena, base64_room(length) + 1);
    base64_write(kind, text.ptr, text.len, written);
    expect(base64_read(kind, str_make(written, length), back, &size) && str_eq(str_make(back, size), text));
}

static void check_sealed(const struct pii *pii, struct arena *arena, struct str text)
{
    struct pii_place place = {.table = "users", .column = "name", .row = text};
    struct str plain;
    if (text.len == 0)
        return;
    pii_key_of(text);
    expect(!pii_decrypt(pii, arena, place, text, &plain));
    struct str sealed = pii_encrypt(pii, arena, place, text);
    expect(pii_decrypt(pii, arena, place, sealed, &plain) && str_eq(plain, text));
    char *damaged = arena_bytes(arena, sealed.len);
    memcpy(damaged, sealed.ptr, sealed.len);
    size_t bit = (size_t)str_hash(text) % (sealed.len * 8);
    damaged[bit / 8] = (char)(damaged[bit / 8] ^ 1 << bit % 8);
    expect(!pii_decrypt(pii, arena, place, str_make(damaged, sealed.len), &plain));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pii *pii;
    if (!pii) {
        log_setup(LOG_OFF, LOG_TEXT);
        pii = pii_open(&(struct pii_settings){.keys = STR("1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
                                              .hash_key = STR("AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")});
    }
    struct arena arena;
    struct buf problems = BUF_INIT(65536);
    arena_init(&arena, 64 * size + 65536);
    char *exact = malloc(size ? size : 1);
    expect(exact && pii);
    memcpy(exact, data, size);
    struct str text = str_make(exact, size);
    check_base64(&arena, BASE64_STANDARD, text);
    check_base64(&arena, BASE64_URL, text);
    check_sealed(pii, &arena, text);
    expect(pii_check_keys(text, STR(""), &problems) == (problems.len == 0));
    free(exact);
    buf_free(&problems);
    arena_free(&arena);
    return 0;
}
