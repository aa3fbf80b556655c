/* Bringing the database to this version's schema, from the settings. */
#ifndef SCHEMA_H
#define SCHEMA_H

#include "db/migrate.h"
#include "tables/config.h"

/* The services that have data of their own; ends with NULL. */
extern const char *const schema_services[];

/* In DATA_DIR while a backup is being restored into it; a server does not start there. */
#define SCHEMA_RESTORE_FOLDER "restore.unfinished"

/* Applies what is missing, with the strongest connection that the settings give. Blocking; false after logging why. */
__attribute__((warn_unused_result)) bool schema_migrate(const struct settings *settings);

/* The same in PostgreSQL with other migrations than all of ours; the list ends with service NULL. */
__attribute__((warn_unused_result)) bool schema_migrate_server(const struct settings *settings,
                                                               const struct migration *list);

/* For a server that starts: checks, and migrates where that is needed and allowed. Waits a while for a
 * database that is still starting. */
__attribute__((warn_unused_result)) bool schema_prepare(const struct settings *settings);

#endif
