#include "history/window.h"

#include <stdlib.h>

bool window_init(struct window *window, int64_t value)
{
    *window = (struct window){0};
    return window_change(window, INT64_MIN, value);
}

void window_free(struct window *window)
{
    free(window->values);
}

bool window_change(struct window *window, int64_t time, int64_t value)
{
    if (window->count) {
        struct window_value *present = &window->values[window->count - 1];
        if (present->value == value)
            return true;
        present->until = time;
    }
    while (window->count && window->values[window->count - 1].value <= value)
        window->count--;
    if (window->count == window->room) {
        size_t room = window->room ? window->room * 2 : 1024;
        struct window_value *values = realloc(window->values, room * sizeof(*values));
        if (!values)
            return false;
        window->values = values;
        window->room = room;
    }
    window->values[window->count++] = (struct window_value){.from = time, .until = INT64_MAX, .value = value};
    return true;
}

/* The values fall, so the first that lasted into the window is the greatest. */
int64_t window_greatest_since(const struct window *window, int64_t time)
{
    size_t low = 0, high = window->count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (window->values[middle].until > time)
            high = middle;
        else
            low = middle + 1;
    }
    return window->values[low].value;
}
