/*
 * Why Redis does not work, in words. A text, once told, stays until the adapter
 * is closed, since /readyz may be reading it on another thread; there are few
 * different ones, and each is kept once. Any thread.
 */
#ifndef COORD_REDIS_TROUBLE_H
#define COORD_REDIS_TROUBLE_H

#include <pthread.h>
#include <stddef.h>

enum { TROUBLE_TEXTS = 32 };

struct redis_trouble {
    pthread_mutex_t mutex;
    char *texts[TROUBLE_TEXTS];
    size_t count;
};

void redis_trouble_init(struct redis_trouble *trouble);
void redis_trouble_free(struct redis_trouble *trouble);

/* "Redis at HOST:PORT: WHY" */
const char *redis_trouble_text(struct redis_trouble *trouble, const char *host, int port, const char *why);

#endif
