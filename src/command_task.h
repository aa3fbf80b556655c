/* For commands that use the database: its functions wait, and only tasks can. */
#ifndef COMMAND_TASK_H
#define COMMAND_TASK_H

#include <stdbool.h>

/* Runs work(argument) as a task on a loop of its own, to its end. False when there is no memory for that. */
__attribute__((warn_unused_result)) bool command_run_task(void (*work)(void *argument), void *argument);

#endif
