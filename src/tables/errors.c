#include "tables/errors.h"

#include <assert.h>

static const struct error_row rows[] = {
#define ERR(name, status, reason, message) {status, STR_INIT(reason), STR_INIT(message)},
#include "tables/errors.def"
#undef ERR
};

const struct error_row *error_row(enum error error)
{
    assert((unsigned)error < ERROR_COUNT);
    return &rows[error];
}
