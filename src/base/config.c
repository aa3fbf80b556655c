#include "base/config.h"

#include "base/config_value.h"
#include "base/suggest.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

enum { FILE_MAX_BYTES = 1 << 20 };

struct loader {
    const struct config_table *table;
    struct config_value *values;
    struct arena *arena;
    struct buf *problems;
};

void config_problem(struct buf *problems, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    buf_add(problems, str_from(line));
    buf_add_char(problems, '\n');
}

void config_flag(const char *name, char out[CONFIG_FLAG_SIZE])
{
    assert(strlen(name) + 3 <= CONFIG_FLAG_SIZE);
    *out++ = '-';
    *out++ = '-';
    for (; *name; name++)
        *out++ = (char)(*name == '_' ? '-' : *name >= 'A' && *name <= 'Z' ? *name + ('a' - 'A') : *name);
    *out = '\0';
}

static size_t no_row(const struct loader *loader)
{
    return loader->table->count;
}

static size_t row_by_name(const struct loader *loader, struct str name)
{
    for (size_t i = 0; i < loader->table->count; i++)
        if (loader->table->rows[i].type != CONFIG_IS_GROUP && str_eq(name, str_from(loader->table->rows[i].name)))
            return i;
    return no_row(loader);
}

/* *alias tells that the name is not the row's own. */
static size_t row_by_any_name(const struct loader *loader, struct str name, bool *alias)
{
    size_t row = row_by_name(loader, name);
    *alias = row == no_row(loader);
    for (size_t i = 0; *alias && i < loader->table->alias_count; i++)
        if (str_eq(name, str_from(loader->table->aliases[i].alias)))
            return row_by_name(loader, str_from(loader->table->aliases[i].name));
    return row;
}

static void report_unknown(struct loader *loader, const char *where, struct str name)
{
    struct suggest suggest = suggest_for(name);
    for (size_t i = 0; i < loader->table->count; i++)
        if (loader->table->rows[i].type != CONFIG_IS_GROUP)
            suggest_consider(&suggest, loader->table->rows[i].name);
    if (suggest.best)
        config_problem(loader->problems, "%s%.*s is not a setting; did you mean %s?", where, STR_ARG(name),
                       suggest.best);
    else
        config_problem(loader->problems, "%s%.*s is not a setting.", where, STR_ARG(name));
}

/* The sources are read from the weakest to the strongest; a setting's own name
 * beats its alias within one source, whichever comes first. */
static void set_value(struct loader *loader, size_t row, struct str text, enum config_origin origin, const char *set_by,
                      bool alias)
{
    struct config_value *value = &loader->values[row];
    if (alias && value->origin == origin && value->set_by)
        return;
    *value = (struct config_value){.text = text, .origin = origin, .set_by = set_by};
}

/* -------------------------------------------------------------------- file */

static bool read_whole(struct loader *loader, const char *path, struct buf *content)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        config_problem(loader->problems, "The file %s cannot be read: %s.", path, strerror(errno));
        return false;
    }
    size_t got = 1;
    while (got && buf_reserve(content, 4096)) {
        got = fread(content->data + content->len, 1, 4096, file);
        content->len += got;
    }
    bool good = !ferror(file) && !content->failed;
    if (!good)
        config_problem(loader->problems, "The file %s cannot be read or is too large.", path);
    fclose(file);
    return good;
}

static void read_line(struct loader *loader, const char *path, size_t number, struct str line, bool *seen)
{
    char where[256];
    snprintf(where, sizeof(where), "%s, line %zu: ", path, number);
    ptrdiff_t equals = str_find_char(line, '=');
    if (equals < 0) {
        config_problem(loader->problems, "%sexpected NAME=value.", where);
        return;
    }
    struct str name = str_trim(str_first(line, (size_t)equals));
    struct str text = str_trim(str_from_offset(line, (size_t)equals + 1));
    bool alias;
    size_t row = row_by_any_name(loader, name, &alias);
    if (row == no_row(loader)) {
        report_unknown(loader, where, name);
    } else if (seen[row] && !alias) {
        config_problem(loader->problems, "%s%.*s is set twice.", where, STR_ARG(name));
    } else {
        seen[row] = seen[row] || !alias;
        set_value(loader, row, arena_copy(loader->arena, text), CONFIG_FROM_FILE, arena_c_string(loader->arena, name),
                  alias);
    }
}

static void read_file(struct loader *loader, const char *path)
{
    struct buf content = BUF_INIT(FILE_MAX_BYTES);
    if (read_whole(loader, path, &content)) {
        bool *seen = ARENA_NEW_ARRAY(loader->arena, bool, loader->table->count);
        struct str rest = buf_str(&content), line;
        for (size_t number = 1; str_split(&rest, '\n', &line); number++) {
            if (line.len && line.ptr[line.len - 1] == '\r')
                line.len--;
            line = str_trim(line);
            if (line.len && line.ptr[0] != '#')
                read_line(loader, path, number, line, seen);
        }
    }
    buf_free(&content);
}

/* ------------------------------------------------------------- environment */

/* Kubernetes and old container links put REDIS_SERVICE_HOST, REDIS_PORT_6379_TCP
 * and the like into every environment near a service called redis. */
static bool is_service_link(struct str name)
{
    return str_contains(name, STR("_SERVICE_")) || str_contains(name, STR("_PORT_"));
}

static bool is_own(const struct config_table *table, struct str name)
{
    for (size_t i = 0; i < table->own_prefix_count; i++)
        if (str_starts(name, str_from(table->own_prefixes[i])))
            return !is_service_link(name);
    return false;
}

/* An empty variable counts as not set: that is how containers pass on what is missing. */
static void read_environment(struct loader *loader, char *const *environment)
{
    for (; *environment; environment++) {
        struct str whole = str_from(*environment);
        ptrdiff_t equals = str_find_char(whole, '=');
        if (equals < 0)
            continue;
        struct str name = str_first(whole, (size_t)equals);
        struct str text = str_from_offset(whole, (size_t)equals + 1);
        bool alias;
        size_t row = row_by_any_name(loader, name, &alias);
        if (row != no_row(loader) && text.len)
            set_value(loader, row, text, CONFIG_FROM_ENVIRONMENT, arena_c_string(loader->arena, name), alias);
        else if (row == no_row(loader) && is_own(loader->table, name))
            report_unknown(loader, "", name);
    }
}

/* ------------------------------------------------------------------- flags */

/* APP_PORT of app-port; empty when it has characters that no flag has. */
static struct str name_of_flag(struct loader *loader, struct str flag)
{
    char *name = arena_bytes(loader->arena, flag.len);
    for (size_t i = 0; i < flag.len; i++) {
        char c = flag.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'))
            return STR("");
        name[i] = (char)(c == '-' ? '_' : c >= 'a' ? c - ('a' - 'A') : c);
    }
    return str_make(name, flag.len);
}

static void report_unknown_flag(struct loader *loader, struct str flag)
{
    struct suggest suggest = suggest_for(flag);
    suggest_consider(&suggest, "--config");
    char(*flags)[CONFIG_FLAG_SIZE] = arena_alloc_array(loader->arena, loader->table->count, CONFIG_FLAG_SIZE);
    for (size_t i = 0; i < loader->table->count; i++)
        if (loader->table->rows[i].type != CONFIG_IS_GROUP) {
            config_flag(loader->table->rows[i].name, flags[i]);
            suggest_consider(&suggest, flags[i]);
        }
    if (suggest.best)
        config_problem(loader->problems, "There is no flag %.*s; did you mean %s?", STR_ARG(flag), suggest.best);
    else
        config_problem(loader->problems, "There is no flag %.*s.", STR_ARG(flag));
}

struct flag {
    struct str name; /* "--app-port" */
    struct str text;
};

/* Takes the next flag and its value off the arguments; false at their end. */
static bool next_flag(struct loader *loader, const struct config_input *input, int *at, struct flag *flag)
{
    while (*at < input->argument_count) {
        struct str argument = str_from(input->arguments[(*at)++]);
        if (!str_starts(argument, STR("--"))) {
            config_problem(loader->problems, "%.*s is not expected here.", STR_ARG(argument));
            continue;
        }
        ptrdiff_t equals = str_find_char(argument, '=');
        if (equals >= 0) {
            *flag = (struct flag){str_first(argument, (size_t)equals), str_from_offset(argument, (size_t)equals + 1)};
            return true;
        }
        if (*at == input->argument_count) {
            config_problem(loader->problems, "%.*s needs a value.", STR_ARG(argument));
            return false;
        }
        *flag = (struct flag){argument, str_from(input->arguments[(*at)++])};
        return true;
    }
    return false;
}

static const char *config_file(struct loader *loader, const struct config_input *input)
{
    struct buf ignored = BUF_INIT(FILE_MAX_BYTES); /* read_flags will tell the same */
    struct loader quiet = *loader;
    quiet.problems = &ignored;
    const char *path = NULL;
    struct flag flag;
    for (int at = 0; next_flag(&quiet, input, &at, &flag);)
        if (str_eq(flag.name, STR("--config")))
            path = arena_c_string(loader->arena, flag.text);
    buf_free(&ignored);
    return path;
}

static void read_flags(struct loader *loader, const struct config_input *input)
{
    struct flag flag;
    for (int at = 0; next_flag(loader, input, &at, &flag);) {
        if (str_eq(flag.name, STR("--config")))
            continue;
        size_t row = row_by_name(loader, name_of_flag(loader, str_from_offset(flag.name, 2)));
        if (row == no_row(loader))
            report_unknown_flag(loader, flag.name);
        else if (loader->values[row].origin == CONFIG_FROM_FLAG)
            config_problem(loader->problems, "%.*s is given twice.", STR_ARG(flag.name));
        else
            set_value(loader, row, flag.text, CONFIG_FROM_FLAG, arena_c_string(loader->arena, flag.name), false);
    }
}

bool config_load(const struct config_table *table, const struct config_input *input, void *settings,
                 struct config_value *values, struct arena *arena, struct buf *problems)
{
    if (!values)
        values = ARENA_NEW_ARRAY(arena, struct config_value, table->count);
    struct loader loader = {.table = table, .values = values, .arena = arena, .problems = problems};
    for (size_t i = 0; i < table->count; i++)
        values[i] = (struct config_value){.text = str_from(table->rows[i].fallback)};

    const char *path = config_file(&loader, input);
    if (path)
        read_file(&loader, path);
    read_environment(&loader, input->environment);
    read_flags(&loader, input);

    for (size_t i = 0; i < table->count; i++)
        config_store(&table->rows[i], &values[i], (char *)settings + table->rows[i].offset, arena, problems);
    return problems->len == 0 && !problems->failed;
}
