/*
 * The list of all seats as bytes, as GET /seats gives it out: made once for a version of the house and shared by all
 * who read it. It is in blocks of some hundred seats. A new edition makes only those blocks anew whose seats have
 * changed and shares the others with the one before, so that during a sale an edition costs a few blocks, however
 * large the house.
 *
 * An edition does not change; references to it may be held and released on any thread.
 */
#ifndef TICKET_EDITION_H
#define TICKET_EDITION_H

#include "base/gzip_parts.h"
#include "http/shared_body.h"
#include "services/ticket/house.h"

enum edition_form { EDITION_PLAIN, EDITION_GZIP, EDITION_FORMS };

struct edition {
    struct shared_body body;  /* first: {seat},{seat},… without brackets, plain or as parts of a gzip file */
    struct house_state state; /* that it shows */
    struct gzip_sum sum;      /* of the plain text, when it is EDITION_GZIP */
    uint64_t *words;          /* the free seats, for the next edition to compare with */
    struct edition_block **blocks;
    struct str *pieces;
};

/* With one reference, the caller's. `before` may be NULL. NULL when there is no memory. */
struct edition *edition_make(struct house *house, enum edition_form form, const struct edition *before);
void edition_release(struct edition *edition);

/* Bytes of all blocks of the process, also those that only a slow reader still has. */
size_t edition_bytes(void);

#endif
