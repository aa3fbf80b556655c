#include "rehearse/rehearse.h"

#include "base/clock.h"
#include "rehearse/crowd.h"
#include "rehearse/progress.h"
#include "rehearse/report.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPORT_MAX_BYTES = 4 << 20, PROBLEM_MAX_BYTES = 4096, LEAVING_MS = 1000, START_IN_MS = 50 };

/* How often the operator has asked us to stop. */
static volatile sig_atomic_t stop_requests;

static void on_signal(int signal)
{
    (void)signal;
    stop_requests++;
}

static void watch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void tell(const struct buf *problem)
{
    fprintf(stderr, "tickettock: %.*s\n", STR_ARG(buf_str(problem)));
}

static void look(struct rehearsal *rehearsal, struct crowd **crowds, size_t count)
{
    tally_clear(&rehearsal->tally);
    for (size_t i = 0; i < count; i++)
        crowd_tally(crowds[i], &rehearsal->tally);
}

static bool all_of(struct crowd **crowds, size_t count, bool (*is)(struct crowd *crowd))
{
    for (size_t i = 0; i < count; i++)
        if (!is(crowds[i]))
            return false;
    return true;
}

static void close_doors(struct crowd **crowds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        crowd_close_doors(crowds[i]);
}

static void sleep_until(int64_t moment_ns)
{
    int64_t wait_ns = moment_ns - clock_mono_ns();
    struct timespec wait = {.tv_sec = wait_ns / NS_PER_S, .tv_nsec = wait_ns % NS_PER_S};
    if (wait_ns > 0)
        nanosleep(&wait, NULL); /* a signal may end it sooner, which is fine */
}

/* When the rehearsal is over, also with a server that hangs: who has come waits no longer than the timeout, and asks
 * again within another one at most. The operator can close the doors sooner, and end everything by asking twice. */
struct ending {
    int64_t all_came_ns, interrupted_ns; /* 0: not yet */
};

static bool is_over(struct ending *ending, struct rehearsal *rehearsal, struct crowd **crowds, size_t count)
{
    int64_t now_ns = clock_mono_ns();
    if (!ending->all_came_ns && all_of(crowds, count, crowd_has_come))
        ending->all_came_ns = now_ns;
    if (stop_requests && !ending->interrupted_ns) {
        ending->interrupted_ns = now_ns;
        rehearsal->interrupted = true;
        close_doors(crowds, count);
    }
    if (ending->all_came_ns && now_ns - ending->all_came_ns > rehearsal->plan->timeout_ns)
        close_doors(crowds, count);
    return stop_requests > 1 || all_of(crowds, count, crowd_is_done) ||
           (ending->interrupted_ns && now_ns - ending->interrupted_ns > LEAVING_MS * NS_PER_MS);
}

static void watch_crowds(struct rehearsal *rehearsal, struct crowd **crowds, size_t count, int64_t start_ns)
{
    struct progress progress = progress_start(stderr);
    struct ending ending = {0};
    bool over = false;
    for (unsigned tick = 1; !over; tick++) {
        sleep_until(start_ns + tick * TIMELINE_FIRST_SLICE_MS * NS_PER_MS);
        over = is_over(&ending, rehearsal, crowds, count);
        look(rehearsal, crowds, count);
        timeline_add(&rehearsal->timeline, &rehearsal->tally);
        if (!rehearsal->plan->quiet && (over || tick % (progress.terminal ? 2 : 10) == 0))
            progress_show(&progress, &rehearsal->tally, (double)(clock_mono_ns() - start_ns) / (double)NS_PER_S);
    }
}

static bool run_crowds(struct rehearsal *rehearsal, struct history_writer *history)
{
    const struct plan *plan = rehearsal->plan;
    struct crowd *crowds[PLAN_THREADS_MAX];
    size_t count = 0;
    int64_t start_ns = clock_mono_ns() + START_IN_MS * NS_PER_MS;
    rehearsal->started_ms = clock_wall_ms() + START_IN_MS;
    while (count < plan->threads && (crowds[count] = crowd_start(plan, count, start_ns, history)))
        count++;
    bool good = count == plan->threads;
    if (good)
        watch_crowds(rehearsal, crowds, count, start_ns);
    else
        fputs("tickettock: there is no memory for the users.\n", stderr);
    for (size_t i = 0; i < count; i++)
        crowd_stop(crowds[i]);
    look(rehearsal, crowds, count);
    timeline_finish(&rehearsal->timeline);
    if (rehearsal->tally.last_end_ns > start_ns)
        rehearsal->seconds = (double)(rehearsal->tally.last_end_ns - start_ns) / (double)NS_PER_S;
    for (size_t i = 0; i < count; i++)
        crowd_destroy(crowds[i]);
    return good;
}

static struct history_writer *begin_history(const struct rehearsal *rehearsal)
{
    const struct plan *plan = rehearsal->plan;
    struct history_header header = HISTORY_HEADER_UNKNOWN;
    header.schedule = plan->schedule;
    header.seats = rehearsal->stage.seats;
    header.started = clock_wall_ms();
    header.servers = (int64_t)plan->target_count;
    header.taken = rehearsal->stage.taken.len ? buf_str(&rehearsal->stage.taken) : STR("");
    return history_writer_create(plan->history, &header);
}

static bool run_recorded(struct rehearsal *rehearsal)
{
    if (!rehearsal->plan->history)
        return run_crowds(rehearsal, NULL);
    struct history_writer *history = begin_history(rehearsal);
    if (!history)
        return false;
    bool good = run_crowds(rehearsal, history);
    return history_writer_close(history) && good;
}

/* Better told now than after an hour. */
static bool can_write(const char *path, struct buf *problem)
{
    FILE *file = path ? fopen(path, "ae") : NULL;
    if (path && !file)
        buf_add_format(problem, "%s cannot be written: %s.", path, strerror(errno));
    if (file)
        fclose(file);
    return !path || file;
}

static bool write_report(struct rehearsal *rehearsal, const char *path,
                         void (*report)(struct buf *out, const struct rehearsal *rehearsal))
{
    struct buf out = BUF_INIT(REPORT_MAX_BYTES);
    report(&out, rehearsal);
    FILE *file = path ? fopen(path, "we") : stdout;
    bool good = file && !out.failed && fwrite(out.data, 1, out.len, file) == out.len && fflush(file) == 0;
    if (!good)
        fprintf(stderr, "tickettock: %s could not be written.\n", path ? path : "the report");
    if (file && path)
        fclose(file);
    buf_free(&out);
    return good;
}

static bool write_reports(struct rehearsal *rehearsal)
{
    const struct plan *plan = rehearsal->plan;
    bool good = write_report(rehearsal, NULL, report_text);
    if (plan->report)
        good &= write_report(rehearsal, plan->report, report_html);
    if (plan->json)
        good &= write_report(rehearsal, plan->json, report_json);
    return good;
}

static size_t count_crossed(const struct rehearsal *rehearsal)
{
    size_t crossed = 0;
    double found;
    for (size_t i = 0; i < rehearsal->plan->threshold_count; i++)
        crossed += threshold_crossed(&rehearsal->plan->thresholds[i], &rehearsal->tally, rehearsal->seconds, &found);
    return crossed;
}

enum rehearse_outcome rehearse_run(struct plan *plan)
{
    struct rehearsal *rehearsal = calloc(1, sizeof(*rehearsal));
    struct buf problem = BUF_INIT(PROBLEM_MAX_BYTES);
    enum rehearse_outcome outcome = REHEARSE_FAILED;
    if (!rehearsal)
        return REHEARSE_FAILED;
    rehearsal->plan = plan;
    timeline_init(&rehearsal->timeline);
    watch_signals();
    if (!can_write(plan->report, &problem) || !can_write(plan->json, &problem) ||
        !stage_prepare(plan, &rehearsal->stage, &problem)) {
        tell(&problem);
    } else if (run_recorded(rehearsal)) {
        rehearsal->crossed = count_crossed(rehearsal);
        if (write_reports(rehearsal))
            outcome = rehearsal->crossed ? REHEARSE_CROSSED : REHEARSE_FINE;
    }
    stage_free(&rehearsal->stage);
    buf_free(&problem);
    free(rehearsal);
    return outcome;
}
