#include "services/ticket/history_sample.h"

#include "base/random.h"

void history_sample_init(struct history_sample *sample)
{
    sample->salt = random_below(UINT64_MAX);
}

/* A leaking bucket in one number: each line fills it by `every`, and time empties it. */
static bool take(_Atomic int64_t *bucket, int64_t burst, int64_t every, int64_t now)
{
    int64_t level = atomic_load_explicit(bucket, memory_order_relaxed), next;
    do {
        next = (level > now ? level : now) + every;
        if (next - now > burst * every)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(bucket, &level, next, memory_order_relaxed, memory_order_relaxed));
    return true;
}

static size_t place_of(const struct history_sample *sample, int64_t house, uint64_t network, size_t places)
{
    uint64_t hash = (network ^ sample->salt) + (uint64_t)house * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
    return (size_t)(hash >> 40) & (places - 1);
}

bool history_sample_take(struct history_sample *sample, int64_t house, struct str network, int64_t now_ms)
{
    size_t address = place_of(sample, house, str_hash(network), SAMPLE_ADDRESSES);
    size_t of_house = place_of(sample, house, 0, SAMPLE_HOUSES);
    return take(&sample->addresses[address], SAMPLE_ADDRESS_BURST, SAMPLE_ADDRESS_EVERY_MS, now_ms) &&
           take(&sample->houses[of_house], SAMPLE_HOUSE_BURST, SAMPLE_HOUSE_EVERY_MS, now_ms) &&
           take(&sample->all, SAMPLE_ALL_BURST, SAMPLE_ALL_EVERY_MS, now_ms);
}
