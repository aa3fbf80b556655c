/* The second half of config_load: the text of a setting becomes its value. */
#ifndef BASE_CONFIG_VALUE_H
#define BASE_CONFIG_VALUE_H

#include "base/config.h"

/* Checks the text and stores it in the member by the row's type, or adds a problem. */
void config_store(const struct config_row *row, const struct config_value *value, void *member, struct arena *arena,
                  struct buf *problems);

#endif
