#include "base/turns.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What sched_setattr(2) takes, in its first version; the C library has no name for it that is safe to use yet. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

bool turns_set(int64_t turn_ns, int niceness)
{
    struct scheduling mine = {.size = sizeof(mine),
                              .policy = SCHED_OTHER,
                              .nice = niceness,
                              .runtime_ns = (uint64_t)turn_ns};
    return syscall(SYS_sched_setattr, 0, &mine, 0) == 0 || setpriority(PRIO_PROCESS, (id_t)gettid(), niceness) == 0;
}

bool turns_shorten(int64_t turn_ns)
{
    return turns_set(turn_ns, getpriority(PRIO_PROCESS, (id_t)gettid()));
}
