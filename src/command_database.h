/* A service's database for a command, or for what a server looks up before it opens its own. */
#ifndef COMMAND_DATABASE_H
#define COMMAND_DATABASE_H

#include "db/db.h"
#include "tables/config.h"

/* Beside a running server: as its guest. NULL after logging why. The caller closes it. */
struct db *command_open_database(const struct settings *settings, const char *service);

/* Whether there is anything to open: an embedded server makes a service's file at its first start. */
bool command_has_database(const struct settings *settings, const char *service);

/* From a task: db_write or db_read, tried again for some seconds while the database is busy or away. */
__attribute__((warn_unused_result)) enum db_outcome command_run_unit(struct db *db, bool writes, db_unit *unit,
                                                                     void *argument);

#endif
