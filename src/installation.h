/*
 * Which installation this is: an id that the first migration of a database makes, the same for all servers on it. Keys
 * and channels in Redis begin with it. Called by the main thread, before there are loops.
 */
#ifndef INSTALLATION_H
#define INSTALLATION_H

#include "tables/config.h"

enum { INSTALLATION_ID_SIZE = 33, INSTALLATION_PREFIX_SIZE = 64 };

/* Opens the database for it. False after logging why. */
__attribute__((warn_unused_result)) bool installation_read(const struct settings *settings,
                                                           char id[INSTALLATION_ID_SIZE]);

/* Gives the database a new id, for a copy of another installation's: servers know it from their next start on. */
__attribute__((warn_unused_result)) bool installation_renew(const struct settings *settings,
                                                            char id[INSTALLATION_ID_SIZE]);

/* What names in Redis begin with: "tickettock:0123456789abcdef:". */
void installation_prefix(const char *id, char prefix[INSTALLATION_PREFIX_SIZE]);

#endif
