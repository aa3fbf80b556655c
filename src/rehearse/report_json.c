#include "base/clock.h"
#include "base/json_write.h"
#include "rehearse/report.h"

static void add_double(struct json_writer *json, const char *name, double value)
{
    char text[64];
    struct buf number = {.data = text, .size = sizeof(text), .max = sizeof(text)};
    buf_add_format(&number, "%.6g", value);
    json_member_raw(json, name, buf_str(&number));
}

static void add_ms(struct json_writer *json, const char *name, uint64_t ns)
{
    add_double(json, name, (double)ns / (double)NS_PER_MS);
}

static void add_latency(struct json_writer *json, const char *name, const struct histogram *times)
{
    json_member_object(json, name);
    json_member_uint(json, "count", times->count);
    add_double(json, "mean", histogram_mean(times) / (double)NS_PER_MS);
    add_ms(json, "p50", histogram_percentile(times, 0.5));
    add_ms(json, "p90", histogram_percentile(times, 0.9));
    add_ms(json, "p95", histogram_percentile(times, 0.95));
    add_ms(json, "p99", histogram_percentile(times, 0.99));
    add_ms(json, "p99.9", histogram_percentile(times, 0.999));
    add_ms(json, "max", times->max);
    json_end_object(json);
}

static void add_errors(struct json_writer *json, const struct tally *tally)
{
    json_member_object(json, "errors");
    json_member_uint(json, "total", tally_errors(tally));
    json_member_uint(json, "answered5xx", tally->server_errors);
    json_member_uint(json, "refused", tally->refused);
    json_member_uint(json, "broken", tally->broken);
    json_member_uint(json, "tooLarge", tally->too_large);
    json_member_uint(json, "timeouts", tally->timeouts);
    json_member_uint(json, "notSent", tally->not_sent);
    json_end_object(json);
}

static void add_timeline(struct json_writer *json, const struct timeline *timeline)
{
    json_member_object(json, "timeline");
    add_double(json, "sliceSeconds", (double)timeline->slice_ns / (double)NS_PER_S);
    json_member_array(json, "slices");
    for (size_t i = 0; i < timeline->count; i++) {
        const struct slice *slice = &timeline->slices[i];
        json_begin_object(json);
        json_member_uint(json, "requests", slice->requests);
        json_member_uint(json, "answered", slice->answered);
        json_member_uint(json, "sold", slice->sold);
        json_member_uint(json, "errors", slice->errors);
        add_ms(json, "p50", slice->p50);
        add_ms(json, "p99", slice->p99);
        add_ms(json, "max", slice->max);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

static void add_thresholds(struct json_writer *json, const struct rehearsal *rehearsal)
{
    json_member_array(json, "failIf");
    for (size_t i = 0; i < rehearsal->plan->threshold_count; i++) {
        const struct threshold *threshold = &rehearsal->plan->thresholds[i];
        double found;
        bool crossed = threshold_crossed(threshold, &rehearsal->tally, rehearsal->seconds, &found);
        json_begin_object(json);
        json_member_string(json, "rule", str_from(threshold->text));
        json_member_bool(json, "failed", crossed);
        add_double(json, "found", threshold->unit == THRESHOLD_DURATION ? found / (double)NS_PER_MS : found);
        json_end_object(json);
    }
    json_end_array(json);
}

static void add_plan(struct json_writer *json, const struct rehearsal *rehearsal)
{
    const struct plan *plan = rehearsal->plan;
    json_member_array(json, "servers");
    for (size_t i = 0; i < plan->target_count; i++)
        json_string(json, str_from(plan->targets[i].authority));
    json_end_array(json);
    json_member_string(json, "scheduleId", plan->schedule);
    json_member_string(json, "userPrefix", str_from(plan->run));
    json_member_string(json, "arrival", str_from(plan->arrival_text));
    json_member_uint(json, "seed", plan->seed);
    json_member_int(json, "started", rehearsal->started_ms);
    add_double(json, "seconds", rehearsal->seconds);
    json_member_bool(json, "interrupted", rehearsal->interrupted);
}

static void add_figures(struct json_writer *json, const struct rehearsal *rehearsal)
{
    const struct tally *tally = &rehearsal->tally;
    json_member_int(json, "seats", rehearsal->stage.seats);
    json_member_uint(json, "users", tally->users);
    json_member_uint(json, "requests", tally->requests);
    json_member_uint(json, "sent", tally->sent);
    json_member_uint(json, "answered", tally->answered);
    add_double(json, "answeredPerSecond", rehearsal->seconds > 0 ? (double)tally->answered / rehearsal->seconds : 0);
    json_member_uint(json, "sold", tally->sold);
    json_member_uint(json, "released", tally->released);
    json_member_uint(json, "retries", tally->retries);
    json_member_uint(json, "gaveUp", tally->gave_up);
    json_member_uint(json, "cutOff", tally->cut_off);
    json_member_uint(json, "connectionsOpened", tally->opened);
    json_member_uint(json, "connectionsMost", tally->open_most);
    json_member_object(json, "answers");
    for (size_t i = 0; i < tally->reason_count; i++) {
        json_key_str(json, str_from(tally->reasons[i].name));
        json_uint(json, tally->reasons[i].count);
    }
    json_end_object(json);
    add_errors(json, tally);
}

void report_json(struct buf *out, const struct rehearsal *rehearsal)
{
    static struct histogram all;
    const struct tally *tally = &rehearsal->tally;
    struct json_writer json = json_write_to(out);
    tally_latency(tally, &all);
    json_begin_object(&json);
    add_plan(&json, rehearsal);
    add_figures(&json, rehearsal);
    json_member_object(&json, "latencyMs");
    add_latency(&json, "all", &all);
    for (size_t kind = 0; kind < TALLY_KINDS; kind++)
        add_latency(&json, history_kind_name((enum history_kind)kind), &tally->latency[kind]);
    add_latency(&json, "sentLate", &tally->lag);
    json_end_object(&json);
    add_thresholds(&json, rehearsal);
    add_timeline(&json, &rehearsal->timeline);
    json_end_object(&json);
    buf_add_char(out, '\n');
}
