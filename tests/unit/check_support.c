#include "check_support.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char check_path[CHECK_PATH_MAX];

int check_make_path(void **state)
{
    (void)state;
    const char *folder = getenv("TMPDIR");
    snprintf(check_path, sizeof(check_path), "%s/history-XXXXXX", folder ? folder : "/tmp");
    int file = mkstemp(check_path);
    return file < 0 || close(file);
}

int check_remove_path(void **state)
{
    (void)state;
    return unlink(check_path);
}

void check_file(struct verdict *verdict)
{
    struct arena arena;
    struct str problem;
    struct book book;
    struct tenancies tenancies;
    const struct book_options as_recorded = {.map_lag_ms = -1, .duplicate_ttl_ms = -1};
    arena_init(&arena, 1 << 16);
    verdict_init(verdict);
    if (!book_read(&book, check_path, &as_recorded, &arena, &problem))
        fail_msg("%.*s", STR_ARG(problem));
    assert_true(tenancies_find(&tenancies, &book));
    check_history(&(struct evidence){.book = &book, .tenancies = &tenancies}, verdict);
    assert_false(verdict->failed);
    tenancies_free(&tenancies);
    book_free(&book);
    arena_free(&arena);
}
