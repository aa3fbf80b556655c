/* One request at a time, waited for: what a rehearsal asks before it begins. */
#ifndef REHEARSE_CALL_H
#define REHEARSE_CALL_H

#include "rehearse/answer.h"
#include "rehearse/target.h"

enum { CALL_TIMEOUT_MS = 5000 };

/* `headers` are complete lines; the body may be empty. The answer points into *bytes, which the caller frees. False
 * with a sentence in *problem when no answer came. */
__attribute__((warn_unused_result)) bool call_server(const struct target *target, const char *method, const char *path,
                                                     const char *headers, struct str body, struct buf *bytes,
                                                     struct answer *answer, struct buf *problem);

#endif
