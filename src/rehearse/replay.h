/* The file of a replay: one arrival in each line, in seconds since the start ("0.25"); in any order. Empty lines and
 * those that begin with '#' do not count. */
#ifndef REHEARSE_REPLAY_H
#define REHEARSE_REPLAY_H

#include "base/buf.h"

/* Sorted, in ns; the caller frees *times. False with a sentence in *problem. */
bool replay_read(struct str file, size_t limit, int64_t **times, size_t *count, struct buf *problem);

#endif
