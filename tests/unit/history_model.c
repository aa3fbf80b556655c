#include "history_model.h"

#include "base/clock.h"
#include "history/history.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    LATENCY = 2000000, /* ns, on each way at most */
    STEP = 20000,      /* ns between commits at most */
    LATE = 50000000,   /* ns: what was not answered happens so much later at most */
    CLICKS_MAX = 5,    /* on top of each other */
    NOBODY = -1,
    BUG_EVERY = 8, /* the chance of a mistake is one in so many */
};
#define LAG (1 * NS_PER_MS)

struct change {
    int64_t time, seat;
    int64_t user; /* NOBODY: it became free */
};

/* One server's copy of the house, some changes behind. */
struct replica {
    size_t applied;
    int64_t taken;
    int64_t *owner, *seat_of;
};

struct later {
    int64_t time, user;
    bool claim;
};

struct model {
    struct model_options options;
    uint64_t random;
    int64_t now, sequence;
    int64_t lowest;                            /* no lower seat is free */
    int64_t *owner;                            /* per seat - 1 */
    int64_t *seat_of;                          /* per user; 0: none */
    int64_t *busy_until, *lock_until, *clicks; /* per user */
    struct change *changes;
    size_t change_count, change_room;
    struct replica *replicas;
    struct later later[64];
    size_t later_count;
    struct buf taken_text;
    struct history_writer *writer;
};

static uint64_t below(struct model *model, uint64_t limit)
{
    model->random ^= model->random << 13;
    model->random ^= model->random >> 7;
    model->random ^= model->random << 17;
    return model->random % limit;
}

static bool percent(struct model *model, int chance)
{
    return below(model, 100) < (uint64_t)chance;
}

static bool mistake(struct model *model, enum model_bug bug)
{
    return model->options.bug == bug && below(model, BUG_EVERY) == 0;
}

static void change(struct model *model, int64_t seat, int64_t user)
{
    if (model->change_count == model->change_room) {
        model->change_room = model->change_room ? 2 * model->change_room : 1024;
        model->changes = realloc(model->changes, model->change_room * sizeof(*model->changes));
        if (!model->changes)
            abort();
    }
    model->changes[model->change_count++] = (struct change){.time = model->now, .seat = seat, .user = user};
    if (model->owner[seat - 1] >= 0)
        model->seat_of[model->owner[seat - 1]] = 0;
    model->owner[seat - 1] = user;
    if (user >= 0)
        model->seat_of[user] = seat;
    if (user == NOBODY && seat < model->lowest)
        model->lowest = seat;
}

static int64_t lowest_free(struct model *model, int64_t from)
{
    bool lowest = from <= model->lowest;
    int64_t seat = lowest ? model->lowest : from;
    while (seat <= model->options.seats && model->owner[seat - 1] != NOBODY)
        seat++;
    if (lowest)
        model->lowest = seat;
    return seat <= model->options.seats ? seat : 0;
}

/* Several servers: each hears of changes a little later, and in order. */
static struct replica *look(struct model *model, int64_t server)
{
    struct replica *replica = &model->replicas[server];
    bool one = model->options.servers == 1, deaf = model->options.bug == BUG_STALE_MAP && model->sequence > 20;
    int64_t until = deaf ? 0 : one ? model->now : model->now - (int64_t)below(model, (uint64_t)LAG);
    for (; replica->applied < model->change_count && model->changes[replica->applied].time <= until;
         replica->applied++) {
        const struct change *one_change = &model->changes[replica->applied];
        int64_t *owner = &replica->owner[one_change->seat - 1];
        if (*owner >= 0)
            replica->seat_of[*owner] = 0;
        replica->taken += (one_change->user != NOBODY) - (*owner != NOBODY);
        *owner = one_change->user;
        if (one_change->user >= 0)
            replica->seat_of[one_change->user] = one_change->seat;
    }
    return replica;
}

static int64_t taken_count(const struct model *model)
{
    int64_t taken = 0;
    for (int64_t seat = 0; seat < model->options.seats; seat++)
        taken += model->owner[seat] != NOBODY;
    return taken;
}

static void refuse(struct history_op *op, const char *reason)
{
    op->status = 409;
    op->reason = str_from(reason);
}

static void draw_number(struct model *model, struct history_op *op)
{
    op->sequence = ++model->sequence;
    if (mistake(model, BUG_SEQUENCE_TWICE) && op->sequence > 1)
        op->sequence--;
    if (model->options.bug == BUG_SEQUENCE_BACKWARDS)
        op->sequence = op->server * 1000000 + model->sequence;
}

static void give(struct model *model, struct history_op *op, int64_t user, int64_t seat)
{
    int64_t second = lowest_free(model, seat + 1);
    if (mistake(model, BUG_SEAT_OUT_OF_ORDER) && second)
        seat = second;
    if (mistake(model, BUG_NO_STATUS_GUARD) && seat > 1)
        seat = 1 + (int64_t)below(model, (uint64_t)seat - 1);
    draw_number(model, op);
    op->status = 200;
    op->seat = mistake(model, BUG_SEAT_PAST_THE_END) ? model->options.seats + 1 : seat;
    if (!mistake(model, BUG_LOST_UPDATE))
        change(model, seat, user);
    if (model->options.seats <= 1000)
        op->remaining = model->options.seats - taken_count(model) + mistake(model, BUG_WRONG_COUNT) * 25;
}

static void tell_other_seat(struct model *model, struct history_op *op)
{
    for (int64_t seat = 1; seat <= model->options.seats; seat++)
        if (model->owner[seat - 1] >= 0 && seat != op->seat)
            op->seat = seat;
}

static void claim(struct model *model, struct history_op *op, int64_t user)
{
    struct replica *replica = look(model, op->server);
    bool full = replica->taken == model->options.seats && !replica->seat_of[user];
    int64_t seat = lowest_free(model, 1);
    if (full || (seat && mistake(model, BUG_PHANTOM_SOLD_OUT) && !model->seat_of[user])) {
        refuse(op, "sold_out");
    } else if (model->seat_of[user] && !(seat && mistake(model, BUG_SECOND_SEAT))) {
        refuse(op, "already_reserved");
        op->seat = model->seat_of[user];
        if (mistake(model, BUG_ANOTHER_USERS_SEAT))
            tell_other_seat(model, op);
    } else if (!seat) {
        refuse(op, "sold_out");
    } else {
        give(model, op, user, seat);
    }
}

static void release(struct model *model, struct history_op *op, int64_t user)
{
    if (!model->seat_of[user]) {
        refuse(op, "not_reserved");
        return;
    }
    op->status = 200;
    op->seat = model->seat_of[user];
    if (!mistake(model, BUG_RESURRECTED_SEAT))
        change(model, op->seat, NOBODY);
}

static void look_up(struct model *model, struct history_op *op, int64_t user)
{
    op->status = 200;
    op->seat = model->seat_of[user];
}

static void draw_map(struct model *model, struct history_op *op)
{
    struct replica *replica = look(model, op->server);
    struct seat_ranges ranges = {.out = &model->taken_text};
    buf_clear(&model->taken_text);
    for (int64_t seat = 1; seat <= model->options.seats; seat++)
        if (replica->owner[seat - 1] != NOBODY)
            seat_ranges_add(&ranges, seat);
    seat_ranges_finish(&ranges);
    op->status = 200;
    op->taken = model->taken_text.len ? buf_str(&model->taken_text) : STR("");
    op->remaining = model->options.seats - replica->taken;
    op->generation = 1;
    op->version = (int64_t)replica->applied;
    if (mistake(model, BUG_MAP_BACKWARDS) && op->version > 3)
        op->version /= 2;
}

/* Requests without an answer that happen only now. */
static void do_late(struct model *model)
{
    for (size_t i = 0; i < model->later_count; i++) {
        struct later late = model->later[i];
        if (late.time > model->now)
            continue;
        model->later[i--] = model->later[--model->later_count];
        int64_t seat = lowest_free(model, 1);
        if (late.claim && seat && !model->seat_of[late.user]) {
            model->sequence++;
            change(model, seat, late.user);
        } else if (!late.claim && model->seat_of[late.user]) {
            change(model, model->seat_of[late.user], NOBODY);
        }
    }
}

static void lose_answer(struct model *model, struct history_op *op)
{
    struct history_op unknown = HISTORY_OP_UNKNOWN;
    unknown.kind = op->kind;
    unknown.user = op->user;
    unknown.start = op->start;
    unknown.server = op->server;
    if (percent(model, 30)) { /* a server that says that it does not know */
        unknown.end = op->end;
        unknown.status = 503;
    }
    *op = unknown;
}

/* Without an answer: it happened, or will, or not at all. */
static void act_unanswered(struct model *model, struct history_op *op, int64_t user)
{
    uint64_t fate = below(model, 3);
    struct history_op ignored = *op;
    if (fate == 0)
        (op->kind == HISTORY_CLAIM ? claim : release)(model, &ignored, user);
    else if (fate == 1 && model->later_count < sizeof(model->later) / sizeof(model->later[0]))
        model->later[model->later_count++] = (struct later){.time = model->now + (int64_t)below(model, LATE),
                                                            .user = user,
                                                            .claim = op->kind == HISTORY_CLAIM};
    lose_answer(model, op);
}

static void act(struct model *model, struct history_op *op, int64_t user)
{
    bool attempt = op->kind == HISTORY_CLAIM || op->kind == HISTORY_RELEASE;
    if (attempt && model->lock_until[user] >= model->now) {
        refuse(op, "duplicate");
        return;
    }
    if (attempt)
        model->lock_until[user] = mistake(model, BUG_LOCK_NEVER_RELEASED) ? INT64_MAX : op->end;
    if (attempt && percent(model, model->options.unanswered_percent)) {
        act_unanswered(model, op, user);
        return;
    }
    switch (op->kind) {
    case HISTORY_CLAIM: claim(model, op, user); break;
    case HISTORY_RELEASE: release(model, op, user); break;
    case HISTORY_MINE: look_up(model, op, user); break;
    case HISTORY_MAP: draw_map(model, op); break;
    }
}

static enum history_kind choose(struct model *model)
{
    if (below(model, 1000) < (uint64_t)model->options.map_permille)
        return HISTORY_MAP;
    if (percent(model, model->options.read_percent))
        return HISTORY_MINE;
    return percent(model, model->options.release_percent) ? HISTORY_RELEASE : HISTORY_CLAIM;
}

/* A crash takes back what had been answered last. */
static void crash(struct model *model)
{
    if (model->change_count && model->changes[model->change_count - 1].user >= 0 &&
        mistake(model, BUG_ANSWER_BEFORE_COMMIT))
        change(model, model->changes[model->change_count - 1].seat, NOBODY);
}

/* False when the user whose turn it is was busy. */
static bool one_request(struct model *model)
{
    char name[32];
    int64_t user = (int64_t)below(model, (uint64_t)model->options.users);
    model->now += 1 + (int64_t)below(model, STEP);
    do_late(model);
    bool busy = model->busy_until[user] >= model->now - LATENCY;
    model->clicks[user] = busy ? model->clicks[user] + 1 : 0;
    if (busy && (model->clicks[user] > CLICKS_MAX || !percent(model, model->options.double_click_percent)))
        return false;
    struct history_op op = HISTORY_OP_UNKNOWN;
    op.kind = choose(model);
    op.user = str_make(name, (size_t)snprintf(name, sizeof(name), "user-%lld", (long long)user));
    op.server = (int)below(model, (uint64_t)model->options.servers);
    op.start = model->now - (int64_t)below(model, LATENCY);
    op.end = model->now + (int64_t)below(model, LATENCY);
    int64_t end = op.end;
    act(model, &op, user);
    if (op.kind == HISTORY_MAP)
        op.user = (struct str){NULL, 0};
    else if (end > model->busy_until[user])
        model->busy_until[user] = end;
    history_append(model->writer, &op);
    crash(model);
    return true;
}

static int64_t *filled(int64_t count, int64_t value)
{
    int64_t *list = malloc((size_t)count * sizeof(*list));
    for (int64_t i = 0; list && i < count; i++)
        list[i] = value;
    return list;
}

static void prepare(struct model *model)
{
    const struct model_options *options = &model->options;
    model->now = LATENCY;
    model->lowest = 1;
    model->random = options->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    model->owner = filled(options->seats, NOBODY);
    model->seat_of = filled(options->users, 0);
    model->busy_until = filled(options->users, -1);
    model->lock_until = filled(options->users, -1);
    model->clicks = filled(options->users, 0);
    model->replicas = calloc((size_t)options->servers, sizeof(*model->replicas));
    for (int64_t i = 0; i < options->servers; i++) {
        model->replicas[i].owner = filled(options->seats, NOBODY);
        model->replicas[i].seat_of = filled(options->users, 0);
    }
    buf_init(&model->taken_text, 1 << 24);
}

/* Every third seat belongs to somebody who takes no part; -2 is nobody whom the model knows. */
static void take_some(struct model *model, struct buf *text)
{
    struct seat_ranges ranges = {.out = text};
    for (int64_t seat = 3; model->options.some_taken && seat <= model->options.seats; seat += 3) {
        model->owner[seat - 1] = -2;
        for (int64_t i = 0; i < model->options.servers; i++) {
            model->replicas[i].owner[seat - 1] = -2;
            model->replicas[i].taken++;
        }
        seat_ranges_add(&ranges, seat);
    }
    seat_ranges_finish(&ranges);
}

static void clear(struct model *model)
{
    for (int64_t i = 0; i < model->options.servers; i++) {
        free(model->replicas[i].owner);
        free(model->replicas[i].seat_of);
    }
    free(model->replicas);
    free(model->owner);
    free(model->seat_of);
    free(model->busy_until);
    free(model->lock_until);
    free(model->clicks);
    free(model->changes);
    buf_free(&model->taken_text);
}

bool model_run(const struct model_options *options, const char *path)
{
    struct model model = {.options = *options};
    struct buf taken = BUF_INIT(1 << 20);
    struct history_header header = HISTORY_HEADER_UNKNOWN;
    prepare(&model);
    take_some(&model, &taken);
    header.seats = options->seats;
    header.servers = options->servers;
    header.duplicate_policy = STR("user");
    header.duplicate_ttl_ms = 0;
    header.map_lag_ms = options->servers == 1 ? 0 : LAG / NS_PER_MS;
    header.taken = options->start_unknown ? (struct str){NULL, 0} : taken.len ? buf_str(&taken) : STR("");
    model.writer = history_writer_create(path, &header);
    for (int64_t done = 0; model.writer && done < options->operations;)
        done += one_request(&model);
    bool written = model.writer && history_writer_close(model.writer);
    buf_free(&taken);
    clear(&model);
    return written;
}
