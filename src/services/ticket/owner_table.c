#include "services/ticket/owner_table.h"

#include <stdlib.h>
#include <unistd.h>

/* Zeroed, and really there: the pages of fresh memory come one by one as they are touched, and a sale touches all of
 * these in its first second. */
static void *memory_at_hand(size_t count, size_t size)
{
    volatile char *memory = calloc(count, size);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t at = 0; memory && at < count * size; at += page)
        memory[at] = 0;
    return (void *)memory;
}

bool owner_table_init(struct owner_table *table, int64_t seats)
{
    size_t size = 16;
    while (size < (size_t)seats * 2)
        size *= 2;
    *table = (struct owner_table){.mask = size - 1};
    table->owners = memory_at_hand((size_t)seats + 1, sizeof(*table->owners));
    table->slots = memory_at_hand(size, sizeof(*table->slots));
    if (table->owners && table->slots)
        return true;
    owner_table_free(table);
    return false;
}

void owner_table_free(struct owner_table *table)
{
    free(table->owners);
    free(table->slots);
    table->owners = NULL;
    table->slots = NULL;
}

uint64_t owner_table_owner(const struct owner_table *table, int64_t seat)
{
    return table->owners[seat];
}

static size_t home_slot(const struct owner_table *table, uint64_t owner)
{
    return (size_t)owner & table->mask;
}

void owner_table_prefetch(const struct owner_table *table, uint64_t owner)
{
    __builtin_prefetch(&table->slots[home_slot(table, owner)]);
}

bool owner_table_has(const struct owner_table *table, uint64_t owner)
{
    for (size_t slot = home_slot(table, owner); table->slots[slot]; slot = (slot + 1) & table->mask)
        if (table->owners[table->slots[slot]] == owner)
            return true;
    return false;
}

void owner_table_add(struct owner_table *table, int64_t seat, uint64_t owner)
{
    table->owners[seat] = owner;
    size_t slot = home_slot(table, owner);
    while (table->slots[slot])
        slot = (slot + 1) & table->mask;
    table->slots[slot] = (uint32_t)seat;
}

/* Without tombstones: the entries behind the hole move up where their home allows it. */
void owner_table_remove(struct owner_table *table, int64_t seat)
{
    size_t hole = home_slot(table, table->owners[seat]);
    while (table->slots[hole] != (uint32_t)seat)
        hole = (hole + 1) & table->mask;
    for (size_t slot = (hole + 1) & table->mask; table->slots[slot]; slot = (slot + 1) & table->mask) {
        size_t home = home_slot(table, table->owners[table->slots[slot]]);
        if (((slot - home) & table->mask) >= ((slot - hole) & table->mask)) {
            table->slots[hole] = table->slots[slot];
            hole = slot;
        }
    }
    table->slots[hole] = 0;
    table->owners[seat] = 0;
}
