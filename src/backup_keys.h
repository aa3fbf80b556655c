/* The keys that the data needs, as files of a backup: the key files of DATA_DIR, and keys.conf with those of the
 * settings, which `--config` reads. */
#ifndef BACKUP_KEYS_H
#define BACKUP_KEYS_H

#include "backup_manifest.h"
#include "tables/config.h"

#define BACKUP_KEYS_SETTINGS "keys.conf"

/* Adds them to the folder and to the manifest. False after saying why. */
__attribute__((warn_unused_result)) bool backup_keys_out(const struct settings *settings, const char *folder,
                                                         struct arena *arena, struct backup_manifest *manifest);

/* Would they overwrite others? False after saying which. */
__attribute__((warn_unused_result)) bool
backup_keys_may_enter(const struct settings *settings, const struct backup_manifest *manifest, struct arena *arena);

/* The key files of the backup into DATA_DIR; through `aside`, a folder on the same disk, so that each is whole from its
 * first moment. */
__attribute__((warn_unused_result)) bool backup_keys_in(const struct settings *settings,
                                                        const struct backup_manifest *manifest, const char *folder,
                                                        const char *aside, struct arena *arena);

#endif
