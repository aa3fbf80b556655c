/* Judging a history in a test. */
#ifndef TESTS_CHECK_SUPPORT_H
#define TESTS_CHECK_SUPPORT_H

#include "history/check.h"

enum { CHECK_PATH_MAX = 512 };
extern char
    check_path[CHECK_PATH_MAX]; /* a file of this program's own; made and removed by the group's setup and teardown */
int check_make_path(void **state);
int check_remove_path(void **state);

/* Of the file at check_path, as recorded. The caller frees it. */
void check_file(struct verdict *verdict);

#endif
