#include "command_rehearse.h"

#include "command.h"
#include "rehearse/rehearse.h"

#include <stdio.h>
#include <stdlib.h>

enum { PROBLEM_MAX_BYTES = 4096, EXIT_CROSSED = 3 };

void command_rehearse_help(size_t columns, struct buf *out)
{
    plan_help(columns, out);
}

static int run(struct plan *plan)
{
    switch (rehearse_run(plan)) {
    case REHEARSE_FINE: return EXIT_FINE;
    case REHEARSE_FAILED: return EXIT_FAILED;
    case REHEARSE_CROSSED: return EXIT_CROSSED;
    }
    return EXIT_FAILED;
}

int command_rehearse(int argument_count, char **arguments)
{
    struct plan *plan = calloc(1, sizeof(*plan));
    struct buf problem = BUF_INIT(PROBLEM_MAX_BYTES);
    int status = EXIT_MISUSED;
    if (!plan)
        return EXIT_FAILED;
    if (plan_read(argument_count, arguments, plan, &problem))
        status = run(plan);
    else
        fprintf(stderr, "tickettock: %.*s\n", STR_ARG(buf_str(&problem)));
    plan_free(plan);
    free(plan);
    buf_free(&problem);
    return status;
}
