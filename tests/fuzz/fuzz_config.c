/* Any file, environment and flags: no crash, every refusal is told, no secret is. The input's lines are the
 * file; those that begin with '!' are environment variables, those with "--" flags. */
#include "redis_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 32 };

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check(int count, char **flags, char **environment, bool knows_secret)
{
    static const char secret[] = "ADMIN_TOKEN=5ecret+value";
    struct arena arena;
    struct settings settings;
    struct coord_settings redis;
    struct buf problems = BUF_INIT(1 << 20);
    arena_init(&arena, 1 << 24);
    environment[0] = (char *)(uintptr_t)secret;
    struct config_value *values = ARENA_NEW_ARRAY(&arena, struct config_value, settings_table.count);
    struct config_input input = {.argument_count = count, .arguments = flags, .environment = environment};
    if (settings_load(&input, &settings, values, &arena, &problems)) {
        must(settings.app_port >= 0 && settings.app_port <= 65535 && settings.log_level >= 0);
        bool reachable = redis_settings_read(&settings, &arena, &redis, &problems);
        must(reachable == (problems.len == 0));
        config_print_values(&settings_table, values, &problems);
        must(knows_secret || !str_contains(buf_str(&problems), STR("5ecret+value")));
    } else {
        must(problems.len > 0);
    }
    buf_free(&problems);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    arena_init(&arena, 1 << 22);
    char path[64], *flags[MOST] = {0}, *environment[MOST] = {0};
    int flag_count = 2;
    size_t variable_count = 1;
    int file = memfd_create("settings", MFD_CLOEXEC);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    flags[0] = (char[]){"--config"};
    flags[1] = path;

    struct str rest = str_make((const char *)data, size), line;
    while (str_split(&rest, '\n', &line)) {
        char *text = (char *)(uintptr_t)arena_c_string(&arena, line);
        if (str_starts(line, STR("--")) && flag_count < MOST)
            flags[flag_count++] = text;
        else if (str_starts(line, STR("!")) && variable_count < MOST - 1)
            environment[variable_count++] = text + 1;
        else
            must(dprintf(file, "%s\n", text) >= 0);
    }
    check(flag_count, flags, environment, str_contains(str_make((const char *)data, size), STR("5ecret")));
    close(file);
    arena_free(&arena);
    return 0;
}
