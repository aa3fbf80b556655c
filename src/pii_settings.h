/* The keys for personal data, out of the settings, compared with the database (key_checks.h). */
#ifndef PII_SETTINGS_H
#define PII_SETTINGS_H

#include "pii/pii.h"
#include "tables/config.h"

/* For a server that starts and every command that reads or writes personal data; the schema is there already. Keys that
 * are not set are made in DATA_DIR, but not for servers that share PostgreSQL, and not beside data. Main thread, before
 * there are loops. NULL after logging which key is wrong, and what to do. */
struct pii *pii_open_from(const struct settings *settings);

#endif
