/* Small histories by hand: which violation is named, and that exactly the lines that show it are shown. */
#include "check_support.h"
#include "test.h"

#include <stdio.h>

struct sample {
    const char *name, *header, *lines;
    const char *expected; /* "kind 2,3; kind 4", "" for a clean one */
};

#define ONE_SERVER "\"servers\":1,\"taken\":\"\",\"duplicatePolicy\":\"user\",\"duplicateTtlMs\":0"
#define OP(kind, user, start, end, rest)                                                                               \
    "{\"op\":\"" kind "\",\"user\":\"" user "\",\"start\":" start ",\"end\":" end ",\"status\":" rest "}\n"
#define GIVEN(user, start, end, seat, seq) OP("claim", user, start, end, "200,\"seat\":" seat ",\"seq\":" seq)
#define REFUSED(user, start, end, reason) OP("claim", user, start, end, "409,\"reason\":\"" reason "\"")
#define ALREADY(user, start, end, seat)                                                                                \
    OP("claim", user, start, end, "409,\"reason\":\"already_reserved\",\"seat\":" seat)
#define LOST(user, start) OP("claim", user, start, "null", "null")
#define BACK(user, start, end, seat) OP("release", user, start, end, "200,\"seat\":" seat)
#define BACK_LOST(user, start) OP("release", user, start, "null", "null")
#define MINE(user, start, end, seat) OP("mine", user, start, end, "200,\"seat\":" seat)
#define MAP(start, end, version, taken)                                                                                \
    "{\"op\":\"map\",\"start\":" start ",\"end\":" end ",\"status\":200,\"generation\":1,\"version\":" version         \
    ",\"taken\":\"" taken "\"}\n"

/* The first line of the file is the header, so the first request is line 2. The house has 3 seats. */
static const struct sample samples[] = {
    {"a plain sale", ONE_SERVER,
     GIVEN("a", "1", "2", "1", "1") GIVEN("b", "3", "4", "2", "2") MAP("5", "6", "2", "1-2") MINE("a", "7", "8", "1"),
     ""},
    {"two owners", ONE_SERVER, GIVEN("a", "1", "2", "1", "1") MINE("x", "1", "2", "0") GIVEN("b", "3", "4", "1", "2"),
     "two_owners 2,4"},
    {"two owners at the same time, told apart by their numbers", ONE_SERVER,
     GIVEN("a", "1", "9", "1", "1") GIVEN("b", "2", "8", "1", "2"), "two_owners 2,3"},
    {"given back in between, perhaps", ONE_SERVER,
     GIVEN("a", "1", "2", "1", "1") BACK_LOST("a", "3") GIVEN("b", "4", "5", "1", "2"), ""},
    {"double claim", ONE_SERVER, GIVEN("a", "1", "2", "1", "1") GIVEN("a", "3", "4", "2", "2"), "double_claim 2,3"},
    {"double claim at the same time", ONE_SERVER, GIVEN("a", "1", "4", "1", "1") GIVEN("a", "2", "3", "2", "2"),
     "double_claim 2,3"},
    {"lost claim", ONE_SERVER,
     MINE("a", "0", "1", "0") GIVEN("a", "1", "2", "1", "1") MINE("a", "3", "4", "1") MINE("a", "5", "6", "0"),
     "lost_claim 3,5"},
    {"lost claim, told as sold out", ONE_SERVER,
     GIVEN("a", "1", "2", "1", "1") GIVEN("b", "1", "2", "2", "2") GIVEN("c", "1", "2", "3", "3")
         REFUSED("a", "3", "4", "sold_out"),
     "lost_claim 2,5"},
    {"resurrected seat", ONE_SERVER, GIVEN("a", "1", "2", "1", "1") BACK("a", "3", "4", "1") MINE("a", "5", "6", "1"),
     "resurrected_seat 3,4"},
    {"given back twice", ONE_SERVER, GIVEN("a", "1", "2", "1", "1") BACK("a", "3", "4", "1") BACK("a", "5", "6", "1"),
     "resurrected_seat 3,4"},
    {"wrong seat", ONE_SERVER, GIVEN("a", "1", "2", "1", "1") ALREADY("a", "3", "4", "2"), "wrong_seat 2,3"},
    {"unearned seat", ONE_SERVER, ALREADY("a", "3", "4", "2"), "unearned_seat 2"},
    {"no answer, and then the seat is there", ONE_SERVER, LOST("a", "1") ALREADY("a", "3", "4", "1"), ""},
    {"no answer, and it happens late", ONE_SERVER,
     LOST("a", "1") MINE("a", "3", "4", "0") MINE("a", "5", "6", "1") BACK("a", "7", "8", "1"), ""},
    {"no answer is one seat, not two", ONE_SERVER,
     LOST("a", "1") MINE("a", "3", "4", "1") BACK("a", "5", "6", "1") MINE("a", "7", "8", "2"), "wrong_seat 3,5"},
    {"foreign answer", ONE_SERVER, OP("claim", "a", "1", "2", "200,\"seat\":1,\"seq\":1,\"owner\":\"b\""),
     "foreign_answer 2"},
    {"seat past the end", ONE_SERVER, GIVEN("a", "1", "2", "4", "1"), "no_such_seat 2"},
    {"no seat in the answer", ONE_SERVER, OP("claim", "a", "1", "2", "200,\"seq\":1"), "no_such_seat 2"},
    {"number given twice", ONE_SERVER, GIVEN("a", "1", "5", "1", "1") GIVEN("b", "2", "4", "2", "1"),
     "sequence_twice 2,3"},
    {"number backwards", ONE_SERVER, GIVEN("a", "1", "2", "1", "5") GIVEN("b", "3", "4", "2", "4"),
     "sequence_backwards 2,3; seat_order 3"},
    {"number differs", ONE_SERVER, GIVEN("a", "1", "2", "1", "1") OP("mine", "a", "3", "4", "200,\"seat\":1,\"seq\":2"),
     "sequence_differs 2,3"},
    {"order", ONE_SERVER, GIVEN("a", "1", "2", "2", "1"), "seat_order 2"},
    {"order by number, at the same time", ONE_SERVER, GIVEN("a", "1", "9", "2", "1") GIVEN("b", "1", "9", "1", "2"),
     "seat_order 2"},
    {"order after a seat was given back", ONE_SERVER,
     GIVEN("a", "1", "2", "1", "1") BACK("a", "3", "4", "1") GIVEN("b", "5", "6", "2", "2"), "seat_order 2,3,4"},
    {"given back at the same time: both are right", ONE_SERVER,
     GIVEN("a", "1", "2", "1", "1") BACK("a", "3", "6", "1") GIVEN("b", "5", "7", "2", "2"), ""},
    {"a claim without an answer may have the lower seat", ONE_SERVER, LOST("x", "0") GIVEN("a", "1", "2", "2", "1"),
     ""},
    {"but only one", ONE_SERVER, LOST("x", "0") GIVEN("a", "1", "2", "3", "1"), "seat_order 3"},
    {"and not one that came later", ONE_SERVER, GIVEN("a", "1", "2", "2", "1") LOST("x", "3"), "seat_order 2"},
    {"sold out", ONE_SERVER,
     GIVEN("a", "1", "2", "1", "1") GIVEN("b", "1", "2", "2", "2") GIVEN("c", "3", "6", "3", "3")
         REFUSED("d", "4", "5", "sold_out"),
     ""},
    {"sold out too early", ONE_SERVER,
     GIVEN("a", "1", "2", "1", "1") GIVEN("b", "1", "2", "2", "2") REFUSED("d", "3", "4", "sold_out"),
     "false_sold_out 4"},
    {"sold out after a seat was given back", ONE_SERVER,
     GIVEN("a", "1", "2", "1", "1") GIVEN("b", "1", "2", "2", "2") GIVEN("c", "1", "2", "3", "3")
         BACK("b", "3", "4", "2") REFUSED("d", "5", "6", "sold_out"),
     "false_sold_out 5,6"},
    {"duplicate", ONE_SERVER, GIVEN("a", "1", "5", "1", "1") REFUSED("a", "2", "3", "duplicate"), ""},
    {"duplicate of nothing", ONE_SERVER, REFUSED("a", "2", "3", "duplicate"), "false_duplicate 2"},
    {"duplicate of another user", ONE_SERVER, GIVEN("b", "1", "9", "1", "1") REFUSED("a", "2", "3", "duplicate"),
     "false_duplicate 3"},
    {"duplicate of what is long over", ONE_SERVER, GIVEN("a", "1", "2", "1", "1") REFUSED("a", "3", "4", "duplicate"),
     "false_duplicate 2,3"},
    {"duplicate within the lock's life", "\"servers\":1,\"taken\":\"\",\"duplicateTtlMs\":1",
     GIVEN("a", "1", "2", "1", "1") REFUSED("a", "1000001", "1000002", "duplicate"), ""},
    {"duplicate of the same address", "\"servers\":1,\"taken\":\"\",\"duplicatePolicy\":\"ip\",\"duplicateTtlMs\":0",
     GIVEN("a", "1", "5", "1", "1") REFUSED("b", "2", "3", "duplicate"), ""},
    {"map shows a taken seat as free", ONE_SERVER, GIVEN("a", "1", "2", "1", "1") MAP("3", "4", "1", ""),
     "stale_map 2,3"},
    {"map shows a free seat as taken", ONE_SERVER, MAP("3", "4", "1", "2"), "stale_map 2"},
    {"map shows what was given back", ONE_SERVER,
     GIVEN("a", "1", "2", "1", "1") BACK("a", "3", "4", "1") MAP("5", "6", "2", "1"), "stale_map 3,4"},
    {"several servers have 200 ms", "\"servers\":2,\"taken\":\"\"",
     GIVEN("a", "1", "2", "1", "1") MAP("200000001", "200000002", "1", ""), ""},
    {"and not more", "\"servers\":2,\"taken\":\"\"",
     GIVEN("a", "1", "2", "1", "1") MAP("200000003", "200000004", "1", ""), "stale_map 2,3"},
    {"map backwards", ONE_SERVER, MAP("1", "2", "7", "") MAP("3", "4", "6", ""), "map_backwards 2,3"},
    {"maps at the same time", ONE_SERVER, MAP("1", "3", "7", "") MAP("2", "4", "6", ""), ""},
    {"counts", ONE_SERVER, OP("claim", "a", "1", "2", "200,\"seat\":1,\"seq\":1,\"remaining\":3"), "wrong_count 2"},
    {"counts of a map", ONE_SERVER,
     "{\"op\":\"map\",\"start\":1,\"end\":2,\"status\":200,\"taken\":\"\",\"remaining\":2}\n", "wrong_count 2"},
    {"a seat that was taken before", "\"servers\":1,\"taken\":\"1-2\"",
     GIVEN("a", "1", "2", "3", "1") GIVEN("b", "3", "4", "2", "2"), "two_owners 3"},
    {"nothing is known of the start", "\"servers\":1", GIVEN("a", "1", "2", "3", "1") MAP("3", "4", "1", "1,3"), ""},
    {"several servers may not know yet that the user has a seat", "\"servers\":2,\"taken\":\"1-2\"",
     GIVEN("a", "1", "2", "3", "1") REFUSED("a", "3", "4", "sold_out"), ""},
};

static void write_sample(const struct sample *sample, bool complete)
{
    FILE *file = fopen(check_path, "w");
    size_t count = 0;
    for (const char *at = sample->lines; *at; at++)
        count += *at == '\n';
    assert_non_null(file);
    fprintf(file, "{\"tickettock\":\"history\",\"version\":1,\"seats\":3,%s}\n%s", sample->header, sample->lines);
    if (complete)
        fprintf(file, "{\"op\":\"end\",\"count\":%zu}\n", count);
    assert_int_equal(fclose(file), 0);
}

static void add_finding(struct buf *text, const struct finding *finding)
{
    buf_add_format(text, "%s%s", text->len ? "; " : "", violation_name(finding->kind));
    for (size_t i = 0; i < finding->line_count; i++)
        buf_add_format(text, "%c%u", i ? ',' : ' ', finding->lines[i]);
}

static void test_samples(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        struct verdict verdict;
        struct buf text = BUF_INIT(1 << 16);
        write_sample(&samples[i], true);
        check_file(&verdict);
        for (size_t finding = 0; finding < verdict.count; finding++)
            add_finding(&text, &verdict.findings[finding]);
        if (!str_eq(buf_str(&text), str_from(samples[i].expected))) {
            print_error("%s: found \"%.*s\" instead of \"%s\"\n", samples[i].name, STR_ARG(buf_str(&text)),
                        samples[i].expected);
            for (size_t finding = 0; finding < verdict.count; finding++)
                print_error("    %.*s\n", STR_ARG(verdict.findings[finding].words));
            wrong++;
        }
        buf_free(&text);
        verdict_free(&verdict);
    }
    assert_int_equal(wrong, 0);
}

/* When the recorder died, a missing line may explain nearly everything. */
static void test_a_cut_off_history_is_judged_with_care(void **state)
{
    (void)state;
    static const struct sample excused = {
        .header = ONE_SERVER,
        .lines = GIVEN("a", "1", "2", "1", "1") GIVEN("b", "3", "4", "1", "2") MINE("a", "5", "6", "0"),
    };
    static const struct sample inexcusable = {
        .header = ONE_SERVER,
        .lines = GIVEN("a", "1", "5", "1", "1") GIVEN("b", "2", "4", "2", "1"),
    };
    struct verdict verdict;
    write_sample(&excused, false);
    check_file(&verdict);
    assert_int_equal(verdict.total, 0);
    verdict_free(&verdict);
    write_sample(&inexcusable, false);
    check_file(&verdict);
    assert_int_equal(verdict.counts[VIOLATION_SEQUENCE_TWICE], 1);
    verdict_free(&verdict);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_a_cut_off_history_is_judged_with_care),
    };
    return cmocka_run_group_tests(tests, check_make_path, check_remove_path);
}
