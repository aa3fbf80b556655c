/* The keys for personal data, out of the settings. */
#ifndef PII_SETTINGS_H
#define PII_SETTINGS_H

#include "pii/pii.h"
#include "tables/config.h"

/* Those that are not set are made in DATA_DIR, but not for servers that share PostgreSQL. NULL after logging why. */
struct pii *pii_open_from(const struct settings *settings);

#endif
