/* A server that has shown a version shows no older one to whoever asks afterwards. */
#include "history/check.h"

#include <stdlib.h>

static int by_server_and(int64_t first, int64_t second, const struct map_entry *a, const struct map_entry *b)
{
    if (a->server != b->server)
        return a->server < b->server ? -1 : 1;
    return (first > second) - (first < second);
}

static int by_start(const void *a, const void *b)
{
    const struct map_entry *first = *(const struct map_entry *const *)a, *second = *(const struct map_entry *const *)b;
    return by_server_and(first->start, second->start, first, second);
}

static int by_end(const void *a, const void *b)
{
    const struct map_entry *first = *(const struct map_entry *const *)a, *second = *(const struct map_entry *const *)b;
    return by_server_and(first->end, second->end, first, second);
}

static bool is_newer(const struct map_entry *a, const struct map_entry *b)
{
    return a->generation != b->generation ? a->generation > b->generation : a->version > b->version;
}

static void compare(const struct map_entry **started, const struct map_entry **ended, size_t count,
                    struct verdict *verdict)
{
    const struct map_entry *newest = NULL; /* of those shown by this server before the present one was asked for */
    size_t over = 0;
    for (size_t i = 0; i < count; i++) {
        if (i && started[i]->server != started[i - 1]->server) {
            newest = NULL;
            over = i; /* both lists have the same servers in the same places */
        }
        for (; over < count && ended[over]->server == started[i]->server && ended[over]->end < started[i]->start;
             over++)
            if (!newest || is_newer(ended[over], newest))
                newest = ended[over];
        if (newest && is_newer(newest, started[i]))
            verdict_add(verdict, VIOLATION_MAP_BACKWARDS, VERDICT_LINES(newest->line, started[i]->line),
                        "Server %d showed version %lld-%lld, and after that %lld-%lld.", started[i]->server,
                        (long long)newest->generation, (long long)newest->version, (long long)started[i]->generation,
                        (long long)started[i]->version);
    }
}

void check_maps(const struct evidence *evidence, struct verdict *verdict)
{
    const struct book *book = evidence->book;
    const struct map_entry **started = malloc((book->map_count + 1) * sizeof(const struct map_entry *));
    const struct map_entry **ended = malloc((book->map_count + 1) * sizeof(const struct map_entry *));
    verdict->failed |= !started || !ended;
    if (!verdict->failed) {
        size_t count = 0;
        for (size_t i = 0; i < book->map_count; i++)
            if (book->maps[i].version >= 0 && book->maps[i].server >= 0)
                started[count] = ended[count] = &book->maps[i], count++;
        qsort(started, count, sizeof(const struct map_entry *), by_start);
        qsort(ended, count, sizeof(const struct map_entry *), by_end);
        compare(started, ended, count, verdict);
    }
    free(started);
    free(ended);
}
