/* What wants to be woken at some moment, the earliest first: a binary heap of pointers. One thread. */
#ifndef REHEARSE_WAKE_HEAP_H
#define REHEARSE_WAKE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lives inside whatever is woken. */
struct waker {
    int64_t at_ns;
    size_t place; /* in the heap, from 1; 0: not in it */
};

struct wake_heap {
    struct waker **items;
    size_t count, size;
};

/* False when there is no memory. */
__attribute__((warn_unused_result)) bool wake_heap_add(struct wake_heap *heap, struct waker *waker, int64_t at_ns);
void wake_heap_remove(struct wake_heap *heap, struct waker *waker);

/* NULL when it is empty. */
struct waker *wake_heap_first(const struct wake_heap *heap);
void wake_heap_free(struct wake_heap *heap);

#endif
