#include "base/processors.h"

#include <sched.h>

size_t processors_count(void)
{
    cpu_set_t mine;
    int count = sched_getaffinity(0, sizeof(mine), &mine) == 0 ? CPU_COUNT(&mine) : 0;
    return count > 0 ? (size_t)count : 1;
}

bool processors_keep_to(size_t number)
{
    cpu_set_t mine, one;
    if (sched_getaffinity(0, sizeof(mine), &mine) != 0)
        return false;
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &mine) || number-- > 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(i, &one);
        return sched_setaffinity(0, sizeof(one), &one) == 0;
    }
    return false;
}
