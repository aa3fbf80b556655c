#include "rehearse/persona.h"

#include "base/suggest.h"
#include "rehearse/quantity.h"

#include <math.h>

static const struct {
    const char *name, *text;
} rows[PERSONA_COUNT] = {
#define PERSONA_ROW(id, name, text) {name, text},
    PERSONAS(PERSONA_ROW)
#undef PERSONA_ROW
};

const char *persona_name(enum persona persona)
{
    return rows[persona].name;
}

const char *persona_text(enum persona persona)
{
    return rows[persona].text;
}

struct persona_shares persona_all_plain(void)
{
    return (struct persona_shares){.share = {[PERSONA_PLAIN] = 1}};
}

static bool find(struct str name, enum persona *persona, struct buf *problem)
{
    struct suggest suggest = suggest_for(name);
    for (*persona = 0; *persona < PERSONA_COUNT; (*persona)++) {
        if (str_eq(name, str_from(rows[*persona].name)))
            return true;
        suggest_consider(&suggest, rows[*persona].name);
    }
    buf_add_format(problem, "--persona: there is no persona '%.*s'", STR_ARG(name));
    if (suggest.best)
        buf_add_format(problem, "; did you mean %s?", suggest.best);
    else
        buf_add(problem, STR("; `tickettock help rehearse` lists them."));
    return false;
}

bool persona_parse(struct str text, struct persona_shares *shares, struct buf *problem)
{
    struct str rest = text, item;
    double sum = 0;
    bool given[PERSONA_COUNT] = {false};
    *shares = (struct persona_shares){0};
    while (str_split(&rest, ',', &item)) {
        struct str share = str_trim(item), name = {0};
        enum persona persona;
        str_split(&share, '=', &name);
        if (!find(str_trim(name), &persona, problem))
            return false;
        if (given[persona] || !quantity_share(share, &shares->share[persona])) {
            buf_add_format(problem,
                           given[persona] ? "--persona: %s comes twice." : "--persona: %s needs a share like 5%%.",
                           rows[persona].name);
            return false;
        }
        given[persona] = true;
        sum += shares->share[persona];
    }
    if (sum > 1 + 1e-9) {
        buf_add_format(problem, "--persona: the shares are %.4g%% together; they cannot be more than 100%%.",
                       sum * 100);
        return false;
    }
    shares->share[PERSONA_PLAIN] += fmax(0, 1 - sum);
    return true;
}

/* The golden ratio's multiples fall evenly into [0, 1): any run of users has nearly the right shares. */
enum persona persona_of(const struct persona_shares *shares, uint64_t user, uint64_t seed)
{
    uint64_t place = user * 0x9e3779b97f4a7c15u + seed;
    double at = (double)(place >> 11) / 9007199254740992.0, below = 0;
    for (enum persona persona = PERSONA_COUNT - 1; persona > PERSONA_PLAIN; persona--) {
        below += shares->share[persona];
        if (at < below)
            return persona;
    }
    return PERSONA_PLAIN;
}
