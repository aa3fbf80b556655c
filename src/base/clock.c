#include "base/clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static _Atomic int64_t moved_ms;

static int64_t read_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t clock_mono_ns(void)
{
    return read_ns(CLOCK_MONOTONIC) + atomic_load_explicit(&moved_ms, memory_order_relaxed) * NS_PER_MS;
}

int64_t clock_thread_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_wall_ms(void)
{
    return read_ns(CLOCK_REALTIME) / NS_PER_MS + atomic_load_explicit(&moved_ms, memory_order_relaxed);
}

void clock_move(int64_t ms)
{
    atomic_fetch_add_explicit(&moved_ms, ms, memory_order_relaxed);
}

static struct tm split(int64_t wall_ms)
{
    time_t seconds = (time_t)(wall_ms / MS_PER_S);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    return parts;
}

static inline void put_digits(char *out, int count, int value)
{
    for (; count > 0; value /= 10)
        out[--count] = (char)('0' + value % 10);
}

/* By hand: answers carry times, and each took printf 1,700 instructions. */
void clock_format_rfc3339(int64_t wall_ms, char out[CLOCK_RFC3339_SIZE])
{
    struct tm t = split(wall_ms);
    memcpy(out, "yyyy-mm-ddThh:mm:ss.mmmZ", CLOCK_RFC3339_SIZE);
    put_digits(out, 4, t.tm_year + 1900);
    put_digits(out + 5, 2, t.tm_mon + 1);
    put_digits(out + 8, 2, t.tm_mday);
    put_digits(out + 11, 2, t.tm_hour);
    put_digits(out + 14, 2, t.tm_min);
    put_digits(out + 17, 2, t.tm_sec);
    put_digits(out + 20, 3, (int)(wall_ms % MS_PER_S));
}

static bool digits(struct str s, size_t at, size_t count, int *value)
{
    int64_t number;
    if (at + count > s.len || s.ptr[at] == '-' || !str_to_int64(str_make(s.ptr + at, count), &number))
        return false;
    *value = (int)number;
    return true;
}

bool clock_parse_rfc3339(struct str s, int64_t *wall_ms)
{
    enum { WITHOUT_MS = 20, WITH_MS = 24 };
    struct tm t = {0};
    int year, month, ms = 0;
    if ((s.len != WITHOUT_MS && s.len != WITH_MS) || s.ptr[s.len - 1] != 'Z')
        return false;
    if (s.ptr[4] != '-' || s.ptr[7] != '-' || s.ptr[10] != 'T' || s.ptr[13] != ':' || s.ptr[16] != ':')
        return false;
    if (!digits(s, 0, 4, &year) || !digits(s, 5, 2, &month) || !digits(s, 8, 2, &t.tm_mday) ||
        !digits(s, 11, 2, &t.tm_hour) || !digits(s, 14, 2, &t.tm_min) || !digits(s, 17, 2, &t.tm_sec))
        return false;
    if (s.len == WITH_MS && (s.ptr[19] != '.' || !digits(s, 20, 3, &ms)))
        return false;
    t.tm_year = year - 1900;
    t.tm_mon = month - 1;

    struct tm normal = t;
    time_t seconds = timegm(&normal); /* normalises: 31 April comes back as 1 May, and is refused */
    if (normal.tm_mon != t.tm_mon || normal.tm_mday != t.tm_mday || normal.tm_hour != t.tm_hour ||
        normal.tm_min != t.tm_min || normal.tm_sec != t.tm_sec)
        return false;
    *wall_ms = (int64_t)seconds * MS_PER_S + ms;
    return true;
}

void clock_format_http(int64_t wall_ms, char out[CLOCK_HTTP_SIZE])
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct tm t = split(wall_ms);
    /* The modulos bound each number's width for the compiler's truncation check. */
    snprintf(out, CLOCK_HTTP_SIZE, "%s, %02u %s %04u %02u:%02u:%02u GMT", days[t.tm_wday % 7],
             (unsigned)t.tm_mday % 100, months[t.tm_mon % 12], (unsigned)(t.tm_year + 1900) % 10000,
             (unsigned)t.tm_hour % 100, (unsigned)t.tm_min % 100, (unsigned)t.tm_sec % 100);
}
