#include "rehearse/quantity.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum { NUMBER_MAX = 24 };

bool quantity_number(struct str text, double *number)
{
    char copy[NUMBER_MAX + 1];
    size_t points = 0;
    if (text.len == 0 || text.len > NUMBER_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        points += c == '.';
        if ((c < '0' || c > '9') && c != '.')
            return false;
        copy[i] = c;
    }
    copy[text.len] = '\0';
    if (points > 1 || points == text.len)
        return false;
    *number = strtod(copy, NULL);
    return true;
}

/* The number before the unit that follows its digits. */
static bool split_unit(struct str text, double *number, struct str *unit)
{
    size_t digits = 0;
    while (digits < text.len && (text.ptr[digits] == '.' || (text.ptr[digits] >= '0' && text.ptr[digits] <= '9')))
        digits++;
    *unit = str_trim(str_from_offset(text, digits));
    return quantity_number(str_first(text, digits), number);
}

bool quantity_duration(struct str text, int64_t *ns)
{
    static const struct {
        struct str name;
        int64_t ns;
    } units[] = {
        {STR_INIT("us"), 1000},         {STR_INIT("ms"), NS_PER_MS},      {STR_INIT("s"), NS_PER_S},
        {STR_INIT("m"), 60 * NS_PER_S}, {STR_INIT("h"), 3600 * NS_PER_S},
    };
    double number;
    struct str unit;
    if (!split_unit(str_trim(text), &number, &unit))
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (!str_eq(unit, units[i].name))
            continue;
        double value = number * (double)units[i].ns;
        *ns = (int64_t)value;
        return value <= 24.0 * 3600.0 * (double)NS_PER_S;
    }
    return false;
}

bool quantity_rate(struct str text, double *per_second)
{
    double number;
    struct str unit;
    if (!split_unit(str_trim(text), &number, &unit))
        return false;
    if (str_eq(unit, STR("/m")))
        number /= 60;
    else if (unit.len && !str_eq(unit, STR("/s")))
        return false;
    *per_second = number;
    return number <= 1e7;
}

bool quantity_share(struct str text, double *share)
{
    double number;
    struct str unit;
    if (!split_unit(str_trim(text), &number, &unit) || !str_eq(unit, STR("%")) || number > 100)
        return false;
    *share = number / 100;
    return true;
}

void quantity_add_duration(struct buf *out, double ns)
{
    const char *unit = "µs";
    double value = ns / 1e3;
    if (value >= 1e6) {
        value /= 1e6;
        unit = "s";
    } else if (value >= 1e3) {
        value /= 1e3;
        unit = "ms";
    }
    int places = value >= 100 ? 0 : value >= 10 ? 1 : 2;
    buf_add_format(out, "%.*f %s", places, value, unit);
}

void quantity_add_count(struct buf *out, uint64_t count)
{
    char digits[20];
    size_t length = format_uint(digits, count);
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            buf_add_char(out, ',');
        buf_add_char(out, digits[i]);
    }
}
