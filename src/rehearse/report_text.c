#include "rehearse/report.h"

#include "rehearse/quantity.h"

#include <stdio.h>

static void add_count(struct buf *out, const char *name, uint64_t count)
{
    struct buf number = BUF_INIT(64);
    quantity_add_count(&number, count);
    buf_add_format(out, "  %-24s %12.*s\n", name, STR_ARG(buf_str(&number)));
    buf_free(&number);
}

static void add_times(struct buf *out, const char *name, const struct histogram *times)
{
    static const double shares[] = {0.5, 0.9, 0.95, 0.99, 0.999, 1};
    buf_add_format(out, "  %-10s", name);
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        struct buf text = BUF_INIT(64);
        quantity_add_duration(&text, (double)histogram_percentile(times, shares[i]));
        /* µ has two bytes and one column */
        int pad = 10 + (memchr(text.data, 0xc2, text.len) != NULL);
        buf_add_format(out, " %*.*s", pad, STR_ARG(buf_str(&text)));
        buf_free(&text);
    }
    buf_add_char(out, '\n');
}

static void add_latency(struct buf *out, const struct tally *tally)
{
    static struct histogram all;
    tally_latency(tally, &all);
    buf_add(out, STR("\nLatency, from when a request should have been sent to the end of its answer\n"));
    buf_add_format(out, "  %-10s %10s %10s %10s %10s %10s %10s\n", "", "p50", "p90", "p95", "p99", "p99.9", "max");
    add_times(out, "all", &all);
    for (size_t kind = 0; kind < TALLY_KINDS; kind++)
        if (tally->latency[kind].count && tally->latency[kind].count != all.count)
            add_times(out, history_kind_name((enum history_kind)kind), &tally->latency[kind]);
}

static void add_errors(struct buf *out, const struct tally *tally)
{
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {
        {"answered 5xx", tally->server_errors}, {"connection refused", tally->refused},
        {"broken off", tally->broken},          {"too large to be kept", tally->too_large},
        {"no answer in time", tally->timeouts}, {"never sent", tally->not_sent},
        {"gave up on purpose", tally->gave_up}, {"cut off at the end", tally->cut_off},
    };
    uint64_t errors = tally_errors(tally);
    buf_add_format(out, "\nErrors: %llu of %llu requests (%.3g%%)\n", (unsigned long long)errors,
                   (unsigned long long)tally->requests,
                   tally->requests ? 100.0 * (double)errors / (double)tally->requests : 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].count)
            add_count(out, rows[i].name, rows[i].count);
}

/* The one who measures must not be what is measured. */
static void add_note_on_lag(struct buf *out, const struct tally *tally)
{
    enum { LATE_NS = 10000000 };
    uint64_t lag = histogram_percentile(&tally->lag, 0.99);
    if (lag < LATE_NS)
        return;
    buf_add(out, STR("1 % of the requests were sent "));
    quantity_add_duration(out, (double)lag);
    buf_add(out,
            STR(" late or later, which counts in their latency: this machine was too busy, or all connections were "
                "in use. Try --threads, --connections, or another machine for the rehearsal.\n"));
}

void report_notes(struct buf *out, const struct rehearsal *rehearsal)
{
    const struct plan *plan = rehearsal->plan;
    if (rehearsal->interrupted)
        buf_add(out, STR("The rehearsal was stopped before its end.\n"));
    add_note_on_lag(out, &rehearsal->tally);
    if (!plan->forwarded_for && !target_has_own_addresses(&plan->targets[0]))
        buf_add(out,
                STR("All requests came from one address, of which the server lets FCFS_IP_CONCURRENCY through at a "
                    "time. With --forwarded-for each user has an address.\n"));
}

static void add_notes(struct buf *out, const struct rehearsal *rehearsal)
{
    enum { NOTES_MAX = 2048 };
    struct buf notes = BUF_INIT(NOTES_MAX);
    report_notes(&notes, rehearsal);
    struct str rest = buf_str(&notes), line;
    while (str_split(&rest, '\n', &line))
        if (line.len)
            buf_add_format(out, "\nNote: %.*s\n", STR_ARG(line));
    buf_free(&notes);
}

static void add_thresholds(struct buf *out, const struct rehearsal *rehearsal)
{
    const struct plan *plan = rehearsal->plan;
    if (plan->threshold_count)
        buf_add(out, STR("\nFail if\n"));
    for (size_t i = 0; i < plan->threshold_count; i++) {
        double found;
        bool crossed = threshold_crossed(&plan->thresholds[i], &rehearsal->tally, rehearsal->seconds, &found);
        buf_add_format(out, "  %-24s %s: ", plan->thresholds[i].text, crossed ? "FAILED" : "fine");
        threshold_add_found(out, &plan->thresholds[i], found);
        buf_add_char(out, '\n');
    }
}

void report_text(struct buf *out, const struct rehearsal *rehearsal)
{
    const struct plan *plan = rehearsal->plan;
    const struct tally *tally = &rehearsal->tally;
    buf_add_format(out, "Rehearsal of %.*s at http://%s", STR_ARG(plan->schedule), plan->targets[0].authority);
    if (plan->target_count > 1)
        buf_add_format(out, " and %zu more", plan->target_count - 1);
    buf_add_format(out, ": %s, %.1f s\n\n", plan->arrival_text, rehearsal->seconds);
    add_count(out, "users", tally->users);
    add_count(out, "requests", tally->requests);
    add_count(out, "answered", tally->answered);
    buf_add_format(out, "  %-24s %12.0f\n", "answered per second",
                   rehearsal->seconds > 0 ? (double)tally->answered / rehearsal->seconds : 0);
    add_count(out, "seats of the house", (uint64_t)rehearsal->stage.seats);
    add_count(out, "sold", tally->sold);
    if (tally->released)
        add_count(out, "given back", tally->released);
    add_count(out, "most connections", tally->open_most);
    buf_add(out, STR("\nAnswers\n"));
    for (size_t i = 0; i < tally->reason_count; i++)
        add_count(out, tally->reasons[i].name, tally->reasons[i].count);
    add_latency(out, tally);
    add_errors(out, tally);
    add_thresholds(out, rehearsal);
    add_notes(out, rehearsal);
}
