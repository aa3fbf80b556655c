#include "base/log.h"
#include "pii/cipher.h"
#include "pii/pii.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define KEY_A "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define KEY_B "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define KEY_C "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define HASH_KEY "AwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

static struct arena arena;
static struct pii *pii;
static const struct pii_place here = {.table = "users", .column = "email", .row = STR_INIT("7")};
static const struct str email = STR_INIT("someone@example.com");

static struct pii *open_with(const char *keys)
{
    struct pii *opened = pii_open(&(struct pii_settings){.keys = str_from(keys), .hash_key = STR(HASH_KEY)});
    assert_non_null(opened);
    return opened;
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    pii = open_with("1:" KEY_A);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pii_close(pii);
    arena_free(&arena);
    return 0;
}

static size_t from_hex(const char *hex, uint8_t *out)
{
    size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size; i++)
        assert_int_equal(sscanf(hex + 2 * i, "%2hhx", &out[i]), 1);
    return size;
}

/* Test cases 13 to 16 of the GCM specification submitted to NIST; the last ones are those with AES-256 and 96 bits. */
static void test_known_ciphertexts(void **state)
{
    (void)state;
    static const struct {
        const char *key, *nonce, *plain, *bound, *sealed;
    } cases[] = {
        {"0000000000000000000000000000000000000000000000000000000000000000", "000000000000000000000000", "", "",
         "530f8afbc74536b9a963b4f1c4cb738b"},
        {"0000000000000000000000000000000000000000000000000000000000000000", "000000000000000000000000",
         "00000000000000000000000000000000", "", "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"},
        {"feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
         "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0d"
         "e657ba637b39",
         "feedfacedeadbeeffeedfacedeadbeefabaddad2",
         "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba"
         "7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t key[32], nonce[12], plain[64], bound[32], expected[80], out[80], back[64];
        from_hex(cases[i].key, key);
        from_hex(cases[i].nonce, nonce);
        struct str text = str_make((char *)plain, from_hex(cases[i].plain, plain));
        struct str binding = str_make((char *)bound, from_hex(cases[i].bound, bound));
        size_t size = from_hex(cases[i].sealed, expected);
        struct cipher cipher;
        cipher_set_key(&cipher, key);
        for (int again = 0; again < 2; again++) { /* a used key does the same */
            cipher_seal(&cipher, nonce, binding, text, out);
            assert_memory_equal(out, expected, size);
            assert_true(cipher_open(&cipher, nonce, binding, str_make((char *)out, size), back));
            assert_memory_equal(back, plain, text.len);
            out[0] ^= 1;
            assert_false(cipher_open(&cipher, nonce, binding, str_make((char *)out, size), back));
        }
    }
}

/* RFC 4231, test case 1. */
static void test_known_hash(void **state)
{
    (void)state;
    uint8_t key[20], expected[HASH_BYTES], out[HASH_BYTES];
    struct hash hash;
    memset(key, 0x0b, sizeof(key));
    from_hex("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7", expected);
    hash_set_key(&hash, key, sizeof(key));
    for (int again = 0; again < 3; again++) {
        hash_run(&hash, STR("Hi "), STR("There"), out);
        assert_memory_equal(out, expected, sizeof(out));
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    static const struct str values[] = {STR_INIT("a"), STR_INIT("홍길동"), STR_INIT("+821012345678"),
                                        STR_INIT("with\0zero")};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct str back, sealed = pii_encrypt(pii, &arena, here, values[i]);
        assert_true(str_starts(sealed, STR("$1$")));
        assert_false(values[i].len > 4 && str_contains(sealed, values[i]));
        for (size_t at = 0; at < sealed.len; at++)
            assert_in_range(sealed.ptr[at], '!', '~');
        assert_true(pii_decrypt(pii, &arena, here, sealed, &back));
        assert_str_equal(back, values[i]);
    }
    struct str big = str_make(arena_alloc(&arena, 100000), 100000), back;
    assert_true(pii_decrypt(pii, &arena, here, pii_encrypt(pii, &arena, here, big), &back));
    assert_str_equal(back, big);
    assert_int_equal(pii_encrypt(pii, &arena, here, STR("")).len, 0);
    assert_null(pii_encrypt(pii, &arena, here, (struct str){0}).ptr);
    assert_true(pii_decrypt(pii, &arena, here, STR(""), &back));
    assert_int_equal(back.len, 0);
}

/* Made by another program from what docs say: whatever has been stored must stay readable. */
static void test_what_was_stored_opens(void **state)
{
    (void)state;
    struct str back, stored = STR("$1$AAECAwQFBgcICQoL-6ReN2-T6rmnADOIjW-7IjcDxQZoO5amKC2GBF2J2KfX8oo");
    assert_true(pii_decrypt(pii, &arena, here, stored, &back));
    assert_str_equal(back, email);
}

static void test_other_places_are_refused(void **state)
{
    (void)state;
    static const struct pii_place others[] = {
        {.table = "users", .column = "email", .row = STR_INIT("8")},
        {.table = "users", .column = "email", .row = STR_INIT("")},
        {.table = "users", .column = "email", .row = STR_INIT("70")},
        {.table = "users", .column = "name", .row = STR_INIT("7")},
        {.table = "claims", .column = "email", .row = STR_INIT("7")},
        {.table = "usersemail", .column = "", .row = STR_INIT("7")},
        {.table = "users", .column = "emai", .row = STR_INIT("l7")},
        {.table = "users", .column = "", .row = STR_INIT("email\0007")},
    };
    struct str back, sealed = pii_encrypt(pii, &arena, here, email);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(pii_decrypt(pii, &arena, others[i], sealed, &back));
    assert_true(pii_decrypt(pii, &arena, here, sealed, &back));
}

static void test_every_flipped_bit_is_refused(void **state)
{
    (void)state;
    struct str back, sealed = pii_encrypt(pii, &arena, here, email);
    char *text = arena_bytes(&arena, sealed.len);
    memcpy(text, sealed.ptr, sealed.len);
    for (size_t bit = 0; bit < sealed.len * 8; bit++) {
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
        if (pii_decrypt(pii, &arena, here, str_make(text, sealed.len), &back))
            fail_msg("bit %zu does not matter", bit);
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
    }
    for (size_t length = 1; length < sealed.len; length++)
        assert_false(pii_decrypt(pii, &arena, here, str_first(sealed, length), &back));
    memcpy(text, sealed.ptr, sealed.len);
    assert_true(pii_decrypt(pii, &arena, here, str_make(text, sealed.len), &back));
}

static void test_what_is_not_sealed_is_refused(void **state)
{
    (void)state;
    static const struct str wrong[] = {
        STR_INIT("plain"), STR_INIT("$"),
        STR_INIT("$$"),    STR_INIT("$1"),
        STR_INIT("$1$"),   STR_INIT("$01$"),
        STR_INIT("$0$AA"), STR_INIT("$-1$AA"),
        STR_INIT("$x$A"),  STR_INIT("$99999999999999999999$AA"),
    };
    struct str back;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(pii_decrypt(pii, &arena, here, wrong[i], &back));
    assert_int_equal(pii_key_of(STR("plain")), 0);
    assert_int_equal(pii_key_of(STR("")), 0);
    assert_int_equal(pii_key_of(STR("$01$")), 0);
    assert_int_equal(pii_key_of(STR("$12$AAAA")), 12);
}

static void test_keys_change(void **state)
{
    (void)state;
    struct pii *both = open_with("2:" KEY_B ",1:" KEY_A), *newer = open_with("2:" KEY_B), *liar = open_with("1:" KEY_C);
    struct str back, old = pii_encrypt(pii, &arena, here, email), fresh = pii_encrypt(both, &arena, here, email);
    assert_int_equal(pii_key_of(old), 1);
    assert_int_equal(pii_key_of(fresh), 2);
    assert_int_equal(pii_first_key(both), 2);
    assert_true(pii_decrypt(both, &arena, here, old, &back));
    assert_str_equal(back, email);
    assert_true(pii_decrypt(both, &arena, here, fresh, &back));
    assert_true(pii_decrypt(newer, &arena, here, fresh, &back));
    assert_false(pii_decrypt(newer, &arena, here, old, &back)); /* unknown key */
    assert_false(pii_decrypt(pii, &arena, here, fresh, &back));
    assert_false(pii_decrypt(liar, &arena, here, old, &back)); /* another key with the same number */
    pii_close(both);
    pii_close(newer);
    pii_close(liar);
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}

static void test_nonces_never_repeat(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    char(*nonces)[16] = malloc(COUNT * sizeof(*nonces));
    assert_non_null(nonces);
    for (size_t i = 0; i < COUNT; i++) {
        memcpy(nonces[i], pii_encrypt(pii, &arena, here, email).ptr + 3, 16); /* 12 bytes in base64 */
        arena_reset(&arena);
    }
    qsort(nonces, COUNT, sizeof(*nonces), compare);
    for (size_t i = 1; i < COUNT; i++)
        assert_int_not_equal(compare(nonces[i - 1], nonces[i]), 0);
    free(nonces);
}

static void test_hashes(void **state)
{
    (void)state;
    struct str hash = pii_hash(pii, &arena, "email", email);
    assert_int_equal(hash.len, 43);
    assert_str_equal(hash, pii_hash(pii, &arena, "email", email));
    assert_false(str_eq(hash, pii_hash(pii, &arena, "email", STR("someone@example.org"))));
    assert_false(str_eq(hash, pii_hash(pii, &arena, "phone", email)));
    assert_false(str_eq(pii_hash(pii, &arena, "ab", STR("c")), pii_hash(pii, &arena, "a", STR("bc"))));
    struct pii *rotated = open_with("2:" KEY_B ",1:" KEY_A); /* the hash key is another one, and stays */
    assert_str_equal(hash, pii_hash(rotated, &arena, "email", email));
    pii_close(rotated);
}

enum { THREADS = 40, PER_THREAD = 300 }; /* more threads than lanes */

static void *use_it(void *argument)
{
    struct arena mine;
    int done = 0;
    arena_init(&mine, 1 << 20);
    for (; done < PER_THREAD; done++) {
        struct str back, value = arena_format(&mine, "thread %p value %d", argument, done);
        struct str sealed = pii_encrypt(pii, &mine, here, value);
        struct str hash = pii_hash(pii, &mine, "email", value);
        if (!pii_decrypt(pii, &mine, here, sealed, &back) || !str_eq(back, value) ||
            !str_eq(hash, pii_hash(pii, &mine, "email", back)))
            break;
        arena_reset(&mine);
    }
    arena_free(&mine);
    return done == PER_THREAD ? NULL : argument; /* NULL: all was right */
}

static void test_many_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_it, &arena), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    log_setup(LOG_OFF, LOG_TEXT);
    const struct CMUnitTest tests[] = {
        TEST(test_known_ciphertexts),
        TEST(test_known_hash),
        TEST(test_round_trip),
        TEST(test_what_was_stored_opens),
        TEST(test_other_places_are_refused),
        TEST(test_every_flipped_bit_is_refused),
        TEST(test_what_is_not_sealed_is_refused),
        TEST(test_keys_change),
        TEST(test_nonces_never_repeat),
        TEST(test_hashes),
        TEST(test_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
