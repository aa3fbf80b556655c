/* HMAC-SHA256 by another way than the one that is tested, for keys in every order and on several threads. */
#include "gateway/mac.h"
#include "test.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>

static bool is_right(struct str key, struct str text)
{
    uint8_t ours[MAC_SIZE];
    unsigned char theirs[EVP_MAX_MD_SIZE];
    unsigned length;
    mac_compute(key, text, ours);
    HMAC(EVP_sha256(), key.ptr, (int)key.len, (const unsigned char *)text.ptr, text.len, theirs, &length);
    return memcmp(ours, theirs, MAC_SIZE) == 0;
}

/* RFC 4231, 4.3. */
static void test_vector(void **state)
{
    (void)state;
    static const uint8_t expected[MAC_SIZE] = {0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24,
                                               0x26, 0x08, 0x95, 0x75, 0xc7, 0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27,
                                               0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43};
    uint8_t mac[MAC_SIZE];
    mac_compute(STR("Jefe"), STR("what do ya want for nothing?"), mac);
    assert_memory_equal(mac, expected, MAC_SIZE);
}

/* Of every length around the block's and the room's; each key after another and after itself. */
static bool all_are_right(char letter)
{
    char bytes[400];
    bool right = true;
    memset(bytes, letter, sizeof(bytes));
    for (size_t length = 1; length < sizeof(bytes); length++) {
        struct str key = str_make(bytes, length);
        right = right && is_right(key, STR("a text")) && is_right(key, STR("")) && is_right(key, key);
        bytes[length - 1] = (char)~letter; /* the same length, another key */
        right = right && is_right(key, STR("a text"));
        bytes[length - 1] = letter;
    }
    return right;
}

static void test_keys_in_turn(void **state)
{
    (void)state;
    assert_true(all_are_right('a'));
}

static void *run(void *argument)
{
    return all_are_right(*(const char *)argument) ? argument : NULL;
}

static void test_threads(void **state)
{
    (void)state;
    char letters[] = "wxyz";
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, &letters[i]), 0);
    for (size_t i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_non_null(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vector),
        cmocka_unit_test(test_keys_in_turn),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests_name("mac", tests, NULL, NULL);
}
