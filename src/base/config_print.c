#include "base/config.h"

static const char *placeholder(const struct config_row *row)
{
    switch (row->type) {
    case CONFIG_IS_INTEGER: return *row->unit ? row->unit : "NUMBER";
    case CONFIG_IS_BOOLEAN: return "true|false";
    case CONFIG_IS_CHOICE: return row->unit;
    case CONFIG_IS_URL: return "URL";
    default: return "TEXT";
    }
}

/* "1 to 65535 ms", or nothing when the type says it all. */
static void add_range(struct buf *out, const struct config_row *row)
{
    if (row->type == CONFIG_IS_INTEGER)
        buf_add_format(out, "%lld to %lld%s%s", (long long)row->min, (long long)row->max, *row->unit ? " " : "",
                       row->unit);
    else if (row->type == CONFIG_IS_CHOICE)
        buf_add(out, str_from(row->unit));
    else if (row->type == CONFIG_IS_BOOLEAN)
        buf_add(out, STR("true|false"));
    else if (row->type == CONFIG_IS_URL)
        buf_add_format(out, "%s://…", row->unit);
}

/* Words of `text` in lines of at most `columns`, each behind `indent` blanks. */
static void add_wrapped(struct buf *out, struct str text, size_t indent, size_t columns)
{
    size_t used = 0;
    struct str word;
    while (str_split(&text, ' ', &word)) {
        if (used && used + 1 + word.len > columns) {
            buf_add_char(out, '\n');
            used = 0;
        }
        if (used == 0) {
            buf_add_format(out, "%*s", (int)indent, "");
            used = indent;
        } else {
            buf_add_char(out, ' ');
            used++;
        }
        buf_add(out, word);
        used += word.len;
    }
    buf_add_char(out, '\n');
}

static void add_help_row(struct buf *out, const struct config_row *row, size_t columns)
{
    char flag[CONFIG_FLAG_SIZE];
    config_flag(row->name, flag);
    buf_add_format(out, "  %s, %s %s\n", row->name, flag, placeholder(row));

    struct buf text = BUF_INIT(4096);
    buf_add(&text, str_from(row->text));
    if (row->type == CONFIG_IS_INTEGER)
        buf_add_format(&text, " From %lld to %lld.", (long long)row->min, (long long)row->max);
    if (*row->fallback)
        buf_add_format(&text, " Default: %s.", row->fallback);
    if (row->secret)
        buf_add(&text, STR(" Secret: better set in the environment or the file than by the flag."));
    add_wrapped(out, buf_str(&text), 6, columns);
    buf_free(&text);
}

void config_print_help(const struct config_table *table, size_t columns, struct buf *out)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i].type == CONFIG_IS_GROUP)
            buf_add_format(out, "%s%s\n", i ? "\n" : "", table->rows[i].name);
        else
            add_help_row(out, &table->rows[i], columns);
    }
    for (size_t i = 0; i < table->alias_count; i++)
        buf_add_format(out, "%s%s is read when %s is not set.\n", i ? "" : "\n", table->aliases[i].alias,
                       table->aliases[i].name);
}

/* A bar would end the cell. */
static void add_cell(struct buf *out, struct str text)
{
    struct str part;
    for (bool first = true; str_split(&text, '|', &part); first = false) {
        if (!first)
            buf_add(out, STR("\\|"));
        buf_add(out, part);
    }
    buf_add(out, STR(" | "));
}

static void add_markdown_row(struct buf *out, const struct config_row *row)
{
    struct buf range = BUF_INIT(1024);
    add_range(&range, row);
    buf_add_format(out, "| `%s` | ", row->name);
    if (*row->fallback)
        buf_add_format(out, "`%s` | ", row->fallback);
    else
        buf_add(out, STR(" | "));
    add_cell(out, buf_str(&range));
    buf_add_format(out, "%s%s |\n", row->text, row->secret ? " Secret." : "");
    buf_free(&range);
}

void config_print_markdown(const struct config_table *table, struct buf *out)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i].type == CONFIG_IS_GROUP)
            buf_add_format(out, "%s**%s**\n\n| setting | default | values | meaning |\n|---|---|---|---|\n",
                           i ? "\n" : "", table->rows[i].name);
        else
            add_markdown_row(out, &table->rows[i]);
    }
}

void config_print_values(const struct config_table *table, const struct config_value *values, struct buf *out)
{
    static const char *const origins[] = {"default", "file", "environment", "flag"};
    for (size_t i = 0; i < table->count; i++) {
        const struct config_row *row = &table->rows[i];
        if (row->type == CONFIG_IS_GROUP)
            buf_add_format(out, "%s# %s\n", i ? "\n" : "", row->name);
        else if (row->secret)
            buf_add_format(out, "# %s is %s\n", row->name, values[i].text.len ? "set" : "not set");
        else if (values[i].text.len)
            buf_add_format(out, "%s=%.*s  (%s)\n", row->name, STR_ARG(values[i].text), origins[values[i].origin]);
        else
            buf_add_format(out, "# %s is not set\n", row->name);
    }
}
