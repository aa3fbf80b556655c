#include "rehearse/stage.h"

#include "base/clock.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "history/history.h"
#include "rehearse/call.h"

#include <stdio.h>
#include <unistd.h>

enum { PATH_MAX_BYTES = 512, ARENA_BYTES = 1 << 20, SEEN_WITHIN_S = 10, TAKEN_MAX_BYTES = 16 << 20 };

struct show {
    struct str user_header;
    int64_t seats;
};
static const struct json_field show_fields[] = {
    JSON_FIELD(struct show, user_header, "userHeader", .max = PLAN_HEADER_MAX),
    JSON_FIELD(struct show, seats, "seats"),
};
static const struct json_descriptor show_descriptor = JSON_DESCRIPTOR(struct show, show_fields);
struct show_body {
    struct show show;
};
static const struct json_field body_fields[] = {
    JSON_FIELD_OBJECT(struct show_body, show, "show", &show_descriptor, .required = true),
};
static const struct json_descriptor body_descriptor = JSON_DESCRIPTOR(struct show_body, body_fields);

static bool refuse_answer(const struct target *target, const char *what, const struct answer *answer,
                          struct buf *problem)
{
    buf_add_format(problem, "http://%s answered %d when %s: %.*s", target->authority, answer->status, what,
                   STR_ARG(str_first(answer->body, 300)));
    return false;
}

enum show_outcome { SHOW_FOUND, SHOW_UNKNOWN, SHOW_FAILED };

static enum show_outcome ask_show(struct plan *plan, const struct target *target, int64_t *seats, struct buf *problem)
{
    char path[PATH_MAX_BYTES];
    struct buf bytes;
    struct answer answer;
    struct arena arena;
    struct show_body body = {0};
    struct json_problem json_problem;
    enum show_outcome outcome = SHOW_FAILED;
    snprintf(path, sizeof(path), "/api/v1/show%s", plan->query);
    if (!call_server(target, "GET", path, "", STR(""), &bytes, &answer, problem)) {
        buf_free(&bytes);
        return SHOW_FAILED;
    }
    arena_init(&arena, ARENA_BYTES);
    if (answer.status == 404) {
        outcome = SHOW_UNKNOWN;
    } else if (answer.status != 200 || !json_read(answer.body, &body_descriptor, &body, &arena, &json_problem)) {
        refuse_answer(target, "asked for the show", &answer, problem);
    } else {
        outcome = SHOW_FOUND;
        *seats = body.show.seats;
        if (body.show.user_header.len)
            snprintf(plan->user_header, sizeof(plan->user_header), "%.*s", STR_ARG(body.show.user_header));
    }
    arena_free(&arena);
    buf_free(&bytes);
    return outcome;
}

struct overview {
    int64_t generation;
};
static const struct json_field overview_fields[] = {
    JSON_FIELD(struct overview, generation, "generation", .required = true),
};
static const struct json_descriptor overview_descriptor = JSON_DESCRIPTOR(struct overview, overview_fields);

/* As the operator; `body` may be empty. An answer but 200, and 404 where that may be, is a problem. */
static bool call_as_operator(const struct plan *plan, const char *method, const char *path, struct str body,
                             bool may_be_missing, struct buf *bytes, struct answer *answer, struct buf *problem)
{
    const struct target *target = &plan->targets[0];
    struct buf headers = BUF_INIT(1024);
    buf_add_format(&headers, "X-Admin-Token: %.*s\r\n", STR_ARG(plan->admin_token));
    bool good = call_server(target, method, path, buf_c_string(&headers), body, bytes, answer, problem);
    if (good && answer->status == 403) {
        buf_add_format(problem, "http://%s does not accept the operator's token (ADMIN_TOKEN): no house was opened.",
                       target->authority);
        good = false;
    } else if (good && answer->status != 200 && !(answer->status == 404 && may_be_missing)) {
        good = refuse_answer(target, "asked to open the house", answer, problem);
    }
    buf_free(&headers);
    return good;
}

/* The generation of the house that there is, which a reset must name; 0 when there is none. */
static bool ask_generation(const struct plan *plan, int64_t *generation, struct buf *problem)
{
    char path[PATH_MAX_BYTES];
    struct buf bytes = BUF_INIT(0);
    struct answer answer;
    struct arena arena;
    struct overview overview = {0};
    struct json_problem json_problem;
    snprintf(path, sizeof(path), "/api/v1/admin/overview%s", plan->query);
    bool good = call_as_operator(plan, "GET", path, STR(""), true, &bytes, &answer, problem);
    arena_init(&arena, ARENA_BYTES);
    if (good && answer.status == 200 && !json_read(answer.body, &overview_descriptor, &overview, &arena, &json_problem))
        good = refuse_answer(&plan->targets[0], "asked for its house", &answer, problem);
    *generation = overview.generation;
    arena_free(&arena);
    buf_free(&bytes);
    return good;
}

static bool open_house(const struct plan *plan, struct buf *problem)
{
    struct buf body = BUF_INIT(128), bytes = BUF_INIT(0);
    char path[PATH_MAX_BYTES];
    struct answer answer;
    int64_t generation;
    if (!ask_generation(plan, &generation, problem))
        return false;
    snprintf(path, sizeof(path), "/api/v1/seats/reset%s", plan->query);
    buf_add_format(&body, "{\"seatCount\":%lld,\"generation\":%lld}", (long long)plan->seats, (long long)generation);
    bool good = call_as_operator(plan, "POST", path, buf_str(&body), false, &bytes, &answer, problem);
    buf_free(&bytes);
    buf_free(&body);
    return good;
}

static void take_seat(void *context, int64_t seat)
{
    seat_ranges_add(context, seat);
}

/* What the server shows: how many seats, and which are taken. */
static bool read_map(const struct plan *plan, const struct target *target, struct stage *stage, struct buf *problem)
{
    char path[PATH_MAX_BYTES];
    struct buf bytes;
    struct answer answer;
    struct seat_ranges ranges = {.out = &stage->taken};
    buf_clear(&stage->taken);
    snprintf(path, sizeof(path), "/api/v1/seats%s", plan->query);
    bool good = call_server(target, "GET", path, "", STR(""), &bytes, &answer, problem);
    if (good && (answer.status != 200 || (stage->seats = map_read(answer.body, take_seat, &ranges)) < 0))
        good = refuse_answer(target, "asked for its seats", &answer, problem);
    seat_ranges_finish(&ranges);
    buf_free(&bytes);
    return good;
}

/* The other servers of a fleet hear of a new house a moment later. */
static bool await_house(const struct plan *plan, struct stage *stage, struct buf *problem)
{
    int64_t deadline_ns = clock_mono_ns() + SEEN_WITHIN_S * NS_PER_S;
    for (size_t i = 0; i < plan->target_count; i++) {
        while (read_map(plan, &plan->targets[i], stage, problem) && (stage->seats != plan->seats || stage->taken.len) &&
               clock_mono_ns() < deadline_ns)
            usleep(20000);
        if (problem->len)
            return false;
        if (stage->seats != plan->seats || stage->taken.len) {
            buf_add_format(problem, "http://%s does not show the new house. Do all servers share one database?",
                           plan->targets[i].authority);
            return false;
        }
    }
    return true;
}

/* A crowd of which nobody is known to the server would be a waste of everybody's time. */
static bool check_names(const struct plan *plan, const struct target *target, struct buf *problem)
{
    char path[PATH_MAX_BYTES];
    struct buf headers = BUF_INIT(1024), bytes;
    struct answer answer;
    snprintf(path, sizeof(path), "/api/v1/seats/reservation%s", plan->query);
    plan_name_user(plan, 0, &headers);
    if (plan->forwarded_for)
        plan_name_address(0, &headers);
    bool good = call_server(target, "GET", path, buf_c_string(&headers), STR(""), &bytes, &answer, problem);
    if (good && (answer.status == 400 || answer.status == 401)) {
        buf_add_format(problem,
                       "http://%s does not believe the header %s, by which a rehearsal names its users. Set "
                       "GATEWAY_TOKEN as the server has it, or start the server with FCFS_TRUST_USER_HEADER=1 for the "
                       "time of the rehearsal, where nobody else can reach it.",
                       target->authority, plan->user_header);
        good = false;
    }
    buf_free(&headers);
    buf_free(&bytes);
    return good;
}

static bool check_all_names(const struct plan *plan, struct buf *problem)
{
    for (size_t i = 0; i < plan->target_count; i++)
        if (!check_names(plan, &plan->targets[i], problem))
            return false;
    return true;
}

static bool prepare_house(struct plan *plan, struct stage *stage, struct buf *problem)
{
    const struct target *first = &plan->targets[0];
    bool ours = str_starts(plan->schedule, STR("rehearsal"));
    enum show_outcome found = ask_show(plan, first, &stage->seats, problem);
    if (found == SHOW_FAILED)
        return false;
    if (plan->seats < 0) {
        if (found == SHOW_FOUND)
            return read_map(plan, first, stage, problem);
        buf_add_format(problem, "http://%s has no schedule %.*s; --seats would open it.", first->authority,
                       STR_ARG(plan->schedule));
        return false;
    }
    if (found == SHOW_FOUND && !ours && !plan->reset) {
        buf_add_format(problem,
                       "http://%s has a schedule %.*s with %lld seats already. Choose a name that begins with "
                       "'rehearsal', or say --reset to replace it: what was sold there would be gone.",
                       first->authority, STR_ARG(plan->schedule), (long long)stage->seats);
        return false;
    }
    int64_t ignored;
    return open_house(plan, problem) && await_house(plan, stage, problem) &&
           ask_show(plan, first, &ignored, problem) == SHOW_FOUND;
}

bool stage_prepare(struct plan *plan, struct stage *stage, struct buf *problem)
{
    *stage = (struct stage){.taken = BUF_INIT(TAKEN_MAX_BYTES)};
    return prepare_house(plan, stage, problem) && check_all_names(plan, problem);
}

void stage_free(struct stage *stage)
{
    buf_free(&stage->taken);
}
