/*
 * A database as files, and files as a database again: what backup and restore stand on. Blocking, for commands; each
 * function says in the log what is wrong.
 *
 * From SQLite a service becomes one file, SERVICE.db. From PostgreSQL each of its tables becomes one,
 * SERVICE.TABLE.copy in COPY's text format, all of them as of one moment; tables themselves are made anew by the
 * migrations. A struct copy tells what the files are; a manifest holds it (backup_manifest.h).
 */
#ifndef DB_COPY_H
#define DB_COPY_H

#include "base/json_read.h"
#include "base/summed_file.h"
#include "db/migrate.h"

enum { COPY_SERVICES_MAX = 16, COPY_TABLES_MAX = 64, COPY_COLUMNS_MAX = 128, COPY_FILES_MAX = 512 };
enum { COPY_MIGRATIONS_MAX = 1000 }; /* of a service */

struct copy_file {
    struct str name; /* in the copy's folder */
    int64_t size;
    struct str sha256;
};

struct copy_table {
    struct str name;
    struct json_strings columns;
};

struct copy_sequence {
    struct str name;
    int64_t value; /* the last that was given out */
};

struct copy_service {
    struct str name;
    struct json_strings migrations; /* their hashes: 1, 2, 3 … */
    struct json_objects tables;     /* of struct copy_table, those that others refer to first; none from SQLite */
    struct json_objects sequences;  /* of struct copy_sequence */
};

struct copy {
    struct json_objects services, files;
};

/* An empty one, whose members have room for as many as the maxima. */
struct copy copy_make(struct arena *arena);

/* False after logging that there are too many. */
__attribute__((warn_unused_result)) bool copy_add_file(struct copy *copy, struct arena *arena, const char *name,
                                                       const struct file_sum *sum);
const struct copy_file *copy_find_file(const struct copy *copy, struct str name);

/* The services of the copy are these, and their migrations are the first ones of ours: what a program can restore. */
__attribute__((warn_unused_result)) bool copy_fits(const struct copy *copy, const struct migration *all,
                                                   const char *const *services, const char *dialect);

/* Of the migrations in `all`, those that the copy has: its schema. In the arena; ends with service NULL. */
const struct migration *copy_migrations(const struct copy *copy, const struct migration *all, const char *dialect,
                                        struct arena *arena);

/* Beside a running server, without holding it up: a service's file into the folder, added to the copy. */
__attribute__((warn_unused_result)) bool sqlite_copy_out(const char *directory, const char *service, const char *folder,
                                                         struct arena *arena, struct copy *copy);

/* The same for all services. */
__attribute__((warn_unused_result)) bool postgres_copy_out(const char *url, const char *const *services,
                                                           const char *folder, struct arena *arena, struct copy *copy);

/* May the copy go in here? No server is connected, no table has rows, and what was migrated already is what the copy
 * has. */
__attribute__((warn_unused_result)) bool postgres_copy_may_enter(const char *url, const struct copy *copy);

/* Fills the tables, which copy_migrations has made; all of it, or nothing. */
__attribute__((warn_unused_result)) bool postgres_copy_in(const char *url, const struct copy *copy, const char *folder);

#endif
