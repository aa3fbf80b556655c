#include "rehearse/tally.h"

void tally_clear(struct tally *tally)
{
    memset(tally, 0, sizeof(*tally));
}

/* The last place counts all that find no other. */
static struct tally_reason *place_of(struct tally *tally, struct str name)
{
    name = str_first(name, TALLY_REASON_BYTES - 1);
    for (size_t i = 0; i < tally->reason_count; i++)
        if (str_eq(name, str_from(tally->reasons[i].name)))
            return &tally->reasons[i];
    if (tally->reason_count == TALLY_REASONS_MAX)
        return &tally->reasons[TALLY_REASONS_MAX - 1];
    struct tally_reason *place = &tally->reasons[tally->reason_count++];
    if (tally->reason_count == TALLY_REASONS_MAX)
        name = STR("others");
    memcpy(place->name, name.ptr, name.len);
    place->name[name.len] = '\0';
    return place;
}

void tally_count_reason(struct tally *tally, struct str reason)
{
    place_of(tally, reason)->count++;
}

uint64_t tally_reason_count(const struct tally *tally, struct str reason)
{
    for (size_t i = 0; i < tally->reason_count; i++)
        if (str_eq(reason, str_from(tally->reasons[i].name)))
            return tally->reasons[i].count;
    return 0;
}

void tally_merge(struct tally *into, const struct tally *from)
{
    into->users += from->users;
    into->requests += from->requests;
    into->sent += from->sent;
    into->answered += from->answered;
    into->sold += from->sold;
    into->released += from->released;
    into->retries += from->retries;
    into->gave_up += from->gave_up;
    into->server_errors += from->server_errors;
    into->refused += from->refused;
    into->broken += from->broken;
    into->too_large += from->too_large;
    into->timeouts += from->timeouts;
    into->not_sent += from->not_sent;
    into->cut_off += from->cut_off;
    into->opened += from->opened;
    into->open += from->open;
    into->open_most += from->open_most;
    if (from->last_end_ns > into->last_end_ns)
        into->last_end_ns = from->last_end_ns;
    into->waiting += from->waiting;
    for (size_t i = 0; i < from->reason_count; i++)
        place_of(into, str_from(from->reasons[i].name))->count += from->reasons[i].count;
    for (size_t kind = 0; kind < TALLY_KINDS; kind++) {
        into->kinds[kind] += from->kinds[kind];
        histogram_merge(&into->latency[kind], &from->latency[kind]);
    }
    histogram_merge(&into->lag, &from->lag);
}

uint64_t tally_errors(const struct tally *tally)
{
    return tally->server_errors + tally->refused + tally->broken + tally->too_large + tally->timeouts + tally->not_sent;
}

void tally_latency(const struct tally *tally, struct histogram *all)
{
    histogram_clear(all);
    for (size_t kind = 0; kind < TALLY_KINDS; kind++)
        histogram_merge(all, &tally->latency[kind]);
}
