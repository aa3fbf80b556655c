/* A number that changes over time, and its greatest value within a window that ends now. Owner: whoever called
 * window_init. One thread; time only goes forward. */
#ifndef HISTORY_WINDOW_H
#define HISTORY_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window {
    struct window_value {
        int64_t from, until; /* until: the next change; INT64_MAX while it is the present one */
        int64_t value;
    } * values; /* falling: what a later greater one hides is not kept */
    size_t count, room;
};

bool window_init(struct window *window, int64_t value);
void window_free(struct window *window);

/* False when memory is short. */
bool window_change(struct window *window, int64_t time, int64_t value);
int64_t window_greatest_since(const struct window *window, int64_t time);

#endif
