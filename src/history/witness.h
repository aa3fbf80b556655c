/*
 * The final state, from whoever knows it: a database, read directly with SQL of the checker's own, or a running
 * server, asked over HTTP. What it says joins the book as answers that came last; what is wrong with it in itself goes
 * to the verdict at once.
 */
#ifndef HISTORY_WITNESS_H
#define HISTORY_WITNESS_H

#include "history/book.h"
#include "history/verdict.h"

struct witness {
    struct book *book;
    struct verdict *verdict;
    struct arena *arena;      /* for *problem and small things */
    struct str schedule;      /* empty: the only one there is, or the server's own */
    struct str admin_token;   /* of a server; empty: without */
    struct str gateway_token; /* of a server that believes its gateway only; empty: without */
    const char *name;         /* "the database", "the server": set by witness_ask */
    struct str problem;       /* why it cannot be asked, when it cannot */

    uint64_t *seats_seen; /* as bits */
    bool *users_seen;
    size_t user_count; /* of the recorded history */
    int64_t sold;
};

/* `address`: postgresql://…, http(s)://…, an SQLite file, or the DATA_DIR that has it. False with witness->problem. */
__attribute__((warn_unused_result)) bool witness_ask(struct witness *witness, const char *address);

/* For the witnesses themselves. */

/* A seat with its owner. False when memory is short. */
bool witness_owner(struct witness *witness, int64_t seat, struct str user, int64_t sequence);

/* All owners are told. */
bool witness_complete(struct witness *witness, int64_t seats);

/* A seat map: words of bits for the book's seats; `free` are those that it shows as free. */
bool witness_map(struct witness *witness, const uint64_t *taken, int64_t free);

/* One user was asked about by name; seat 0: none. */
bool witness_user(struct witness *witness, uint32_t user, int64_t seat, int64_t sequence);

/* Always false, for return. */
__attribute__((format(printf, 2, 3))) bool witness_problem(struct witness *witness, const char *format, ...);

bool witness_ask_sqlite(struct witness *witness, const char *path);
bool witness_ask_postgres(struct witness *witness, const char *url);
bool witness_ask_server(struct witness *witness, const char *url);

/* What both databases are asked. */
#define WITNESS_SQL_HOUSE                                                                                              \
    "SELECT id, seats FROM houses WHERE schedule = $1 OR ($1 = '' AND (SELECT count(*) FROM houses) = 1)"
#define WITNESS_SQL_CLAIMS "SELECT seat_id, user_id, sequence FROM claims WHERE house_id = $1"

#endif
