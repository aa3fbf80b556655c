#include "rehearse/chart.h"

#include "rehearse/quantity.h"

#include <math.h>

/* Small enough that the letters can be read on a phone. */
enum { WIDTH = 440, HEIGHT = 220, LEFT = 58, RIGHT = 26, TOP = 10, BOTTOM = 24, X_TICKS = 5, Y_TICKS = 4 };

static const double PLOT_WIDTH = WIDTH - LEFT - RIGHT, PLOT_HEIGHT = HEIGHT - TOP - BOTTOM;

struct scale {
    double low, high; /* of the values; logarithms of base 10 for durations */
};

void html_add(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        switch (text.ptr[i]) {
        case '<': buf_add(out, STR("&lt;")); break;
        case '>': buf_add(out, STR("&gt;")); break;
        case '&': buf_add(out, STR("&amp;")); break;
        case '"': buf_add(out, STR("&quot;")); break;
        default: buf_add_char(out, text.ptr[i]); break;
        }
    }
}

/* 1, 2 or 5 times a power of ten, not below the value. */
static double nice(double value)
{
    double power = pow(10, floor(log10(value)));
    double digits = value / power;
    return power * (digits <= 1 ? 1 : digits <= 2 ? 2 : digits <= 5 ? 5 : 10);
}

static struct scale find_scale(const struct chart *chart)
{
    double low = INFINITY, high = 0;
    for (size_t line = 0; line < chart->line_count; line++) {
        for (size_t i = 0; i < chart->count; i++) {
            double value = chart->lines[line].values[i];
            if (value > 0 && value < low)
                low = value;
            if (value > high)
                high = value;
        }
    }
    if (!chart->durations)
        return (struct scale){0, Y_TICKS * nice(high > 0 ? high / Y_TICKS : 1)};
    if (high <= 0)
        return (struct scale){3, 6};
    double bottom = floor(log10(low)), top = ceil(log10(high));
    return (struct scale){bottom, top > bottom ? top : bottom + 1};
}

static double place_y(const struct chart *chart, const struct scale *scale, double value)
{
    double at = chart->durations ? log10(value > 0 ? value : 1) : value;
    double share = (at - scale->low) / (scale->high - scale->low);
    return TOP + PLOT_HEIGHT * (1 - fmin(1, fmax(0, share)));
}

static double place_x(const struct chart *chart, size_t i)
{
    return LEFT + (chart->count > 1 ? PLOT_WIDTH * (double)i / (double)(chart->count - 1) : PLOT_WIDTH / 2);
}

static void add_y_axis(struct buf *out, const struct chart *chart, const struct scale *scale)
{
    double step = chart->durations ? 1 : (scale->high - scale->low) / Y_TICKS;
    size_t ticks = (size_t)lround((scale->high - scale->low) / step);
    for (size_t i = 0; i <= ticks; i++) {
        double at = scale->low + step * (double)i;
        double y = TOP + PLOT_HEIGHT * (1 - (at - scale->low) / (scale->high - scale->low));
        buf_add_format(out, "<line class='grid' x1='%d' x2='%d' y1='%.1f' y2='%.1f'/><text x='%d' y='%.1f'>", LEFT,
                       WIDTH - RIGHT, y, y, LEFT - 6, y + 4);
        if (chart->durations)
            quantity_add_duration(out, pow(10, at));
        else
            quantity_add_count(out, (uint64_t)at);
        buf_add(out, STR("</text>"));
    }
}

static void add_x_axis(struct buf *out, const struct chart *chart)
{
    static const char *const nines[] = {"0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %"};
    double whole = chart->x_step * (double)(chart->count > 1 ? chart->count - 1 : 1);
    double step = chart->percentile ? 1 : nice(whole / X_TICKS);
    size_t ticks = (size_t)(whole / step + 0.001);
    for (size_t i = 0; i <= ticks; i++) {
        double at = step * (double)i;
        buf_add_format(out, "<text class='x' x='%.1f' y='%d'>", LEFT + PLOT_WIDTH * at / whole, HEIGHT - 6);
        if (chart->percentile)
            buf_add(out, str_from(nines[i % 7]));
        else
            buf_add_format(out, "%g s", at);
        buf_add(out, STR("</text>"));
    }
}

static void add_line(struct buf *out, const struct chart *chart, const struct scale *scale,
                     const struct chart_line *line)
{
    bool drawing = false;
    buf_add_format(out, "<path class='%s' d='", line->class);
    for (size_t i = 0; i < chart->count; i++) {
        if (line->values[i] < 0) {
            drawing = false;
            continue;
        }
        buf_add_format(out, "%c%.1f %.1f", drawing ? 'L' : 'M', place_x(chart, i),
                       place_y(chart, scale, line->values[i]));
        if (chart->count == 1)
            buf_add(out, STR("h1"));
        drawing = true;
    }
    buf_add(out, STR("'/>"));
}

/* A browser shows a <title> when the pointer rests on its shape. */
static void add_tips(struct buf *out, const struct chart *chart)
{
    double width = PLOT_WIDTH / (double)chart->count;
    for (size_t i = 0; i < chart->count; i++) {
        buf_add_format(out, "<rect x='%.1f' y='%d' width='%.1f' height='%.0f'><title>", LEFT + width * (double)i, TOP,
                       width, PLOT_HEIGHT);
        if (chart->percentile)
            buf_add_format(out, "%.6g %%", 100 * (1 - pow(10, -chart->x_step * (double)i)));
        else
            buf_add_format(out, "%.1f s", chart->x_step * (double)i);
        for (size_t line = 0; line < chart->line_count; line++) {
            double value = chart->lines[line].values[i];
            buf_add_format(out, "\n%s: ", chart->lines[line].name);
            if (value < 0)
                buf_add(out, STR("–"));
            else if (chart->durations)
                quantity_add_duration(out, value);
            else
                quantity_add_count(out, (uint64_t)value);
        }
        buf_add(out, STR("</title></rect>"));
    }
}

void chart_add(struct buf *out, const struct chart *chart)
{
    struct scale scale = find_scale(chart);
    buf_add_format(out, "<figure><figcaption>%s<span class='legend'>", chart->title);
    for (size_t i = 0; i < chart->line_count; i++)
        buf_add_format(out, "<span><i class='%s'></i>%s</span>", chart->lines[i].class, chart->lines[i].name);
    buf_add_format(out, "</span></figcaption><svg viewBox='0 0 %d %d' role='img' aria-label='%s'>", WIDTH, HEIGHT,
                   chart->title);
    add_y_axis(out, chart, &scale);
    add_x_axis(out, chart);
    for (size_t i = 0; i < chart->line_count; i++)
        add_line(out, chart, &scale, &chart->lines[i]);
    add_tips(out, chart);
    buf_add(out, STR("</svg></figure>\n"));
}
