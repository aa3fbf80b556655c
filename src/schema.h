/* Bringing the database to this version's schema, from the settings. */
#ifndef SCHEMA_H
#define SCHEMA_H

#include "tables/config.h"

/* The services that have data of their own; ends with NULL. */
extern const char *const schema_services[];

/* Applies what is missing, with the strongest connection that the settings give. Blocking; false after logging why. */
__attribute__((warn_unused_result)) bool schema_migrate(const struct settings *settings);

/* For a server that starts: checks, and migrates where that is needed and allowed. Waits a while for a
 * database that is still starting. */
__attribute__((warn_unused_result)) bool schema_prepare(const struct settings *settings);

#endif
