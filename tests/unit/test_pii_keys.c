#include "base/log.h"
#include "pii/keys.h"
#include "pii/pii.h"
#include "test.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_A "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define KEY_B "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHNlYyE="

static void test_good_keys(void **state)
{
    (void)state;
    struct keys keys;
    struct buf problems = BUF_INIT(4096);
    assert_true(keys_read(STR("20:" KEY_A ", 3:" KEY_B), STR(""), &keys, &problems));
    assert_int_equal(keys.count, 2);
    assert_int_equal(keys.sealing[0].id, 20);
    assert_int_equal(keys.sealing[1].id, 3);
    assert_memory_equal(keys.sealing[1].bytes, "secret secret secret secret sec!", KEY_BYTES);
    assert_false(keys.has_hash);
    assert_true(keys_read(STR(""), STR(KEY_B), &keys, &problems));
    assert_int_equal(keys.count, 0);
    assert_true(keys.has_hash);
    keys_wipe(&keys);
    for (size_t i = 0; i < sizeof(keys); i++)
        assert_int_equal(((const uint8_t *)&keys)[i], 0);
    assert_int_equal(problems.len, 0);
    buf_free(&problems);
}

/* Each is refused in words that show nothing of the key. */
static void test_bad_keys(void **state)
{
    (void)state;
    static const struct {
        const char *keys, *hash, *says;
    } cases[] = {
        {KEY_B, "", "must begin with its number"},
        {":" KEY_B, "", "must begin with its number"},
        {"0:" KEY_B, "", "must begin with its number"},
        {"-1:" KEY_B, "", "must begin with its number"},
        {"one:" KEY_B, "", "must begin with its number"},
        {"1000000000:" KEY_B, "", "must begin with its number"},
        {"1:" KEY_A ",", "", "key 2 must begin"},
        {"1:c2VjcmV0IHNlY3JldA==", "", "must be 32 bytes"},
        {"1:c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHNlYyEh", "", "must be 32 bytes"},
        {"1:c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHNlYyE", "", "must be 32 bytes"},
        {"1:c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHNlYyF=", "", "must be 32 bytes"},
        {"1:c2VjcmV0 HNlY3JldCBzZWNyZXQgc2VjcmV0IHNlYyE=", "", "must be 32 bytes"},
        {"1:" KEY_B ",1:" KEY_A, "", "number or the bytes of another"},
        {"1:" KEY_B ",2:" KEY_B, "", "number or the bytes of another"},
        {"", "c2VjcmV0IHNlY3JldA==", "PII_HASH_KEY must be 32 bytes"},
        {"1:" KEY_B, KEY_B, "must be another key"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf problems = BUF_INIT(4096);
        assert_false(pii_check_keys(str_from(cases[i].keys), str_from(cases[i].hash), &problems));
        if (!str_contains(buf_str(&problems), str_from(cases[i].says)))
            fail_msg("%s: %.*s", cases[i].keys, STR_ARG(buf_str(&problems)));
        assert_false(str_contains(buf_str(&problems), STR("c2Vj")));
        buf_free(&problems);
    }
}

static void test_too_many_keys(void **state)
{
    (void)state;
    struct buf list = BUF_INIT(8192), problems = BUF_INIT(4096);
    for (int i = 0; i <= KEYS_MAX; i++)
        buf_add_format(&list, "%s%d:%cAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", i ? "," : "", i + 1, 'A' + i);
    assert_false(pii_check_keys(buf_str(&list), STR(""), &problems));
    assert_true(str_contains(buf_str(&problems), STR("more than 16")));
    buf_free(&list);
    buf_free(&problems);
}

static void test_without_settings(void **state)
{
    (void)state;
    char folder[PATH_MAX], path[PATH_MAX + 32];
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/pii.XXXXXX", parent ? parent : "/tmp");
    assert_non_null(mkdtemp(folder));
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct pii_place place = {.table = "t", .column = "c", .row = STR("1")};

    /* embedded: made once, found again */
    struct pii *first = pii_open(&(struct pii_settings){.directory = folder});
    assert_non_null(first);
    struct str back, sealed = pii_encrypt(first, &arena, place, STR("value")),
                     hash = pii_hash(first, &arena, "c", sealed);
    pii_close(first);
    struct pii *second = pii_open(&(struct pii_settings){.directory = folder});
    assert_true(pii_decrypt(second, &arena, place, sealed, &back));
    assert_str_equal(back, STR("value"));
    assert_str_equal(hash, pii_hash(second, &arena, "c", sealed));
    pii_close(second);

    /* never made beside data */
    snprintf(path, sizeof(path), "%s/pii-hash.key", folder);
    char aside[PATH_MAX + 40];
    snprintf(aside, sizeof(aside), "%s.aside", path);
    assert_int_equal(rename(path, aside), 0);
    assert_null(pii_open(&(struct pii_settings){.directory = folder, .are_in_use = true}));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(rename(aside, path), 0);
    struct pii *third = pii_open(&(struct pii_settings){.directory = folder, .are_in_use = true});
    assert_non_null(third);
    pii_close(third);

    /* on PostgreSQL: refused */
    assert_null(pii_open(&(struct pii_settings){0}));
    assert_null(pii_open(&(struct pii_settings){.keys = STR("1:" KEY_A)}));
    assert_null(pii_open(&(struct pii_settings){.hash_key = STR(KEY_A)}));
    assert_null(pii_open(&(struct pii_settings){.keys = STR("1:wrong"), .directory = folder}));

    arena_free(&arena);
    static const char *const names[] = {"pii.key", "pii-hash.key"};
    for (size_t i = 0; i < 2; i++) {
        struct stat about;
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        assert_int_equal(stat(path, &about), 0);
        assert_int_equal(about.st_mode & 07777, 0600);
        unlink(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* The same key has the same check wherever it stands; no two keys share one. */
static void test_checks(void **state)
{
    (void)state;
    struct pii_key one[PII_KEYS_MAX + 1], other[PII_KEYS_MAX + 1];
    struct pii *first = pii_open(&(struct pii_settings){.keys = STR("1:" KEY_A), .hash_key = STR(KEY_B)});
    struct pii *second = pii_open(&(struct pii_settings){.keys = STR("7:" KEY_B), .hash_key = STR(KEY_A)});
    assert_int_equal(pii_list_keys(first, one), 2);
    assert_int_equal(pii_list_keys(second, other), 2);
    assert_int_equal(one[0].number, 1);
    assert_int_equal(other[0].number, 7);
    assert_int_equal(one[1].number, 0);
    assert_string_equal(one[0].check, other[1].check);
    assert_string_equal(one[1].check, other[0].check);
    assert_string_not_equal(one[0].check, one[1].check);
    assert_int_equal(strlen(one[0].check), PII_CHECK_SIZE - 1);
    pii_close(first);
    pii_close(second);
}

int main(void)
{
    log_setup(LOG_OFF, LOG_TEXT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_keys),        cmocka_unit_test(test_bad_keys), cmocka_unit_test(test_too_many_keys),
        cmocka_unit_test(test_without_settings), cmocka_unit_test(test_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
