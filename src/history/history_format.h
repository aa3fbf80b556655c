/* What writer and reader of a history must agree on; nobody else includes this. */
#ifndef HISTORY_HISTORY_FORMAT_H
#define HISTORY_HISTORY_FORMAT_H

#include "history/history.h"

enum {
    HISTORY_VERSION = 1,
    HISTORY_LINE_MAX = 1 << 24, /* the map of a very large house that was sold in no order */
    HISTORY_TEXT_MAX = 512,     /* names and reasons */
};

bool history_kind_from(struct str name, enum history_kind *kind);

#endif
