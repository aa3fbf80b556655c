#include "rehearse/progress.h"

#include "rehearse/quantity.h"

#include <unistd.h>

enum { TEXT_MAX = 16 * 1024 };

struct progress progress_start(FILE *out)
{
    return (struct progress){.out = out, .terminal = isatty(fileno(out)) == 1};
}

static void add_reasons(struct buf *out, const struct tally *tally, const char *separator)
{
    for (size_t i = 0; i < tally->reason_count; i++) {
        buf_add_format(out, "%s%s ", i ? separator : "", tally->reasons[i].name);
        quantity_add_count(out, tally->reasons[i].count);
    }
    if (!tally->reason_count)
        buf_add(out, STR("no answers yet"));
}

static void add_percentiles(struct buf *out, const struct histogram *times)
{
    static const struct {
        const char *name;
        double share;
    } wanted[] = {{"p50 ", 0.5}, {"  p95 ", 0.95}, {"  p99 ", 0.99}, {"  p99.9 ", 0.999}, {"  max ", 1}};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        buf_add(out, str_from(wanted[i].name));
        quantity_add_duration(out, (double)histogram_percentile(times, wanted[i].share));
    }
}

static void draw_block(struct progress *progress, const struct tally *tally, const struct histogram *times,
                       double seconds, double offered, double answered, struct buf *out)
{
    buf_add(out, STR("\033[?7l")); /* a line that is too long is cut: wrapped, it would spoil the next drawing */
    if (progress->lines)
        buf_add_format(out, "\033[%dA\033[J", progress->lines);
    buf_add_format(out, "%6.1f s   users %llu   offered %.0f/s   answered %.0f/s   in progress %llu\n", seconds,
                   (unsigned long long)tally->users, offered, answered, (unsigned long long)tally->waiting);
    buf_add(out, STR("  answers  "));
    add_reasons(out, tally, "  ");
    buf_add(out, STR("\n  latency  "));
    add_percentiles(out, times);
    buf_add_format(out,
                   "\n  connections %llu open, %llu opened   errors %llu (5xx %llu, refused %llu, broken %llu, "
                   "timeouts %llu, not sent %llu)\n",
                   (unsigned long long)tally->open, (unsigned long long)tally->opened,
                   (unsigned long long)tally_errors(tally), (unsigned long long)tally->server_errors,
                   (unsigned long long)tally->refused, (unsigned long long)tally->broken,
                   (unsigned long long)tally->timeouts, (unsigned long long)tally->not_sent);
    buf_add(out, STR("\033[?7h"));
    progress->lines = 4;
}

static void draw_line(const struct tally *tally, const struct histogram *times, double seconds, double offered,
                      double answered, struct buf *out)
{
    buf_add_format(out, "%.0f s: offered %.0f/s, answered %.0f/s, errors %llu, connections %llu; ", seconds, offered,
                   answered, (unsigned long long)tally_errors(tally), (unsigned long long)tally->open);
    add_percentiles(out, times);
    buf_add(out, STR("; "));
    add_reasons(out, tally, ", ");
    buf_add_char(out, '\n');
}

void progress_show(struct progress *progress, const struct tally *tally, double seconds)
{
    static struct histogram times; /* 40 KB; main thread */
    struct buf text = BUF_INIT(TEXT_MAX);
    double passed = seconds - progress->seconds;
    double offered = passed > 0 ? (double)(tally->requests - progress->requests) / passed : 0;
    double answered = passed > 0 ? (double)(tally->answered - progress->answered) / passed : 0;
    tally_latency(tally, &times);
    if (progress->terminal)
        draw_block(progress, tally, &times, seconds, offered, answered, &text);
    else
        draw_line(tally, &times, seconds, offered, answered, &text);
    fwrite(text.data, 1, text.len, progress->out);
    fflush(progress->out);
    buf_free(&text);
    progress->requests = tally->requests;
    progress->answered = tally->answered;
    progress->seconds = seconds;
}
