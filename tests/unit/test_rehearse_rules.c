/* Who behaves how, whom a rehearsal may ask, and when it has failed. */
#include "base/clock.h"
#include "rehearse/persona.h"
#include "rehearse/target.h"
#include "rehearse/threshold.h"
#include "test.h"

#include <arpa/inet.h>
#include <math.h>

static struct persona_shares shares_of(const char *text)
{
    struct persona_shares shares;
    struct buf problem = BUF_INIT(1024);
    if (!persona_parse(str_from(text), &shares, &problem))
        fail_msg("%s: %.*s", text, STR_ARG(buf_str(&problem)));
    return shares;
}

static void test_shares_hold(void **state)
{
    (void)state;
    struct persona_shares shares = shares_of("double-click=10%, retry=20%,give-up=0.5%,slow=5%");
    static const size_t crowds[] = {1000, 100000};
    for (size_t c = 0; c < 2; c++) {
        size_t counts[PERSONA_COUNT] = {0};
        for (uint64_t user = 0; user < crowds[c]; user++)
            counts[persona_of(&shares, user, 12345)]++;
        for (size_t i = 0; i < PERSONA_COUNT; i++) {
            double wanted = shares.share[i] * (double)crowds[c];
            if (fabs((double)counts[i] - wanted) > 5)
                fail_msg("%zu of %zu are %s", counts[i], crowds[c], persona_name((enum persona)i));
        }
    }
    assert_true(fabs(shares.share[PERSONA_PLAIN] - 0.645) < 1e-9);
}

static void test_everybody_can_be_something(void **state)
{
    (void)state;
    struct persona_shares shares = shares_of("reader=100%");
    for (uint64_t user = 0; user < 1000; user++)
        assert_int_equal(persona_of(&shares, user, user * 77), PERSONA_READER);
    shares = persona_all_plain();
    for (uint64_t user = 0; user < 1000; user++)
        assert_int_equal(persona_of(&shares, user, user * 77), PERSONA_PLAIN);
}

static void test_bad_personas_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *named;
    } rows[] = {
        {"retri=5%", "did you mean retry?"},
        {"retry", "retry needs a share"},
        {"retry=5", "retry needs a share"},
        {"retry=101%", "retry needs a share"},
        {"retry=5%,retry=5%", "retry comes twice"},
        {"retry=60%,slow=50%", "110%"},
        {"", "''"},
        {"retry=5%,,slow=5%", "''"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct persona_shares shares;
        struct buf problem = BUF_INIT(1024);
        bool good = persona_parse(str_from(rows[i].text), &shares, &problem);
        if (good || !str_contains(buf_str(&problem), str_from(rows[i].named)))
            fail_msg("'%s': %.*s", rows[i].text, STR_ARG(buf_str(&problem)));
        buf_free(&problem);
    }
}

static void test_which_addresses_are_this_machine(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        bool loopback;
    } rows[] = {
        {"127.0.0.1", true},
        {"127.255.3.4", true},
        {"128.0.0.1", false},
        {"10.0.0.1", false},
        {"0.0.0.0", false},
        {"::1", true},
        {"::", false},
        {"fe80::1", false},
        {"::ffff:127.0.0.1", true},
        {"::ffff:10.0.0.1", false},
        {"2001:db8::1", false},
        {"::127.0.0.1", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sockaddr_in four = {.sin_family = AF_INET};
        struct sockaddr_in6 six = {.sin6_family = AF_INET6};
        bool is_four = inet_pton(AF_INET, rows[i].address, &four.sin_addr) == 1;
        assert_true(is_four || inet_pton(AF_INET6, rows[i].address, &six.sin6_addr) == 1);
        if (target_is_loopback(is_four ? (struct sockaddr *)&four : (struct sockaddr *)&six) != rows[i].loopback)
            fail_msg("%s", rows[i].address);
    }
}

static void test_whom_a_rehearsal_may_ask(void **state)
{
    (void)state;
    static const struct {
        const char *url, *problem; /* NULL: fine */
        bool owned;
    } rows[] = {
        {"http://127.0.0.1:5800", NULL, false},
        {"http://127.0.0.1:5800/", NULL, false},
        {"127.0.0.1", NULL, false},
        {"http://[::1]:5800", NULL, false},
        {"http://192.0.2.1:5800", "--i-own-this-server", false},
        {"http://192.0.2.1:5800", NULL, true},
        {"http://[2001:db8::1]", "--i-own-this-server", false},
        {"https://127.0.0.1:5800", "TLS", false},
        {"https://192.0.2.1", "TLS", true},
        {"ftp://127.0.0.1", "no http://", false},
        {"http://127.0.0.1:5800/api", "without anything behind it", false},
        {"http://127.0.0.1@192.0.2.1", "without anything behind it", false},
        {"http://127.0.0.1:0", "http://host:port", false},
        {"http://127.0.0.1:65536", "http://host:port", false},
        {"http://127.0.0.1:x", "http://host:port", false},
        {"http://[::1", "http://host:port", false},
        {"http://", "http://host:port", false},
        {"http://0.0.0.0:5800", "--i-own-this-server", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct target target;
        struct buf problem = BUF_INIT(1024);
        bool good = target_parse(str_from(rows[i].url), rows[i].owned, &target, &problem);
        if (good != !rows[i].problem || (!good && !str_contains(buf_str(&problem), str_from(rows[i].problem))))
            fail_msg("%s: %.*s", rows[i].url, STR_ARG(buf_str(&problem)));
        buf_free(&problem);
    }
}

static void test_connections_have_addresses_of_their_own(void **state)
{
    (void)state;
    char first[INET_ADDRSTRLEN], second[INET_ADDRSTRLEN];
    target_own_address(0, first);
    assert_string_equal(first, "127.0.0.1");
    target_own_address(1, first);
    target_own_address(2, second);
    assert_string_equal(first, "127.1.0.1");
    assert_string_equal(second, "127.1.0.2");
    target_own_address(300 * 256 * 256 + 3, first); /* more than there are: from the beginning again */
    assert_int_equal(strncmp(first, "127.", 4), 0);
}

static struct tally *some_tally(void)
{
    static struct tally tally;
    tally_clear(&tally);
    for (uint64_t ms = 1; ms <= 1000; ms++)
        histogram_add(&tally.latency[HISTORY_CLAIM], ms * (uint64_t)NS_PER_MS);
    histogram_add(&tally.latency[HISTORY_MAP], 5000 * (uint64_t)NS_PER_MS);
    tally.requests = 2000;
    tally.answered = 1001;
    tally.sold = 500;
    tally.timeouts = 10;
    tally.server_errors = 10;
    tally_count_reason(&tally, STR("sold_out"));
    return &tally;
}

static void test_thresholds(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        bool crossed;
    } rows[] = {
        {"p50>400ms", true},        {"p50>600ms", false},       {"p50<600ms", true},   {"claim.p99>1s", false},
        {"claim.p99 > 0.9s", true}, {"map.p50>=5s", true},      {"map.p50>5s", false}, {"max>4s", true},
        {"claim.max>1s", false},    {"release.p99>1us", false}, {"mean>100ms", true},  {"p99.9<=10s", true},
        {"errors>0.9%", true},      {"errors>1%", false},       {"errors>=1%", true},  {"errors>19", true},
        {"errors>20", false},       {"timeouts>9", true},       {"sold<500", false},   {"sold<501", true},
        {"rate<100/s", false},      {"rate<101/s", true},       {"sold_out>0", true},  {"duplicate>0", false},
        {"answered<=1001", true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct threshold threshold;
        struct buf problem = BUF_INIT(1024);
        double found;
        if (!threshold_parse(str_from(rows[i].rule), &threshold, &problem))
            fail_msg("%.*s", STR_ARG(buf_str(&problem)));
        if (threshold_crossed(&threshold, some_tally(), 10, &found) != rows[i].crossed)
            fail_msg("%s: found %g", rows[i].rule, found);
    }
}

static void test_bad_thresholds_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *rule, *named;
    } rows[] = {
        {"", "expected > or <"},
        {"p99", "expected > or <"},
        {"p98>1ms", "'p98'"},
        {"p99>1", "'1'"},
        {"p99>", "a duration"},
        {"errors>1/s", "'1/s'"},
        {"rate<10%", "'10%'"},
        {"sold<many", "'many'"},
        {"sold_uot>1", "'sold_uot'"},
        {"claim.sold>1", "claim.sold"},
        {"claim.errors>1", "claim.errors"},
        {"p99=>1ms", "expected p50"},
        {"p99>>1ms", "'>1ms'"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct threshold threshold;
        struct buf problem = BUF_INIT(1024);
        bool good = threshold_parse(str_from(rows[i].rule), &threshold, &problem);
        if (good || !str_contains(buf_str(&problem), str_from(rows[i].named)))
            fail_msg("'%s': %.*s", rows[i].rule, STR_ARG(buf_str(&problem)));
        buf_free(&problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_hold),
        cmocka_unit_test(test_everybody_can_be_something),
        cmocka_unit_test(test_bad_personas_are_named),
        cmocka_unit_test(test_which_addresses_are_this_machine),
        cmocka_unit_test(test_whom_a_rehearsal_may_ask),
        cmocka_unit_test(test_connections_have_addresses_of_their_own),
        cmocka_unit_test(test_thresholds),
        cmocka_unit_test(test_bad_thresholds_are_named),
    };
    return cmocka_run_group_tests_name("rehearse_rules", tests, NULL, NULL);
}
