#include "coord/redis_trouble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void redis_trouble_init(struct redis_trouble *trouble)
{
    *trouble = (struct redis_trouble){.count = 0};
    pthread_mutex_init(&trouble->mutex, NULL);
}

void redis_trouble_free(struct redis_trouble *trouble)
{
    for (size_t i = 0; i < trouble->count; i++)
        free(trouble->texts[i]);
    pthread_mutex_destroy(&trouble->mutex);
}

static const char *find_or_keep(struct redis_trouble *trouble, const char *text)
{
    for (size_t i = 0; i < trouble->count; i++)
        if (strcmp(trouble->texts[i], text) == 0)
            return trouble->texts[i];
    char *kept = trouble->count < TROUBLE_TEXTS ? strdup(text) : NULL;
    if (!kept)
        return "Redis does not work; the log says why";
    trouble->texts[trouble->count++] = kept;
    return kept;
}

const char *redis_trouble_text(struct redis_trouble *trouble, const char *host, int port, const char *why)
{
    char text[512];
    snprintf(text, sizeof(text), "Redis at %s:%d: %s", host, port, why);
    pthread_mutex_lock(&trouble->mutex);
    const char *kept = find_or_keep(trouble, text);
    pthread_mutex_unlock(&trouble->mutex);
    return kept;
}
