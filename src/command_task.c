#include "command_task.h"

#include "task/task.h"

enum { TASKS_MAX = 16 };

struct first {
    struct loop_message message;
    void (*work)(void *argument);
    void *argument;
    bool started;
};

static void run(void *argument)
{
    struct first *first = argument;
    first->work(first->argument);
    loop_stop(loop_current());
}

static void deliver(struct loop_message *message)
{
    struct first *first = (struct first *)((char *)message - offsetof(struct first, message));
    first->started = task_start(run, first);
    if (!first->started)
        loop_stop(loop_current());
}

bool command_run_task(void (*work)(void *argument), void *argument)
{
    struct loop *loop = loop_create(TASKS_MAX);
    struct first first = {.message.deliver = deliver, .work = work, .argument = argument};
    if (!loop)
        return false;
    loop_post(loop, &first.message);
    loop_run(loop);
    loop_destroy(loop);
    return first.started;
}
