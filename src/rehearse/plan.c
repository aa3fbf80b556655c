/* The command line of `tickettock rehearse`. One table makes the reader and the help. */
#include "rehearse/plan.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/suggest.h"
#include "http/url.h"
#include "rehearse/quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    USERS_DEFAULT = 1000,
    USERS_MAX = 100000000,
    SEATS_DEFAULT = 500,
    SEATS_MAX = 1000000,
    CONNECTIONS_DEFAULT = 10000,
    CONNECTIONS_MAX = 200000,
    FILES_FOR_OTHERS = 64,
    TOKEN_MAX = 256,
};

#define DEFAULT_URL "http://127.0.0.1:5800"
#define DEFAULT_SCHEDULE "rehearsal"

struct reading {
    struct plan *plan;
    struct buf *problem;
    struct str urls[PLAN_TARGETS_MAX];
    size_t url_count;
};

typedef bool option_reader(struct reading *reading, const char *value);

static bool refuse(struct reading *reading, const char *option, const char *expected, const char *found)
{
    buf_add_format(reading->problem, "%s: expected %s instead of '%s'.", option, expected, found);
    return false;
}

static bool read_whole(const char *value, uint64_t least, uint64_t most, uint64_t *number)
{
    return str_to_uint64(str_from(value), number) && *number >= least && *number <= most;
}

static bool read_users(struct reading *reading, const char *value)
{
    return read_whole(value, 1, USERS_MAX, &reading->plan->users) ||
           refuse(reading, "--users", "a number from 1 to 100000000", value);
}

static bool read_arrival(struct reading *reading, const char *value)
{
    arrival_free(&reading->plan->curve);
    reading->plan->arrival_text = value;
    return arrival_parse(str_from(value), &reading->plan->curve, reading->problem);
}

static bool read_duration(struct reading *reading, const char *value)
{
    return (quantity_duration(str_from(value), &reading->plan->duration_ns) && reading->plan->duration_ns > 0) ||
           refuse(reading, "--duration", "a duration like 30s or 2m, up to a day", value);
}

static bool read_persona(struct reading *reading, const char *value)
{
    return persona_parse(str_from(value), &reading->plan->personas, reading->problem);
}

static bool read_seats(struct reading *reading, const char *value)
{
    uint64_t seats;
    if (!read_whole(value, 0, SEATS_MAX, &seats))
        return refuse(reading, "--seats", "a number from 0 to 1000000", value);
    reading->plan->seats = (int64_t)seats;
    return true;
}

static bool read_schedule(struct reading *reading, const char *value)
{
    reading->plan->schedule = str_from(value);
    return (reading->plan->schedule.len > 0 && reading->plan->schedule.len <= PLAN_SCHEDULE_MAX) ||
           refuse(reading, "--schedule", "1 to 64 bytes", value);
}

static bool read_reset(struct reading *reading, const char *value)
{
    (void)value;
    reading->plan->reset = true;
    return true;
}

static bool read_token(struct reading *reading, const char *value)
{
    reading->plan->admin_token = str_from(value);
    bool good = reading->plan->admin_token.len <= TOKEN_MAX;
    for (const char *c = value; *c; c++)
        good &= *c > ' ' && *c < 127;
    if (!good)
        buf_add(reading->problem, STR("The operator's token must be printable ASCII of at most 256 bytes."));
    return good;
}

static bool read_threshold(struct reading *reading, const char *value)
{
    struct plan *plan = reading->plan;
    if (plan->threshold_count == PLAN_THRESHOLDS_MAX)
        return refuse(reading, "--fail-if", "no more than 16 of them", value);
    return threshold_parse(str_from(value), &plan->thresholds[plan->threshold_count++], reading->problem);
}

static bool read_report(struct reading *reading, const char *value)
{
    reading->plan->report = value;
    return true;
}

static bool read_json(struct reading *reading, const char *value)
{
    reading->plan->json = value;
    return true;
}

static bool read_history(struct reading *reading, const char *value)
{
    reading->plan->history = value;
    return true;
}

static bool read_timeout(struct reading *reading, const char *value)
{
    return (quantity_duration(str_from(value), &reading->plan->timeout_ns) &&
            reading->plan->timeout_ns >= 10 * NS_PER_MS && reading->plan->timeout_ns <= 600 * NS_PER_S) ||
           refuse(reading, "--timeout", "a duration from 10ms to 10m", value);
}

static bool read_connections(struct reading *reading, const char *value)
{
    return read_whole(value, 1, CONNECTIONS_MAX, &reading->plan->connections) ||
           refuse(reading, "--connections", "a number from 1 to 200000", value);
}

static bool read_threads(struct reading *reading, const char *value)
{
    return read_whole(value, 1, PLAN_THREADS_MAX, &reading->plan->threads) ||
           refuse(reading, "--threads", "a number from 1 to 16", value);
}

static bool read_seed(struct reading *reading, const char *value)
{
    return str_to_uint64(str_from(value), &reading->plan->seed) || refuse(reading, "--seed", "a whole number", value);
}

static bool read_forwarded(struct reading *reading, const char *value)
{
    (void)value;
    reading->plan->forwarded_for = true;
    return true;
}

static bool read_owned(struct reading *reading, const char *value)
{
    (void)value;
    reading->plan->owned = true;
    return true;
}

static bool read_quiet(struct reading *reading, const char *value)
{
    (void)value;
    reading->plan->quiet = true;
    return true;
}

static const struct option {
    const char *name, *value, *text; /* value NULL: a switch */
    option_reader *read;
} options[] = {
    {"--users", "N",
     "How many come, each with a name of their own. Default: 1000 for a spike, else as many as the "
     "duration brings.",
     read_users},
    {"--arrival", "CURVE", "When they come; see below. Default: spike 1s.", read_arrival},
    {"--duration", "TIME",
     "Nobody comes after it. Default: until all users have come, or 10s for a rate that has no "
     "end.",
     read_duration},
    {"--persona", "LIST", "How they behave, as in double-click=10%,retry=20%; see below.", read_persona},
    {"--seats", "N", "Opens a house with so many seats for this rehearsal, with the operator's token. Default: 500.",
     read_seats},
    {"--schedule", "ID",
     "The schedule to sell. With --seats it is opened anew; without, its seats are sold as they "
     "are. Default: rehearsal.",
     read_schedule},
    {"--reset", NULL,
     "With --seats: also replace a schedule that exists and does not begin with 'rehearsal'. What was "
     "sold there is gone.",
     read_reset},
    {"--admin-token", "SECRET", "The operator's token. Better in the environment: ADMIN_TOKEN.", read_token},
    {"--fail-if", "RULE",
     "Ends with status 3 if the rule holds: p99>200ms, errors>0.1%, sold<500, rate<1000/s, "
     "map.p99>50ms. May be repeated.",
     read_threshold},
    {"--report", "FILE", "Writes an HTML page with charts.", read_report},
    {"--json", "FILE", "Writes the figures as JSON.", read_json},
    {"--history", "FILE", "Records every request for `tickettock check-history`.", read_history},
    {"--timeout", "TIME", "How long a user waits for an answer, from the moment of coming. Default: 10s.",
     read_timeout},
    {"--connections", "N", "The most connections at a time; they are opened as needed and kept. Default: 10000.",
     read_connections},
    {"--threads", "N", "Threads that send. Default: 1, which is enough for about 50,000 requests per second.",
     read_threads},
    {"--seed", "N", "Makes arrivals and personas the same as in another run. Default: another each time.", read_seed},
    {"--forwarded-for", NULL,
     "Names an address for each user in X-Forwarded-For; the server must list this machine in "
     "TRUSTED_PROXIES.",
     read_forwarded},
    {"--i-own-this-server", NULL, "Allows a server that is not on this machine.", read_owned},
    {"--quiet", NULL, "Shows no progress, only the report.", read_quiet},
};
enum { OPTION_COUNT = sizeof(options) / sizeof(options[0]) };

static const struct option *find_option(struct reading *reading, struct str name)
{
    struct suggest suggest = suggest_for(name);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (str_eq(name, str_from(options[i].name)))
            return &options[i];
        suggest_consider(&suggest, options[i].name);
    }
    buf_add_format(reading->problem, "There is no option %.*s", STR_ARG(name));
    if (suggest.best)
        buf_add_format(reading->problem, "; did you mean %s?", suggest.best);
    else
        buf_add(reading->problem, STR("; `tickettock help rehearse` lists them."));
    return NULL;
}

static bool add_url(struct reading *reading, const char *url)
{
    if (reading->url_count == PLAN_TARGETS_MAX)
        return refuse(reading, "URL", "no more than 16 servers", url);
    reading->urls[reading->url_count++] = str_from(url);
    return true;
}

static bool read_arguments(struct reading *reading, int argument_count, char **arguments)
{
    for (int i = 0; i < argument_count; i++) {
        struct str name = str_from(arguments[i]);
        const char *value = strchr(arguments[i], '=');
        if (!str_starts(name, STR("--"))) {
            if (!add_url(reading, arguments[i]))
                return false;
            continue;
        }
        if (value)
            name = str_first(name, (size_t)(value++ - arguments[i]));
        const struct option *option = find_option(reading, name);
        if (!option)
            return false;
        if (option->value && !value)
            value = ++i < argument_count ? arguments[i] : NULL;
        if (!option->value != !value) {
            buf_add_format(reading->problem, option->value ? "%s needs a value." : "%s takes no value.", option->name);
            return false;
        }
        if (!option->read(reading, value))
            return false;
    }
    return true;
}

/* The kernel's limit on open files bounds the connections; we ask for as many as we may have. */
static bool raise_file_limit(struct reading *reading)
{
    struct rlimit files;
    struct plan *plan = reading->plan;
    bool asked = plan->connections != 0;
    if (!asked)
        plan->connections = CONNECTIONS_DEFAULT;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return true;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    uint64_t most = files.rlim_cur > 2 * FILES_FOR_OTHERS ? files.rlim_cur - FILES_FOR_OTHERS : FILES_FOR_OTHERS;
    if (plan->connections > most && asked) {
        buf_add_format(reading->problem, "--connections: this machine lets a process open %llu files (ulimit -Hn).",
                       (unsigned long long)files.rlim_cur);
        return false;
    }
    if (plan->connections > most)
        plan->connections = most;
    if (plan->connections < plan->threads)
        plan->connections = plan->threads;
    return true;
}

/* What was not said follows from what was. */
static bool fill_gaps(struct reading *reading)
{
    struct plan *plan = reading->plan;
    if (!plan->arrival_text && !read_arrival(reading, "spike 1s"))
        return false;
    if (!plan->users && arrival_needs_users(&plan->curve))
        plan->users = USERS_DEFAULT;
    if (!plan->users && !plan->duration_ns && arrival_is_endless(&plan->curve))
        plan->duration_ns = 10 * NS_PER_S;
    if (plan->schedule.len == 0) {
        plan->schedule = STR(DEFAULT_SCHEDULE);
        if (plan->seats < 0)
            plan->seats = SEATS_DEFAULT;
    }
    if (plan->seats >= 0 && plan->admin_token.len == 0) {
        buf_add(
            reading->problem,
            STR("A rehearsal sells a house of its own; to open it, it needs the operator's token: set ADMIN_TOKEN as "
                "the server has it. Or say --schedule ID without --seats to sell the seats of a house that exists."));
        return false;
    }
    return true;
}

static bool resolve_targets(struct reading *reading)
{
    struct plan *plan = reading->plan;
    if (reading->url_count == 0 && !add_url(reading, DEFAULT_URL))
        return false;
    for (; plan->target_count < reading->url_count; plan->target_count++)
        if (!target_parse(reading->urls[plan->target_count], plan->owned, &plan->targets[plan->target_count],
                          reading->problem))
            return false;
    return true;
}

static void name_run(struct plan *plan)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    struct buf query = {.data = plan->query, .size = sizeof(plan->query), .max = sizeof(plan->query) - 1};
    for (size_t i = 0; i < 8; i++)
        plan->run[i] = letters[random_below(sizeof(letters) - 1)];
    plan->run[8] = '\0';
    buf_add(&query, STR("?scheduleId="));
    url_encode(&query, plan->schedule);
    plan->query[query.len] = '\0';
}

bool plan_read(int argument_count, char **arguments, struct plan *plan, struct buf *problem)
{
    struct reading reading = {.plan = plan, .problem = problem};
    const char *token = getenv("ADMIN_TOKEN");
    *plan = (struct plan){
        .personas = persona_all_plain(),
        .timeout_ns = 10 * NS_PER_S,
        .threads = 1,
        .seats = -1,
        .seed = random_fast() >> 32, /* short enough for JSON and for typing */
        .user_header = "X-User-Id",
    };
    if ((token && !read_token(&reading, token)) || !read_arguments(&reading, argument_count, arguments) ||
        !fill_gaps(&reading) || !raise_file_limit(&reading) || !resolve_targets(&reading))
        return false;
    name_run(plan);
    return true;
}

void plan_free(struct plan *plan)
{
    arrival_free(&plan->curve);
}

/* Words of `text`, indented and wrapped. */
static void add_wrapped(struct buf *out, const char *text, size_t indent, size_t columns)
{
    struct str rest = str_from(text), word;
    size_t column = indent;
    buf_add_format(out, "%*s", (int)indent, "");
    while (str_split(&rest, ' ', &word)) {
        if (column > indent && column + 1 + word.len > columns) {
            buf_add_format(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        if (column > indent)
            buf_add_char(out, ' ');
        buf_add(out, word);
        column += word.len + (column > indent);
    }
    buf_add_char(out, '\n');
}

void plan_help(size_t columns, struct buf *out)
{
    buf_add(out, STR("Options:\n"));
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        buf_add_format(out, "  %s%s%s\n", options[i].name, options[i].value ? " " : "",
                       options[i].value ? options[i].value : "");
        add_wrapped(out, options[i].text, 6, columns);
    }
    buf_add(out, STR("\nPersonas, as --persona NAME=SHARE,…:\n"));
    for (enum persona persona = 0; persona < PERSONA_COUNT; persona++) {
        buf_add_format(out, "  %s\n", persona_name(persona));
        add_wrapped(out, persona_text(persona), 6, columns);
    }
    buf_add(out, STR("\nArrival curves; parts with an end can follow each other, separated by commas:\n"
                     "  spike 2s                     all users within two seconds\n"
                     "  spike 5000 in 1s             so many of them\n"
                     "  constant 500/s [for 10s]     at even distances\n"
                     "  poisson 500/s [for 10s]      so many on average, each when they like\n"
                     "  ramp 10/s->2000/s over 30s   more and more, or fewer and fewer\n"
                     "  replay FILE                  a line for each: seconds since the start\n"));
}
