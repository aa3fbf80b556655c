/* The command line of `tickettock rehearse`. */
#include "rehearse/plan_options.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/suggest.h"
#include "http/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { USERS_DEFAULT = 1000, SEATS_DEFAULT = 500, CONNECTIONS_DEFAULT = 10000, FILES_FOR_OTHERS = 64 };

#define DEFAULT_URL "http://127.0.0.1:5800"
#define DEFAULT_SCHEDULE "rehearsal"

static const struct plan_option *find_option(struct plan_reading *reading, struct str name)
{
    struct suggest suggest = suggest_for(name);
    for (size_t i = 0; i < plan_option_count; i++) {
        if (str_eq(name, str_from(plan_options[i].name)))
            return &plan_options[i];
        suggest_consider(&suggest, plan_options[i].name);
    }
    buf_add_format(reading->problem, "There is no option %.*s", STR_ARG(name));
    if (suggest.best)
        buf_add_format(reading->problem, "; did you mean %s?", suggest.best);
    else
        buf_add(reading->problem, STR("; `tickettock help rehearse` lists them."));
    return NULL;
}

static bool add_url(struct plan_reading *reading, const char *url)
{
    if (reading->url_count == PLAN_TARGETS_MAX)
        return plan_refuse(reading, "URL", "no more than 16 servers", url);
    reading->urls[reading->url_count++] = str_from(url);
    return true;
}

static bool read_arguments(struct plan_reading *reading, int argument_count, char **arguments)
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
        const struct plan_option *option = find_option(reading, name);
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
static bool raise_file_limit(struct plan_reading *reading)
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
static bool fill_gaps(struct plan_reading *reading)
{
    struct plan *plan = reading->plan;
    if (!plan->arrival_text && !plan_read_arrival(reading, "spike 1s"))
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

static bool resolve_targets(struct plan_reading *reading)
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
    struct plan_reading reading = {.plan = plan, .problem = problem};
    const char *admin_token = getenv("ADMIN_TOKEN"), *gateway_token = getenv("GATEWAY_TOKEN");
    *plan = (struct plan){
        .personas = persona_all_plain(),
        .timeout_ns = 10 * NS_PER_S,
        .threads = 1,
        .seats = -1,
        .seed = random_fast() >> 32, /* short enough for JSON and for typing */
        .user_header = "X-User-Id",
    };
    if ((admin_token && !plan_read_admin_token(&reading, admin_token)) ||
        (gateway_token && !plan_read_gateway_token(&reading, gateway_token)) ||
        !read_arguments(&reading, argument_count, arguments) || !fill_gaps(&reading) || !raise_file_limit(&reading) ||
        !resolve_targets(&reading))
        return false;
    name_run(plan);
    return true;
}

void plan_free(struct plan *plan)
{
    arrival_free(&plan->curve);
}

void plan_name_user(const struct plan *plan, unsigned long long number, struct buf *out)
{
    buf_add_format(out, "%s: %s-%llu\r\n", plan->user_header, plan->run, number);
    if (plan->gateway_token.len)
        buf_add_format(out, "X-Gateway-Token: %.*s\r\n", STR_ARG(plan->gateway_token));
}

void plan_name_address(unsigned long long number, struct buf *out)
{
    unsigned host = number ? (unsigned)(number % 0xfffffe) : 0xfffffe;
    buf_add_format(out, "X-Forwarded-For: 10.%u.%u.%u\r\n", host >> 16, host >> 8 & 255, host & 255);
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
    for (size_t i = 0; i < plan_option_count; i++) {
        buf_add_format(out, "  %s%s%s\n", plan_options[i].name, plan_options[i].value ? " " : "",
                       plan_options[i].value ? plan_options[i].value : "");
        add_wrapped(out, plan_options[i].text, 6, columns);
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
                     "  replay FILE                  a line for each: seconds since the start\n"
                     "\nRules for --fail-if, with >, >=, < or <=:\n"
                     "  p50 p90 p95 p99 p99.9 max mean   against a time: p99>200ms; of one kind of\n"
                     "                                   request: claim.p99, release., mine., map.\n"
                     "  errors timeouts sold answered    against a number or a share of the requests:\n"
                     "                                   errors>0.1%, sold<500\n"
                     "  sold_out duplicate …             answers with this reason, likewise\n"
                     "  rate                             answers per second: rate<1000/s\n"));
    add_wrapped(out,
                "Errors are answers 5xx, connections refused or broken, no answer in time, requests that found no free "
                "connection in time, and answers too large to be kept (512 MB per thread, for many readers of a huge "
                "house). Refusals such as sold_out are answers. A time includes waiting for a connection; who had no "
                "answer in time counts with the time waited; of slow users, only what follows their last byte counts.",
                0, columns);
}
