/* The report as one page: no script, nothing from elsewhere, light or dark as the reader likes it, fit for a phone. */
#include "base/clock.h"
#include "rehearse/chart.h"
#include "rehearse/quantity.h"
#include "rehearse/report.h"

#include <math.h>

enum { PERCENTILE_STEPS = 20 /* to each nine */, PERCENTILE_POINTS = 6 * PERCENTILE_STEPS + 1 };

static const char STYLE[] =
    ":root{color-scheme:light dark;--page:#f7f7f8;--card:#fff;--text:#1c1e21;--soft:#5f6670;--line:#e3e5e8;"
    "--a:#2563c9;--b:#8b93a0;--c:#c2410c;--d:#0f766e;--bad:#b42318;--good:#18794e}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#121417;--card:#1b1e22;--text:#e8eaed;--soft:#a0a7b1;"
    "--line:#31363d;--a:#7aa9f7;--b:#7d8590;--c:#f0883e;--d:#3fb8ac;--bad:#ff7b72;--good:#56d364}}\n"
    "*{box-sizing:border-box}body{margin:0 auto;padding:16px;max-width:1080px;background:var(--page);color:var(--text);"
    "font:15px/1.45 system-ui,sans-serif}h1{font-size:22px;margin:8px 0 2px}h2{font-size:16px;margin:24px 0 8px}"
    "p{margin:4px 0;color:var(--soft)}.grid2{display:grid;gap:12px;grid-template-columns:repeat(auto-fit,minmax("
    "min(100%,420px),1fr))}.tiles{display:grid;gap:8px;grid-template-columns:repeat(auto-fit,minmax(120px,1fr));"
    "margin:16px 0}.tile,figure,.card{background:var(--card);border:1px solid var(--line);border-radius:8px;"
    "padding:10px 12px;margin:0}.tile b{display:block;font-size:20px;font-variant-numeric:tabular-nums}"
    ".tile span{color:var(--soft);font-size:13px}.card{overflow-x:auto}figcaption{font-weight:600;display:flex;"
    "flex-wrap:wrap;gap:4px 16px;justify-content:space-between}.legend{font-weight:400;font-size:13px;"
    "color:var(--soft);display:flex;gap:12px}.legend i{display:inline-block;width:14px;height:3px;margin-right:5px;"
    "vertical-align:middle}svg{width:100%;height:auto;display:block;margin-top:6px}svg text{font-size:11px;"
    "fill:var(--soft);text-anchor:end}svg text.x{text-anchor:middle}svg .grid{stroke:var(--line)}svg path{fill:none;"
    "stroke-width:1.8;stroke-linejoin:round}svg rect{fill:transparent}.a{stroke:var(--a)}.b{stroke:var(--b)}"
    ".c{stroke:var(--c)}.d{stroke:var(--d)}i.a{background:var(--a)}i.b{background:var(--b)}i.c{background:var(--c)}"
    "i.d{background:var(--d)}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}th,td{"
    "padding:5px 8px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}tr:last-child>*{"
    "border-bottom:0}th:first-child,td:first-child{text-align:left;font-weight:400}thead th{color:var(--soft);"
    "font-weight:400}.bar{display:block;height:10px;border-radius:3px;background:var(--a);min-width:2px}td.wide{"
    "width:50%}.note{color:var(--text)}.bad{color:var(--bad);font-weight:600}.good{color:var(--good)}";

static void add_tile(struct buf *out, const char *name, uint64_t count)
{
    buf_add(out, STR("<div class='tile'><b>"));
    quantity_add_count(out, count);
    buf_add_format(out, "</b><span>%s</span></div>", name);
}

static void add_tile_duration(struct buf *out, const char *name, uint64_t ns)
{
    buf_add(out, STR("<div class='tile'><b>"));
    quantity_add_duration(out, (double)ns);
    buf_add_format(out, "</b><span>%s</span></div>", name);
}

static void add_head(struct buf *out, const struct rehearsal *rehearsal)
{
    const struct plan *plan = rehearsal->plan;
    char when[CLOCK_RFC3339_SIZE];
    clock_format_rfc3339(rehearsal->started_ms, when);
    buf_add_format(out,
                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<title>Rehearsal</title>\n<style>\n%s\n</style>\n</head>\n<body>\n<h1>Rehearsal of ",
                   STYLE);
    html_add(out, plan->schedule);
    buf_add(out, STR("</h1>\n<p>"));
    for (size_t i = 0; i < plan->target_count; i++) {
        buf_add(out, i ? STR(", http://") : STR("http://"));
        html_add(out, str_from(plan->targets[i].authority));
    }
    buf_add_format(out, " · %s · %.1f s</p>\n<p>", when, rehearsal->seconds);
    html_add(out, str_from(plan->arrival_text));
    for (enum persona persona = PERSONA_PLAIN + 1; persona < PERSONA_COUNT; persona++)
        if (plan->personas.share[persona] > 0)
            buf_add_format(out, " · %s %.3g %%", persona_name(persona), plan->personas.share[persona] * 100);
    buf_add(out, STR("</p>\n"));
}

static void add_tiles(struct buf *out, const struct rehearsal *rehearsal, const struct histogram *all)
{
    const struct tally *tally = &rehearsal->tally;
    buf_add(out, STR("<div class='tiles'>"));
    add_tile(out, "users", tally->users);
    add_tile(out, "requests", tally->requests);
    add_tile(out, "answered per second",
             rehearsal->seconds > 0 ? (uint64_t)((double)tally->answered / rehearsal->seconds) : 0);
    add_tile(out, "seats", (uint64_t)rehearsal->stage.seats);
    add_tile(out, "sold", tally->sold);
    add_tile_duration(out, "half are faster than (p50)", histogram_percentile(all, 0.5));
    add_tile_duration(out, "99 % are faster than (p99)", histogram_percentile(all, 0.99));
    add_tile(out, "errors", tally_errors(tally));
    buf_add(out, STR("</div>\n"));
}

static void add_thresholds(struct buf *out, const struct rehearsal *rehearsal)
{
    const struct plan *plan = rehearsal->plan;
    if (!plan->threshold_count)
        return;
    buf_add(out, STR("<h2>Fail if</h2>\n<div class='card'><table>"));
    for (size_t i = 0; i < plan->threshold_count; i++) {
        double found;
        bool crossed = threshold_crossed(&plan->thresholds[i], &rehearsal->tally, rehearsal->seconds, &found);
        buf_add(out, STR("<tr><td>"));
        html_add(out, str_from(plan->thresholds[i].text));
        buf_add(out, STR("</td><td>"));
        threshold_add_found(out, &plan->thresholds[i], found);
        buf_add_format(out, "</td><td class='%s'>%s</td></tr>", crossed ? "bad" : "good",
                       crossed ? "✗ failed" : "✓ fine");
    }
    buf_add(out, STR("</table></div>\n"));
}

static void add_time_charts(struct buf *out, const struct timeline *timeline)
{
    static double rows[6][TIMELINE_MAX];
    double seconds = (double)timeline->slice_ns / (double)NS_PER_S;
    for (size_t i = 0; i < timeline->count; i++) {
        const struct slice *slice = &timeline->slices[i];
        bool any = slice->answered > 0 || slice->max > 0;
        rows[0][i] = (double)slice->requests / seconds;
        rows[1][i] = (double)slice->answered / seconds;
        rows[2][i] = (double)slice->errors / seconds;
        rows[3][i] = any ? (double)slice->p50 : -1;
        rows[4][i] = any ? (double)slice->p99 : -1;
        rows[5][i] = any ? (double)slice->max : -1;
    }
    chart_add(out,
              &(struct chart){
                  .title = "Requests per second",
                  .lines = {{"should be sent", "b", rows[0]}, {"answered", "a", rows[1]}, {"errors", "c", rows[2]}},
                  .line_count = 3,
                  .count = timeline->count,
                  .x_step = seconds,
              });
    chart_add(out, &(struct chart){
                       .title = "Latency of what was answered then",
                       .lines = {{"max", "b", rows[5]}, {"p99", "c", rows[4]}, {"p50", "a", rows[3]}},
                       .line_count = 3,
                       .count = timeline->count,
                       .x_step = seconds,
                       .durations = true,
                   });
}

static void add_percentile_chart(struct buf *out, const struct tally *tally, const struct histogram *all)
{
    static const char *const classes[TALLY_KINDS] = {"a", "c", "d", "b"};
    static double rows[TALLY_KINDS][PERCENTILE_POINTS];
    struct chart chart = {.title = "Latency by share of requests",
                          .durations = true,
                          .percentile = true,
                          .x_step = 1.0 / PERCENTILE_STEPS};
    double nines = all->count ? log10((double)all->count) : 0;
    chart.count = (size_t)(fmin(6, fmax(1, nines)) * PERCENTILE_STEPS) + 1;
    for (size_t kind = 0; kind < TALLY_KINDS; kind++) {
        if (!tally->latency[kind].count)
            continue;
        for (size_t i = 0; i < chart.count; i++)
            rows[kind][i] =
                (double)histogram_percentile(&tally->latency[kind], 1 - pow(10, -(double)i / PERCENTILE_STEPS));
        chart.lines[chart.line_count++] =
            (struct chart_line){history_kind_name((enum history_kind)kind), classes[kind], rows[kind]};
    }
    chart_add(out, &chart);
}

static void add_row(struct buf *out, struct str name, uint64_t count, uint64_t most)
{
    buf_add(out, STR("<tr><td>"));
    html_add(out, name);
    buf_add_format(out, "</td><td class='wide'><span class='bar' style='width:%.1f%%'></span></td><td>",
                   most ? 100.0 * (double)count / (double)most : 0);
    quantity_add_count(out, count);
    buf_add(out, STR("</td></tr>"));
}

static void add_outcomes(struct buf *out, const struct tally *tally)
{
    const struct {
        const char *name;
        uint64_t count;
    } others[] = {
        {"connection refused", tally->refused},
        {"broken off", tally->broken},
        {"too large to be kept", tally->too_large},
        {"no answer in time", tally->timeouts},
        {"never sent", tally->not_sent},
        {"gave up on purpose", tally->gave_up},
        {"cut off at the end", tally->cut_off},
    };
    buf_add(out, STR("<figure><figcaption>What became of the requests</figcaption><table>"));
    for (size_t i = 0; i < tally->reason_count; i++)
        add_row(out, str_from(tally->reasons[i].name), tally->reasons[i].count, tally->requests);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (others[i].count)
            add_row(out, str_from(others[i].name), others[i].count, tally->requests);
    buf_add(out, STR("</table></figure>\n"));
}

static void add_latency_row(struct buf *out, const char *name, const struct histogram *times)
{
    static const double shares[] = {0.5, 0.9, 0.95, 0.99, 0.999, 1};
    buf_add_format(out, "<tr><td>%s</td><td>", name);
    quantity_add_count(out, times->count);
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        buf_add(out, STR("</td><td>"));
        quantity_add_duration(out, (double)histogram_percentile(times, shares[i]));
    }
    buf_add(out, STR("</td></tr>"));
}

static void add_latency_table(struct buf *out, const struct tally *tally, const struct histogram *all)
{
    buf_add(out,
            STR("<h2>Latency</h2>\n<p>From the moment a request should have been sent to the end of its answer, so "
                "waiting for a slow server counts.</p>\n<div class='card'><table><thead><tr><th></th><th>requests"
                "</th><th>p50</th><th>p90</th><th>p95</th><th>p99</th><th>p99.9</th><th>max</th></tr></thead>"));
    add_latency_row(out, "all", all);
    for (size_t kind = 0; kind < TALLY_KINDS; kind++)
        if (tally->latency[kind].count)
            add_latency_row(out, history_kind_name((enum history_kind)kind), &tally->latency[kind]);
    add_latency_row(out, "sent late by", &tally->lag);
    buf_add(out, STR("</table></div>\n"));
}

static void add_notes(struct buf *out, const struct rehearsal *rehearsal)
{
    enum { NOTES_MAX = 2048 };
    struct buf notes = BUF_INIT(NOTES_MAX);
    report_notes(&notes, rehearsal);
    struct str rest = buf_str(&notes), line;
    while (str_split(&rest, '\n', &line)) {
        if (!line.len)
            continue;
        buf_add(out, STR("<p class='note'>Note: "));
        html_add(out, line);
        buf_add(out, STR("</p>\n"));
    }
    buf_free(&notes);
}

void report_html(struct buf *out, const struct rehearsal *rehearsal)
{
    static struct histogram all;
    tally_latency(&rehearsal->tally, &all);
    add_head(out, rehearsal);
    add_tiles(out, rehearsal, &all);
    add_notes(out, rehearsal);
    add_thresholds(out, rehearsal);
    buf_add(out, STR("<h2>Course</h2>\n<div class='grid2'>\n"));
    add_time_charts(out, &rehearsal->timeline);
    add_percentile_chart(out, &rehearsal->tally, &all);
    add_outcomes(out, &rehearsal->tally);
    buf_add(out, STR("</div>\n"));
    add_latency_table(out, &rehearsal->tally, &all);
    buf_add_format(out, "<p>%llu connections opened, %llu at a time at most. Tickettock %s.</p>\n</body>\n</html>\n",
                   (unsigned long long)rehearsal->tally.opened, (unsigned long long)rehearsal->tally.open_most,
                   TICKETTOCK_VERSION);
}
