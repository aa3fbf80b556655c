/* E-mail addresses as people type them, and the one form in which they are kept. */
#include "services/auth/email.h"
#include "test.h"

static const struct {
    const char *text, *kept; /* kept NULL: refused */
} rows[] = {
    {"alice@example.com", "alice@example.com"},
    {"  Alice@Example.COM\t", "alice@example.com"},
    {"a.b+c_d-e@sub.example.co.kr", "a.b+c_d-e@sub.example.co.kr"},
    {"!#$%&'*/=?^`{|}~@example.com", "!#$%&'*/=?^`{|}~@example.com"},
    {"1@2.34", "1@2.34"},
    {"a@xn--9k4b.com", "a@xn--9k4b.com"},

    {"", NULL},
    {"@", NULL},
    {"alice", NULL},
    {"alice@", NULL},
    {"@example.com", NULL},
    {"alice@localhost", NULL},
    {"alice@example.", NULL},
    {"alice@.com", NULL},
    {"alice@example..com", NULL},
    {"alice@-example.com", NULL},
    {"alice@example-.com", NULL},
    {"alice@exam_ple.com", NULL},
    {".alice@example.com", NULL},
    {"alice.@example.com", NULL},
    {"al..ice@example.com", NULL},
    {"al ice@example.com", NULL},
    {"alice@@example.com", NULL},
    {"alice@bob@example.com", NULL},
    {"\"al ice\"@example.com", NULL},
    {"alice@[127.0.0.1]", NULL},
    {"alice@example.com\n.evil.com", NULL},
    {"앨리스@example.com", NULL},
    {"alice@예.com", NULL},
};

static void test_table(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 16);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str email = STR("");
        bool understood = email_normalize(&arena, str_from(rows[i].text), &email);
        if (understood != (rows[i].kept != NULL) || (understood && !str_eq(email, str_from(rows[i].kept))))
            fail_msg("\"%s\" became \"%.*s\", not \"%s\"", rows[i].text, STR_ARG(email),
                     rows[i].kept ? rows[i].kept : "(refused)");
    }
    arena_free(&arena);
}

/* `name` characters before, `label` in the first part behind the @. */
static bool is_taken(size_t name, size_t label)
{
    struct arena arena;
    struct str email;
    arena_init(&arena, 1 << 16);
    char *text = arena_bytes(&arena, name + label + 8);
    memset(text, 'a', name);
    text[name] = '@';
    memset(text + name + 1, 'b', label);
    memcpy(text + name + 1 + label, ".com", 4);
    bool taken = email_normalize(&arena, str_make(text, name + label + 5), &email);
    arena_free(&arena);
    return taken;
}

static void test_lengths(void **state)
{
    (void)state;
    assert_true(is_taken(64, 63));
    assert_false(is_taken(65, 10));
    assert_false(is_taken(10, 64));
    assert_false(is_taken(300, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_lengths),
    };
    return cmocka_run_group_tests_name("email", tests, NULL, NULL);
}
