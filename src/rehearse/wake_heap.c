#include "rehearse/wake_heap.h"

#include <stdlib.h>

enum { FIRST_SIZE = 64 };

/* Places count from 1: the parent of n is n / 2. */
static void put(struct wake_heap *heap, size_t place, struct waker *waker)
{
    heap->items[place - 1] = waker;
    waker->place = place;
}

static void rise(struct wake_heap *heap, size_t place, struct waker *waker)
{
    while (place > 1 && heap->items[place / 2 - 1]->at_ns > waker->at_ns) {
        put(heap, place, heap->items[place / 2 - 1]);
        place /= 2;
    }
    put(heap, place, waker);
}

static void sink(struct wake_heap *heap, size_t place, struct waker *waker)
{
    for (size_t child; (child = place * 2) <= heap->count; place = child) {
        if (child < heap->count && heap->items[child]->at_ns < heap->items[child - 1]->at_ns)
            child++;
        if (heap->items[child - 1]->at_ns >= waker->at_ns)
            break;
        put(heap, place, heap->items[child - 1]);
    }
    put(heap, place, waker);
}

bool wake_heap_add(struct wake_heap *heap, struct waker *waker, int64_t at_ns)
{
    if (heap->count == heap->size) {
        size_t size = heap->size ? heap->size * 2 : FIRST_SIZE;
        struct waker **items = realloc(heap->items, size * sizeof(struct waker *));
        if (!items)
            return false;
        heap->items = items;
        heap->size = size;
    }
    waker->at_ns = at_ns;
    rise(heap, ++heap->count, waker);
    return true;
}

void wake_heap_remove(struct wake_heap *heap, struct waker *waker)
{
    size_t place = waker->place;
    if (!place)
        return;
    struct waker *last = heap->items[--heap->count];
    waker->place = 0;
    if (last == waker)
        return;
    if (place > 1 && heap->items[place / 2 - 1]->at_ns > last->at_ns)
        rise(heap, place, last);
    else
        sink(heap, place, last);
}

struct waker *wake_heap_first(const struct wake_heap *heap)
{
    return heap->count ? heap->items[0] : NULL;
}

void wake_heap_free(struct wake_heap *heap)
{
    free(heap->items);
    *heap = (struct wake_heap){0};
}
