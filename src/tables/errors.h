/* The error table (errors.def) as an enum and its rows. */
#ifndef TABLES_ERRORS_H
#define TABLES_ERRORS_H

#include "base/str.h"

enum error {
#define ERR(name, status, reason, message) ERR_##name,
#include "tables/errors.def"
#undef ERR
    ERROR_COUNT
};

struct error_row {
    int status;
    struct str reason;
    struct str message;
};

const struct error_row *error_row(enum error error);

#endif
