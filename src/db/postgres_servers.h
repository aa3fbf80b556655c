/*
 * Which servers use a database: every connection of a server holds an advisory lock, shared, whose number is the
 * process's own. Whoever looks at the list of locks sees how many there are; with the connections the locks are gone.
 */
#ifndef DB_POSTGRES_SERVERS_H
#define DB_POSTGRES_SERVERS_H

#include <stdint.h>

/* The first number of the locks; any that nobody else is likely to use. */
#define POSTGRES_SERVERS_CLASS "1413695320"

/* From the list of locks of this database. */
#define POSTGRES_SERVERS_FROM                                                                                          \
    " FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND classid = " POSTGRES_SERVERS_CLASS                \
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"

/* This process's; the second number of its locks. */
int32_t postgres_servers_own_id(void);

#endif
