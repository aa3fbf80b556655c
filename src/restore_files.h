/* Putting a backup's files of the built-in database into DATA_DIR. */
#ifndef RESTORE_FILES_H
#define RESTORE_FILES_H

#include "backup_manifest.h"
#include "tables/config.h"

/* With its keys, if it has some. Never overwrites a file. False after saying why; then a server does not start in
 * DATA_DIR before it has been done again. */
__attribute__((warn_unused_result)) bool restore_files(const struct settings *settings,
                                                       const struct backup_manifest *manifest, const char *folder,
                                                       struct arena *arena);

#endif
