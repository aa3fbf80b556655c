/* Reading an arrival curve. */
#include "rehearse/arrival.h"

#include "base/clock.h"
#include "rehearse/quantity.h"
#include "rehearse/replay.h"

#include <stdlib.h>

static const char FORMS[] = "spike DURATION, spike USERS in DURATION, constant RATE, poisson RATE, "
                            "ramp RATE->RATE over DURATION, replay FILE";

struct reader {
    struct str rest; /* of the phase */
    struct buf *problem;
};

static bool refuse(struct reader *reader, const char *expected, struct str found)
{
    if (found.len)
        buf_add_format(reader->problem, "--arrival: expected %s instead of '%.*s'.", expected, STR_ARG(found));
    else
        buf_add_format(reader->problem, "--arrival: expected %s at the end.", expected);
    return false;
}

/* The next word; empty when there is none. An arrow is a word by itself, with or without blanks around it. */
static struct str next_word(struct reader *reader)
{
    static const struct str arrows[] = {STR_INIT("->"), STR_INIT("→")};
    struct str text = str_trim(reader->rest);
    size_t length = 0, arrow = 0;
    while (length < text.len && text.ptr[length] != ' ' && text.ptr[length] != '\t') {
        for (size_t i = 0; i < 2 && !arrow; i++)
            if (str_starts(str_from_offset(text, length), arrows[i]))
                arrow = arrows[i].len;
        if (arrow)
            break;
        length++;
    }
    if (arrow && length == 0)
        length = arrow;
    reader->rest = str_from_offset(text, length);
    return str_first(text, length);
}

static bool take_rate(struct reader *reader, double *rate)
{
    struct str word = next_word(reader);
    return (quantity_rate(word, rate) && *rate >= 0) || refuse(reader, "a rate like 500/s", word);
}

static bool take_duration(struct reader *reader, int64_t *ns)
{
    struct str word = next_word(reader);
    return (quantity_duration(word, ns) && *ns > 0) || refuse(reader, "a duration like 2s or 500ms", word);
}

static bool take_end(struct reader *reader)
{
    struct str word = next_word(reader);
    return word.len == 0 || refuse(reader, "a comma or the end", word);
}

static bool read_spike(struct reader *reader, struct arrival_phase *phase)
{
    struct reader saved = *reader;
    struct str count = next_word(reader), in = next_word(reader);
    int64_t users;
    if (!str_eq(in, STR("in")))
        *reader = saved;
    else if (!str_to_int64(count, &users) || users < 1)
        return refuse(reader, "a number of users", count);
    else
        phase->users = (uint64_t)users;
    return take_duration(reader, &phase->duration_ns) && take_end(reader);
}

static bool read_steady(struct reader *reader, struct arrival_phase *phase)
{
    if (!take_rate(reader, &phase->from))
        return false;
    if (phase->from <= 0)
        return refuse(reader, "a rate above 0", STR("0"));
    struct str word = next_word(reader);
    if (word.len == 0)
        return true;
    if (!str_eq(word, STR("for")))
        return refuse(reader, "'for' and a duration", word);
    return take_duration(reader, &phase->duration_ns) && take_end(reader);
}

static bool read_ramp(struct reader *reader, struct arrival_phase *phase)
{
    if (!take_rate(reader, &phase->from))
        return false;
    struct str arrow = next_word(reader);
    if (!str_eq(arrow, STR("->")) && !str_eq(arrow, STR("→")) && !str_eq(arrow, STR("to")))
        return refuse(reader, "'->' and a second rate", arrow);
    if (!take_rate(reader, &phase->to))
        return false;
    struct str over = next_word(reader);
    if (!str_eq(over, STR("over")))
        return refuse(reader, "'over' and a duration", over);
    return take_duration(reader, &phase->duration_ns) && take_end(reader);
}

static bool read_phase(struct reader *reader, struct arrival_curve *curve, struct arrival_phase *phase)
{
    struct str name = next_word(reader);
    if (str_eq(name, STR("spike"))) {
        phase->shape = ARRIVAL_SPIKE;
        return read_spike(reader, phase);
    }
    if (str_eq(name, STR("constant")) || str_eq(name, STR("poisson"))) {
        phase->shape = name.ptr[0] == 'c' ? ARRIVAL_CONSTANT : ARRIVAL_POISSON;
        return read_steady(reader, phase);
    }
    if (str_eq(name, STR("ramp"))) {
        phase->shape = ARRIVAL_RAMP;
        return read_ramp(reader, phase);
    }
    if (str_eq(name, STR("replay"))) {
        phase->shape = ARRIVAL_REPLAY;
        struct str file = str_trim(reader->rest);
        if (!file.len)
            return refuse(reader, "a file", file);
        return replay_read(file, ARRIVAL_REPLAY_MAX, &curve->replay, &curve->replay_count, reader->problem);
    }
    return refuse(reader, FORMS, name);
}

static bool phase_is_endless(const struct arrival_phase *phase)
{
    return phase->duration_ns == 0 && phase->shape != ARRIVAL_REPLAY;
}

/* What is fine by itself may not be fine here. */
static bool check_order(const struct arrival_curve *curve, struct buf *problem)
{
    for (size_t i = 0; i < curve->count; i++) {
        const struct arrival_phase *phase = &curve->phases[i];
        const char *wrong = NULL;
        if (phase->shape == ARRIVAL_REPLAY && curve->count > 1)
            wrong = "a replay stands alone";
        else if (i + 1 < curve->count && phase_is_endless(phase))
            wrong = "only the last part may go on without 'for DURATION'";
        else if (i + 1 < curve->count && phase->shape == ARRIVAL_SPIKE && !phase->users)
            wrong = "only the last spike may leave out its number of users: say 'spike USERS in DURATION'";
        if (wrong) {
            buf_add_format(problem, "--arrival: %s (part %zu).", wrong, i + 1);
            return false;
        }
    }
    return true;
}

bool arrival_parse(struct str text, struct arrival_curve *curve, struct buf *problem)
{
    struct str rest = text, part;
    *curve = (struct arrival_curve){0};
    while (str_split(&rest, ',', &part)) {
        struct reader reader = {.rest = part, .problem = problem};
        if (curve->count == ARRIVAL_PHASES_MAX) {
            buf_add_format(problem, "--arrival: no more than %d parts.", ARRIVAL_PHASES_MAX);
            return false;
        }
        if (!read_phase(&reader, curve, &curve->phases[curve->count]))
            return false;
        curve->count++;
    }
    if (curve->count == 0) {
        buf_add_format(problem, "--arrival: expected %s.", FORMS);
        return false;
    }
    return check_order(curve, problem);
}

void arrival_free(struct arrival_curve *curve)
{
    free(curve->replay);
    curve->replay = NULL;
}

bool arrival_needs_users(const struct arrival_curve *curve)
{
    const struct arrival_phase *last = &curve->phases[curve->count - 1];
    return last->shape == ARRIVAL_SPIKE && !last->users;
}

bool arrival_is_endless(const struct arrival_curve *curve)
{
    return phase_is_endless(&curve->phases[curve->count - 1]);
}
