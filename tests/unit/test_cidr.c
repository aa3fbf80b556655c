#include "base/buf.h"
#include "base/cidr.h"
#include "base/random.h"
#include "test.h"

#include <arpa/inet.h>

static void test_lists_that_are_understood(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        size_t count;
    } rows[] = {
        {"", 0},          {"127.0.0.1", 1},           {"10.0.0.0/8,fd00::/8", 2}, {" 10.0.0.0/8 ,\t::1 , ", 2},
        {"0.0.0.0/0", 1}, {"::ffff:10.0.0.0/104", 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cidr_list list;
        assert_true(cidr_parse_list(str_from(rows[i].list), &list));
        assert_int_equal(list.count, rows[i].count);
    }
}

static void test_lists_that_are_refused(void **state)
{
    (void)state;
    static const struct str rows[] = {
        STR_INIT("10.0.0.0/33"), STR_INIT("::/129"),       STR_INIT("10.0.0/8"),  STR_INIT("10.0.0.0/"),
        STR_INIT("10.0.0.0/-1"), STR_INIT("10.0.0.0/8/8"), STR_INIT("localhost"), STR_INIT("10.0.0.0/8 10.1.0.0/16"),
        STR_INIT("010.0.0.1"),   STR_INIT("1.2.3.4\0.5"),  STR_INIT("[::1]"),     STR_INIT("fe80::1%eth0"),
        STR_INIT("1.2.3.4:80"),  STR_INIT("10.0.0.0/0x8"), STR_INIT("/8"),        STR_INIT("1.2.3.4,nobody"),
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cidr_list list;
        if (cidr_parse_list(rows[i], &list))
            fail_msg("accepted: %s", rows[i].ptr);
    }
}

static void test_no_more_than_there_is_room_for(void **state)
{
    (void)state;
    struct buf text = BUF_INIT(4096);
    struct cidr_list list;
    for (int i = 0; i < CIDR_MAX; i++)
        buf_add(&text, STR("10.0.0.1,"));
    assert_true(cidr_parse_list(buf_str(&text), &list));
    buf_add(&text, STR("10.0.0.1"));
    assert_false(cidr_parse_list(buf_str(&text), &list));
    buf_free(&text);
}

/* What the C library makes of it, in the form that we keep. */
static bool parse_by_library(struct str text, struct in6_addr *address)
{
    char copy[64];
    unsigned char mapped[16] = {[10] = 0xff, [11] = 0xff};
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    if (strlen(copy) != text.len)
        return false;
    if (inet_pton(AF_INET6, copy, address) == 1)
        return true;
    if (inet_pton(AF_INET, copy, mapped + 12) != 1)
        return false;
    memcpy(address, mapped, sizeof(mapped));
    return true;
}

static void check_like_library(struct str text)
{
    struct in6_addr ours, theirs;
    bool good = parse_by_library(text, &theirs);
    if (cidr_parse_address(text, &ours) != good)
        fail_msg("%.*s: should be %s", STR_ARG(text), good ? "read" : "refused");
    if (good)
        assert_memory_equal(&ours, &theirs, sizeof(ours));
}

/* Every octet, then texts of few letters at random, many of which are addresses or nearly. */
static void test_addresses_are_read_as_by_the_library(void **state)
{
    (void)state;
    char text[48];
    for (int octet = -1; octet <= 1000; octet++)
        for (int place = 0; place < 4; place++)
            for (int zeros = 0; zeros < 3; zeros++) {
                struct buf address = BUF_INIT(sizeof(text));
                for (int i = 0; i < 4; i++)
                    buf_add_format(&address, "%s%0*d", i ? "." : "", i == place ? zeros : 1, i == place ? octet : i);
                check_like_library(buf_str(&address));
                buf_free(&address);
            }
    static const char pieces[][6] = {"0", "1", "9", "25", "255", "256", "00", ".", ".", ".", ":", "::", "f", "/", " "};
    for (int i = 0; i < 300000; i++) {
        size_t length = 0;
        for (size_t left = random_below(10); left > 0; left--) {
            const char *piece = pieces[random_below(i % 2 ? 10 : sizeof(pieces) / sizeof(pieces[0]))];
            memcpy(text + length, piece, strlen(piece));
            length += strlen(piece);
        }
        check_like_library(str_make(text, length));
    }
    check_like_library(STR("1.2.3.4\0"));
    check_like_library(STR("\0"));
    check_like_library(STR("1111:2222:3333:4444:5555:6666:7777:8888:9999"));
}

static void test_membership(void **state)
{
    (void)state;
    static const struct {
        const char *list, *address;
        bool in;
    } rows[] = {
        {"10.0.0.0/8", "10.255.255.255", true},
        {"10.0.0.0/8", "11.0.0.0", false},
        {"10.0.0.0/8", "9.255.255.255", false},
        {"10.0.0.0/8", "::ffff:10.1.2.3", true},
        {"10.0.0.0/8", "::ffff:0a01:0203", true},
        {"10.0.0.0/8", "::10.1.2.3", false},
        {"10.0.0.0/8", "a00::", false},
        {"::ffff:10.0.0.0/104", "10.1.2.3", true},
        {"::ffff:10.0.0.0/104", "11.1.2.3", false},
        {"192.168.4.0/22", "192.168.7.255", true},
        {"192.168.4.0/22", "192.168.8.0", false},
        {"192.168.1.128/25", "192.168.1.127", false},
        {"192.168.1.128/25", "192.168.1.128", true},
        {"1.2.3.4", "1.2.3.4", true},
        {"1.2.3.4", "1.2.3.5", false},
        {"1.2.3.4/31", "1.2.3.5", true},
        {"0.0.0.0/0", "255.255.255.255", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"fd00::/8", "fdff::1", true},
        {"fd00::/8", "fe00::1", false},
        {"2001:db8::/33", "2001:db8:7fff::", true},
        {"2001:db8::/33", "2001:db8:8000::", false},
        {"::1", "::1", true},
        {"::1", "127.0.0.1", false},
        {"127.0.0.1, ::1", "::1", true},
        {"", "127.0.0.1", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cidr_list list;
        struct in6_addr address;
        assert_true(cidr_parse_list(str_from(rows[i].list), &list));
        assert_true(cidr_parse_address(str_from(rows[i].address), &address));
        if (cidr_contains(&list, &address) != rows[i].in)
            fail_msg("%s in %s: should be %d", rows[i].address, rows[i].list, rows[i].in);
    }
}

static void test_networks(void **state)
{
    (void)state;
    static const struct {
        const char *address, *network;
    } rows[] = {
        {"1.2.3.4", "1.2.3.4"},
        {"2001:db8::1", "2001:db8::"},
        {"2001:db8:0:0:ffff:ffff:ffff:ffff", "2001:db8::"},
        {"2001:db8:0:1::1", "2001:db8:0:1::"},
        {"::ffff:1.2.3.4", "::ffff:1.2.3.4"},
        {"unix", "unix"},
        {"not:an:address", "not:an:address"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char room[CIDR_NETWORK_TEXT];
        struct str network = cidr_network_text(str_from(rows[i].address), room);
        if (!str_eq(network, str_from(rows[i].network)))
            fail_msg("%s: %.*s", rows[i].address, STR_ARG(network));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_that_are_understood),
        cmocka_unit_test(test_lists_that_are_refused),
        cmocka_unit_test(test_no_more_than_there_is_room_for),
        cmocka_unit_test(test_addresses_are_read_as_by_the_library),
        cmocka_unit_test(test_membership),
        cmocka_unit_test(test_networks),
    };
    return cmocka_run_group_tests_name("cidr", tests, NULL, NULL);
}
