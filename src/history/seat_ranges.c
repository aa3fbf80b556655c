#include "history/history.h"

static void write_range(struct seat_ranges *ranges)
{
    if (ranges->first == 0)
        return;
    if (ranges->out->len)
        buf_add_char(ranges->out, ',');
    buf_add_int(ranges->out, ranges->first);
    if (ranges->last > ranges->first) {
        buf_add_char(ranges->out, '-');
        buf_add_int(ranges->out, ranges->last);
    }
}

void seat_ranges_add(struct seat_ranges *ranges, int64_t seat)
{
    if (ranges->first && seat == ranges->last + 1) {
        ranges->last = seat;
        return;
    }
    write_range(ranges);
    ranges->first = ranges->last = seat;
}

void seat_ranges_finish(struct seat_ranges *ranges)
{
    write_range(ranges);
    ranges->first = ranges->last = 0;
}

bool seat_ranges_next(struct str *rest, int64_t *first, int64_t *last, bool *damaged)
{
    struct str range, from;
    if (rest->len == 0 || !str_split(rest, ',', &range))
        return false;
    str_split(&range, '-', &from);
    struct str to = range.ptr ? range : from;
    *damaged = !str_to_int64(from, first) || !str_to_int64(to, last) || *first < 1 || *last < *first;
    return !*damaged;
}
