#include "history/history_format.h"

static const char *const names[] = {
    [HISTORY_CLAIM] = "claim",
    [HISTORY_RELEASE] = "release",
    [HISTORY_MINE] = "mine",
    [HISTORY_MAP] = "map",
};

const char *history_kind_name(enum history_kind kind)
{
    return names[kind];
}

bool history_kind_from(struct str name, enum history_kind *kind)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_eq(name, str_from(names[i]))) {
            *kind = (enum history_kind)i;
            return true;
        }
    return false;
}
