/*
 * manifest.json of a backup: what made it, when, from which kind of database, how far its schema was, and size and
 * SHA-256 of every file. It is written last; a folder without it is no backup.
 */
#ifndef BACKUP_MANIFEST_H
#define BACKUP_MANIFEST_H

#include "db/copy.h"

enum { BACKUP_FORMAT = 1 };

struct backup_manifest {
    int64_t format;
    struct str program;       /* its version */
    struct str taken_at;      /* RFC 3339 */
    struct str database;      /* "sqlite" or "postgres" */
    struct json_strings keys; /* those of the files that hold keys */
    struct copy copy;
};

/* Both say what is wrong on standard error. */
__attribute__((warn_unused_result)) bool backup_manifest_write(const struct backup_manifest *manifest,
                                                               const char *folder);
/* Also checks every file that it names. What it points to is in the arena. */
__attribute__((warn_unused_result)) bool backup_manifest_read(struct backup_manifest *manifest, const char *folder,
                                                              struct arena *arena);

#endif
