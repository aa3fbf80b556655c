/* How to reach Redis, out of REDIS_URL or of REDIS_HOST and its companions. */
#ifndef REDIS_SETTINGS_H
#define REDIS_SETTINGS_H

#include "coord/coord.h"
#include "tables/config.h"

/* Fills host (NULL without Redis: the state is kept in this process), port, username, password, database and timeout.
 * False, after adding a problem that names no secret, when REDIS_URL cannot be read. Texts live in the arena. */
__attribute__((warn_unused_result)) bool redis_settings_read(const struct settings *settings, struct arena *arena,
                                                             struct coord_settings *out, struct buf *problems);

/* Opens it: Redis, with names of this installation (installation.h), or this process with room for so many entries.
 * NULL when there is no memory. */
struct coord *redis_settings_open(const struct settings *settings, const char *installation, size_t max_entries,
                                  struct arena *arena);

#endif
