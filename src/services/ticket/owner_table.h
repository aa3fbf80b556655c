/*
 * Who has which seat, both ways: the owner of a seat (an array by seat) and
 * whether an owner has one (an open-addressing table of seats, keyed by their
 * owner). Owners are 64-bit hashes; two users with the same hash only cost a look
 * into the database. Private to house.c, under its lock.
 */
#ifndef TICKET_OWNER_TABLE_H
#define TICKET_OWNER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct owner_table {
    uint64_t *owners; /* by seat; 0: none */
    uint32_t *slots;  /* seats; 0: empty */
    size_t mask;
};

/* False when there is no memory. */
bool owner_table_init(struct owner_table *table, int64_t seats);
void owner_table_free(struct owner_table *table);

uint64_t owner_table_owner(const struct owner_table *table, int64_t seat);
void owner_table_prefetch(const struct owner_table *table, uint64_t owner); /* owner_table_has will be asked soon */
bool owner_table_has(const struct owner_table *table, uint64_t owner);
void owner_table_add(struct owner_table *table, int64_t seat, uint64_t owner);
void owner_table_remove(struct owner_table *table, int64_t seat);

#endif
