/*
 * A stack and the switch between stacks: the machinery below tasks. Stacks are
 * mapped with a guard page below them, so an overflow faults instead of writing
 * into a neighbour. AddressSanitizer, ThreadSanitizer and Valgrind are told about
 * every stack and switch.
 */
#ifndef TASK_CONTEXT_H
#define TASK_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

struct context {
    void *stack_pointer; /* where it stands while it is not running */
    void *stack;         /* lowest usable byte; NULL for a thread's own stack */
    size_t stack_size;   /* usable bytes */
    void *sanitizer;     /* ASan's fake stack or TSan's fiber */
    unsigned valgrind_id;
    void (*entry)(void *);
    void *argument;
};

/* The context of the calling thread, which is running already. */
void context_of_thread(struct context *context);

/* A new stack on which the first switch calls entry(argument), which must never
 * return. False when the machine has no memory for it. */
bool context_create(struct context *context, void (*entry)(void *), void *argument);
void context_destroy(struct context *context);

/* Leaves `from` here and goes on in `to`. Returns when somebody switches back. */
void context_switch(struct context *from, struct context *to);

#endif
