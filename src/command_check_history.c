#include "command_check_history.h"

#include "base/clock.h"
#include "command.h"
#include "history/check.h"
#include "history/report.h"
#include "history/witness.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { ARENA_MAX_BYTES = 1 << 26, OUTPUT_MAX_BYTES = 1 << 26, SHOWN_DEFAULT = 10 };

const char CHECK_HISTORY_TEXT[] =
    "FILE is what `tickettock rehearse --history FILE` wrote: each request, its answer, and when. The checker\n"
    "believes nobody and shares no code with the server: from the answers alone it proves, per seat and per user,\n"
    "that they fit together, and shows the fewest lines that do not.\n"
    "\n"
    "  --against URL         compares with a running server: its seat map and, one by one, each user's own seat\n"
    "  --against DATABASE    compares with the database: postgresql://…, an SQLite file, or the server's DATA_DIR\n"
    "  --admin-token TOKEN   for a server: its totals too\n"
    "  --gateway-token TOKEN for a server that believes X-User-Id of its gateway only; otherwise GATEWAY_TOKEN of the\n"
    "                        environment\n"
    "  --schedule ID         which schedule was rehearsed; otherwise as the history says\n"
    "  --map-lag MS          how old a map may be; otherwise as the history says, else 0 for one server and 200\n"
    "                        for several. More when servers were cut off from each other on purpose\n"
    "  --duplicate-policy P  the server's FCFS_DUP_POLICY: both (default), user, ip or off\n"
    "  --duplicate-ttl MS    how long a lock may outlive its attempt; otherwise as the history says, else 5000, the\n"
    "                        server's FCFS_DUP_TTL. In a run without faults 500 is a sharper check\n"
    "  --show N              shows so many violations of each kind (10; at most 100)\n"
    "  --json                the verdict for programs\n"
    "\n"
    "Exit status: 0 nothing is wrong; 1 there are violations; 2 the history or the witness cannot be read, or could\n"
    "not be judged. A request without an answer may or may not have happened, and so may one that was answered with\n"
    "5xx. Nobody else may have used the house meanwhile.\n"
    "\n"
    "What it finds:\n"
#define VIOLATION(kind, name, text) "  " name ": " text "\n"
#include "history/violations.def"
#undef VIOLATION
    ;

struct choices {
    const char *path, *against;
    struct str admin_token, gateway_token, schedule;
    struct book_options book;
    int64_t shown;
    bool json;
};

static bool misused(const char *problem, const char *what)
{
    fprintf(stderr, "tickettock: check-history: %s%s; `tickettock help check-history` explains.\n", problem, what);
    return false;
}

static bool read_number(const char *text, int64_t most, int64_t *number)
{
    return (str_to_int64(str_from(text), number) && *number >= 0 && *number <= most) ||
           misused("this is no number that it takes: ", text);
}

static bool read_policy(const char *text, struct str *policy)
{
    static const char *const policies[] = {"both", "user", "ip", "off"};
    *policy = str_from(text);
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
        if (strcmp(text, policies[i]) == 0)
            return true;
    return misused("the policy is both, user, ip or off, not ", text);
}

static bool read_flag(const char *flag, const char *value, struct choices *choices)
{
    enum { LONGEST_MS = 86400000 };
    if (strcmp(flag, "--against") == 0)
        choices->against = value;
    else if (strcmp(flag, "--admin-token") == 0)
        choices->admin_token = str_from(value);
    else if (strcmp(flag, "--gateway-token") == 0)
        choices->gateway_token = str_from(value);
    else if (strcmp(flag, "--schedule") == 0)
        choices->schedule = str_from(value);
    else if (strcmp(flag, "--map-lag") == 0)
        return read_number(value, LONGEST_MS, &choices->book.map_lag_ms);
    else if (strcmp(flag, "--duplicate-ttl") == 0)
        return read_number(value, LONGEST_MS, &choices->book.duplicate_ttl_ms);
    else if (strcmp(flag, "--duplicate-policy") == 0)
        return read_policy(value, &choices->book.duplicate_policy);
    else if (strcmp(flag, "--show") == 0)
        return read_number(value, FINDINGS_KEPT, &choices->shown);
    else
        return misused("there is no flag ", flag);
    return true;
}

static bool read_arguments(int argument_count, char **arguments, struct choices *choices)
{
    for (int i = 0; i < argument_count; i++) {
        if (strcmp(arguments[i], "--json") == 0) {
            choices->json = true;
        } else if (strncmp(arguments[i], "--", 2) == 0) {
            if (i + 1 == argument_count)
                return misused("a value is missing behind ", arguments[i]);
            if (!read_flag(arguments[i], arguments[i + 1], choices))
                return false;
            i++;
        } else if (choices->path) {
            return misused("one file at a time, not also ", arguments[i]);
        } else {
            choices->path = arguments[i];
        }
    }
    return choices->path || misused("name the history's file", "");
}

static bool ask_witness(const struct choices *choices, struct book *book, struct verdict *verdict, struct arena *arena,
                        const char **name)
{
    struct witness witness = {
        .book = book,
        .verdict = verdict,
        .arena = arena,
        .schedule = choices->schedule.len ? choices->schedule : book->schedule,
        .admin_token = choices->admin_token,
        .gateway_token = choices->gateway_token,
    };
    if (!choices->against)
        return true;
    if (witness_ask(&witness, choices->against)) {
        *name = witness.name;
        return true;
    }
    fprintf(stderr, "tickettock: check-history: %s cannot be asked: %.*s\n", choices->against,
            STR_ARG(witness.problem));
    return false;
}

static int64_t peak_memory(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss * 1024 : 0;
}

static int print_report(const struct choices *choices, const struct report *report)
{
    struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
    const struct verdict *verdict = report->verdict;
    bool good = (choices->json ? report_write_json : report_write_text)(report, &out);
    good = good && !out.failed && fwrite(out.data, 1, out.len, stdout) == out.len && fflush(stdout) == 0;
    buf_free(&out);
    if (!good || verdict->failed)
        return EXIT_MISUSED;
    return verdict->total ? EXIT_FAILED : verdict->undecided_users ? EXIT_MISUSED : EXIT_FINE;
}

static int judge(const struct choices *choices, struct book *book, struct arena *arena, int64_t began)
{
    struct verdict verdict;
    struct tenancies tenancies = {0};
    const char *witness = NULL;
    int outcome = EXIT_MISUSED;
    verdict_init(&verdict);
    if (!ask_witness(choices, book, &verdict, arena, &witness)) {
        /* told */
    } else if (!tenancies_find(&tenancies, book)) {
        fputs("tickettock: check-history: there is no memory for so long a history.\n", stderr);
    } else {
        struct evidence evidence = {.book = book, .tenancies = &tenancies, .witness = witness};
        check_history(&evidence, &verdict);
        struct report report = {.path = choices->path,
                                .book = book,
                                .verdict = &verdict,
                                .against = choices->against,
                                .shown = (size_t)choices->shown,
                                .seconds = (double)(clock_mono_ns() - began) / 1e9,
                                .peak_memory = peak_memory()};
        outcome = print_report(choices, &report);
    }
    tenancies_free(&tenancies);
    verdict_free(&verdict);
    return outcome;
}

int command_check_history(int argument_count, char **arguments)
{
    const char *gateway_token = getenv("GATEWAY_TOKEN");
    struct choices choices = {.book = {.map_lag_ms = -1, .duplicate_ttl_ms = -1},
                              .gateway_token = str_from(gateway_token ? gateway_token : ""),
                              .shown = SHOWN_DEFAULT};
    if (!read_arguments(argument_count, arguments, &choices))
        return EXIT_MISUSED;
    int64_t began = clock_mono_ns();
    struct arena arena;
    struct book book;
    struct str problem;
    int outcome = EXIT_MISUSED;
    arena_init(&arena, ARENA_MAX_BYTES);
    if (book_read(&book, choices.path, &choices.book, &arena, &problem))
        outcome = judge(&choices, &book, &arena, began);
    else
        fprintf(stderr, "tickettock: check-history: %s: %.*s\n", choices.path, STR_ARG(problem));
    book_free(&book);
    arena_free(&arena);
    return outcome;
}
