/* Whose word about the user is believed: every setting × bind × what a request carries. */
#include "filter_scene.h"

#define GATEWAY "the-secret-of-the-gateway"
#define LOCAL "Host: localhost:5800\r\n"
#define NAME "X-User-Id: bob\r\n"

enum { AUTO = TRUST_USER_HEADER_AUTO, ALWAYS = TRUST_USER_HEADER_ALWAYS, NEVER = TRUST_USER_HEADER_NEVER };

static const struct {
    int setting;
    const char *bind, *proxies, *headers;
    bool believed;
} rows[] = {
    {AUTO, "127.0.0.1", "", "Host: localhost\r\n", true},
    {AUTO, "127.0.0.1", "", "Host: 127.0.0.1:5800\r\n", true},
    {AUTO, "127.0.0.1", "", "Host: [::1]:5800\r\n", true},
    {AUTO, "127.0.0.1", "", "Host: LOCALHOST:1\r\n", true},
    {AUTO, "127.0.0.2", "", LOCAL, true},
    {AUTO, "::1", "", LOCAL, true},
    {AUTO, "::ffff:127.0.0.1", "", LOCAL, true},

    {AUTO, "0.0.0.0", "", LOCAL, false},
    {AUTO, "::", "", LOCAL, false},
    {AUTO, "10.0.0.5", "", LOCAL, false},
    {AUTO, "127.0.0.1", "127.0.0.1", LOCAL, false},
    {AUTO, "127.0.0.1", "10.0.0.0/8", LOCAL, false},
    {AUTO, "127.0.0.1", "", "Host: shop.example\r\n", false},
    {AUTO, "127.0.0.1", "", "Host: localhost.shop.example\r\n", false},
    {AUTO, "127.0.0.1", "", "Host: 10.0.0.5\r\n", false},
    {AUTO, "127.0.0.1", "", "Host: [::2]\r\n", false},
    {AUTO, "127.0.0.1", "", LOCAL "X-Forwarded-For: 1.2.3.4\r\n", false},
    {AUTO, "127.0.0.1", "", LOCAL "x-forwarded-for:\r\n", false},
    {AUTO, "127.0.0.1", "", LOCAL "X-Forwarded-Host: a\r\n", false},
    {AUTO, "127.0.0.1", "", LOCAL "X-Forwarded-Proto: https\r\n", false},
    {AUTO, "127.0.0.1", "", LOCAL "X-Real-IP: 1.2.3.4\r\n", false},
    {AUTO, "127.0.0.1", "", LOCAL "Forwarded: for=1.2.3.4\r\n", false},
    {AUTO, "127.0.0.1", "", LOCAL "Via: 1.1 proxy\r\n", false},

    {AUTO, "0.0.0.0", "10.0.0.0/8",
     "Host: shop.example\r\nX-Forwarded-For: 1.2.3.4\r\nX-Gateway-Token: " GATEWAY "\r\n", true},
    {AUTO, "127.0.0.1", "", LOCAL "X-Forwarded-For: 1.2.3.4\r\nX-Gateway-Token: " GATEWAY "\r\n", true},
    {AUTO, "0.0.0.0", "", "Host: shop.example\r\nX-Gateway-Token: another\r\n", false},
    {AUTO, "0.0.0.0", "", "Host: shop.example\r\nX-Gateway-Token:\r\n", false},

    {ALWAYS, "0.0.0.0", "127.0.0.1", "Host: shop.example\r\nX-Forwarded-For: 1.2.3.4\r\n", true},
    {NEVER, "127.0.0.1", "", LOCAL, false},
    {NEVER, "127.0.0.1", "", LOCAL "X-Gateway-Token: " GATEWAY "\r\n", false},
};

static struct filter_scene scene;

/* Like scene_request, which adds a Host of its own. */
static struct str user_of_version(int minor, size_t i, const char *name)
{
    struct request *rq = &scene.rq;
    enum error error;
    scene_request(&scene, HTTP_POST, "/", "");
    buf_clear(&rq->head_bytes);
    head_clear(&rq->head);
    buf_add_format(&rq->head_bytes, "POST / HTTP/1.%d\r\n%s%s\r\n", minor, rows[i].headers, name);
    assert_true(head_parse(buf_str(&rq->head_bytes), &rq->head, &error));
    scene.settings.fcfs_trust_user_header = rows[i].setting;
    scene.settings.bind_address = str_from(rows[i].bind);
    scene.settings.trusted_proxies = str_from(rows[i].proxies);
    scene.gateway->local = user_header_is_local(&scene.settings);
    return user_header_read(scene.gateway, rq);
}

static struct str user_of(size_t i, const char *name)
{
    return user_of_version(1, i, name);
}

static void test_table(void **state)
{
    (void)state;
    scene_open(&scene);
    scene.settings.gateway_token = STR(GATEWAY);
    scene.route = (struct route){.rate = RATE_FCFS};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (str_eq(user_of(i, NAME), rows[i].believed ? STR("bob") : STR("")) == false)
            fail_msg("row %zu: %s on %s", i, rows[i].headers, rows[i].bind);
        assert_int_equal(user_of(i, "X-User-Id: guest:AAECAwQFBgcICQoLDA0ODw\r\n").len, 0); /* not even by a gateway */
        assert_int_equal(user_of(i, "X-User-Id:  \r\n").len, 0);
        assert_int_equal(user_of(i, "").len, 0);
    }
    assert_int_equal(user_of_version(0, 0, NAME).len, 0); /* as a proxy speaks that tells nothing else of itself */
    scene.route.rate = RATE_GENERAL;
    assert_int_equal(user_of(0, NAME).len, 0);
    scene_close(&scene);
}

/* A secret that is not set is not proven by sending none. */
static void test_without_gateway(void **state)
{
    (void)state;
    scene_open(&scene);
    scene.route = (struct route){.rate = RATE_FCFS};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        user_of(i, NAME);
        assert_false(scene.rq.identity.by_gateway);
    }
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_without_gateway)};
    return cmocka_run_group_tests_name("who may name the user", tests, NULL, NULL);
}
