#include "rehearse/plan_options.h"

#include "base/clock.h"
#include "rehearse/quantity.h"

enum { USERS_MAX = 100000000, SEATS_MAX = 1000000, CONNECTIONS_MAX = 200000 };

bool plan_refuse(struct plan_reading *reading, const char *option, const char *expected, const char *found)
{
    buf_add_format(reading->problem, "%s: expected %s instead of '%s'.", option, expected, found);
    return false;
}

static bool read_whole(const char *value, uint64_t least, uint64_t most, uint64_t *number)
{
    return str_to_uint64(str_from(value), number) && *number >= least && *number <= most;
}

static bool read_users(struct plan_reading *reading, const char *value)
{
    return read_whole(value, 1, USERS_MAX, &reading->plan->users) ||
           plan_refuse(reading, "--users", "a number from 1 to 100000000", value);
}

bool plan_read_arrival(struct plan_reading *reading, const char *value)
{
    arrival_free(&reading->plan->curve);
    reading->plan->arrival_text = value;
    return arrival_parse(str_from(value), &reading->plan->curve, reading->problem);
}

static bool read_duration(struct plan_reading *reading, const char *value)
{
    return (quantity_duration(str_from(value), &reading->plan->duration_ns) && reading->plan->duration_ns > 0) ||
           plan_refuse(reading, "--duration", "a duration like 30s or 2m, up to a day", value);
}

static bool read_persona(struct plan_reading *reading, const char *value)
{
    return persona_parse(str_from(value), &reading->plan->personas, reading->problem);
}

static bool read_seats(struct plan_reading *reading, const char *value)
{
    uint64_t seats;
    if (!read_whole(value, 0, SEATS_MAX, &seats))
        return plan_refuse(reading, "--seats", "a number from 0 to 1000000", value);
    reading->plan->seats = (int64_t)seats;
    return true;
}

static bool read_schedule(struct plan_reading *reading, const char *value)
{
    reading->plan->schedule = str_from(value);
    return (reading->plan->schedule.len > 0 && reading->plan->schedule.len <= PLAN_SCHEDULE_MAX) ||
           plan_refuse(reading, "--schedule", "1 to 64 bytes", value);
}

static bool read_reset(struct plan_reading *reading, const char *value)
{
    (void)value;
    reading->plan->reset = true;
    return true;
}

static bool read_token(struct plan_reading *reading, const char *whose, const char *value, struct str *token)
{
    *token = str_from(value);
    bool good = token->len <= PLAN_TOKEN_MAX;
    for (const char *c = value; *c; c++)
        good &= *c > ' ' && *c < 127;
    if (!good)
        buf_add_format(reading->problem, "The %s token must be printable ASCII of at most 256 bytes.", whose);
    return good;
}

bool plan_read_admin_token(struct plan_reading *reading, const char *value)
{
    return read_token(reading, "operator's", value, &reading->plan->admin_token);
}

bool plan_read_gateway_token(struct plan_reading *reading, const char *value)
{
    return read_token(reading, "gateway's", value, &reading->plan->gateway_token);
}

static bool read_threshold(struct plan_reading *reading, const char *value)
{
    struct plan *plan = reading->plan;
    if (plan->threshold_count == PLAN_THRESHOLDS_MAX)
        return plan_refuse(reading, "--fail-if", "no more than 16 of them", value);
    return threshold_parse(str_from(value), &plan->thresholds[plan->threshold_count++], reading->problem);
}

static bool read_report(struct plan_reading *reading, const char *value)
{
    reading->plan->report = value;
    return true;
}

static bool read_json(struct plan_reading *reading, const char *value)
{
    reading->plan->json = value;
    return true;
}

static bool read_history(struct plan_reading *reading, const char *value)
{
    reading->plan->history = value;
    return true;
}

static bool read_timeout(struct plan_reading *reading, const char *value)
{
    return (quantity_duration(str_from(value), &reading->plan->timeout_ns) &&
            reading->plan->timeout_ns >= 10 * NS_PER_MS && reading->plan->timeout_ns <= 600 * NS_PER_S) ||
           plan_refuse(reading, "--timeout", "a duration from 10ms to 10m", value);
}

static bool read_connections(struct plan_reading *reading, const char *value)
{
    return read_whole(value, 1, CONNECTIONS_MAX, &reading->plan->connections) ||
           plan_refuse(reading, "--connections", "a number from 1 to 200000", value);
}

static bool read_threads(struct plan_reading *reading, const char *value)
{
    return read_whole(value, 1, PLAN_THREADS_MAX, &reading->plan->threads) ||
           plan_refuse(reading, "--threads", "a number from 1 to 16", value);
}

static bool read_seed(struct plan_reading *reading, const char *value)
{
    return str_to_uint64(str_from(value), &reading->plan->seed) ||
           plan_refuse(reading, "--seed", "a whole number", value);
}

static bool read_forwarded(struct plan_reading *reading, const char *value)
{
    (void)value;
    reading->plan->forwarded_for = true;
    return true;
}

static bool read_owned(struct plan_reading *reading, const char *value)
{
    (void)value;
    reading->plan->owned = true;
    return true;
}

static bool read_quiet(struct plan_reading *reading, const char *value)
{
    (void)value;
    reading->plan->quiet = true;
    return true;
}

const struct plan_option plan_options[] = {
    {"--users", "N",
     "How many come, each with a name of their own. Default: 1000 for a spike, else as many as the "
     "duration brings.",
     read_users},
    {"--arrival", "CURVE", "When they come; see below. Default: spike 1s.", plan_read_arrival},
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
    {"--admin-token", "SECRET", "The operator's token. Better in the environment: ADMIN_TOKEN.", plan_read_admin_token},
    {"--gateway-token", "SECRET",
     "The gateway's token, with which a server believes the header that names a user. Better in the environment: "
     "GATEWAY_TOKEN.",
     plan_read_gateway_token},
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
const size_t plan_option_count = sizeof(plan_options) / sizeof(plan_options[0]);
