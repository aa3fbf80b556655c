#include "rehearse/replay.h"

#include "base/clock.h"
#include "rehearse/quantity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH_MAX_BYTES = 4096, LINE_MAX_BYTES = 256, FIRST_SIZE = 1024 };

static const double SECONDS_MAX = 24 * 3600;

static int compare(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return (first > second) - (first < second);
}

static bool add_time(int64_t **times, size_t *count, size_t *size, int64_t ns)
{
    if (*count == *size) {
        size_t larger = *size ? *size * 2 : FIRST_SIZE;
        int64_t *moved = realloc(*times, larger * sizeof(*moved));
        if (!moved)
            return false;
        *times = moved;
        *size = larger;
    }
    (*times)[(*count)++] = ns;
    return true;
}

static bool read_lines(FILE *input, struct str file, size_t limit, int64_t **times, size_t *count, struct buf *problem)
{
    char line[LINE_MAX_BYTES];
    size_t size = 0;
    for (uint64_t number = 1; fgets(line, sizeof(line), input); number++) {
        struct str text = str_from(line);
        while (text.len && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
            text.len--;
        text = str_trim(text);
        double seconds;
        if (text.len == 0 || text.ptr[0] == '#')
            continue;
        if (!quantity_number(text, &seconds) || seconds > SECONDS_MAX) {
            buf_add_format(problem, "--arrival: line %llu of %.*s is no number of seconds: '%.*s'.",
                           (unsigned long long)number, STR_ARG(file), STR_ARG(text));
            return false;
        }
        if (*count == limit || !add_time(times, count, &size, (int64_t)(seconds * (double)NS_PER_S))) {
            buf_add_format(problem, "--arrival: %.*s has more than %zu lines.", STR_ARG(file), limit);
            return false;
        }
    }
    return true;
}

bool replay_read(struct str file, size_t limit, int64_t **times, size_t *count, struct buf *problem)
{
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof(path), "%.*s", STR_ARG(file));
    FILE *input = fopen(path, "re");
    if (!input) {
        buf_add_format(problem, "--arrival: %s cannot be read: %s.", path, strerror(errno));
        return false;
    }
    bool good = read_lines(input, file, limit, times, count, problem);
    fclose(input);
    if (good && *count == 0) {
        buf_add_format(problem, "--arrival: %s has no arrivals.", path);
        good = false;
    }
    if (good)
        qsort(*times, *count, sizeof(**times), compare);
    return good;
}
