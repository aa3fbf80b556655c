#include "base/config_value.h"

/* A text on its way into the settings. */
struct storing {
    const struct config_row *row;
    const struct config_value *value;
    struct arena *arena;
    struct buf *problems;
};

/* "APP_PORT must be …, not 'abc'." without the value when it is a secret. */
static void refuse(const struct storing *storing, struct str must_be)
{
    const char *name = storing->value->set_by ? storing->value->set_by : storing->row->name;
    if (storing->row->secret)
        config_problem(storing->problems, "%s must be %.*s.", name, STR_ARG(must_be));
    else
        config_problem(storing->problems, "%s must be %.*s, not '%.*s'.", name, STR_ARG(must_be),
                       STR_ARG(storing->value->text));
}

static bool boolean_from(struct str text, bool *value)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (str_ieq(text, str_from(words[i]))) {
            *value = i % 2;
            return true;
        }
    return false;
}

/* The place of the text in "first|second|third", or -1. */
static int choice_from(struct str text, const char *choices)
{
    struct str rest = str_from(choices), choice;
    for (int i = 0; str_split(&rest, '|', &choice); i++)
        if (str_ieq(text, choice))
            return i;
    return -1;
}

/* One of the schemes, "://", and something behind it without blanks. */
static bool is_url(struct str text, const char *schemes)
{
    ptrdiff_t colon = str_find_char(text, ':');
    if (colon < 0 || choice_from(str_first(text, (size_t)colon), schemes) < 0)
        return false;
    struct str rest = str_from_offset(text, (size_t)colon);
    if (!str_starts(rest, STR("://")) || rest.len == 3)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || (unsigned char)text.ptr[i] >= 0x7f)
            return false;
    return true;
}

static void store_integer(const struct storing *storing, int64_t *member)
{
    const struct config_row *row = storing->row;
    if (!str_to_int64(storing->value->text, member) || *member < row->min || *member > row->max)
        refuse(storing, arena_format(storing->arena, "a whole number from %lld to %lld%s%s", (long long)row->min,
                                     (long long)row->max, *row->unit ? " " : "", row->unit));
}

static void store_choice(const struct storing *storing, int *member)
{
    bool on;
    *member = choice_from(storing->value->text, storing->row->unit);
    if (*member < 0 && boolean_from(storing->value->text, &on)) /* where 1 and 0 can be chosen, so can "yes" and "no" */
        *member = choice_from(on ? STR("1") : STR("0"), storing->row->unit);
    if (*member < 0)
        refuse(storing, arena_format(storing->arena, "one of %s", storing->row->unit));
}

static void store_text(const struct storing *storing, struct str *member)
{
    const struct config_row *row = storing->row;
    struct str text = storing->value->text;
    *member = text.len ? str_make(arena_c_string(storing->arena, text), text.len) : (struct str){0};
    if ((int64_t)text.len < row->min || (int64_t)text.len > row->max)
        refuse(storing,
               arena_format(storing->arena, "%lld to %lld bytes long", (long long)row->min, (long long)row->max));
    else if (row->type == CONFIG_IS_URL && text.len && !is_url(text, row->unit))
        refuse(storing, arena_format(storing->arena, "a URL beginning with %s://", row->unit));
}

void config_store(const struct config_row *row, const struct config_value *value, void *member, struct arena *arena,
                  struct buf *problems)
{
    struct storing storing = {.row = row, .value = value, .arena = arena, .problems = problems};
    switch (row->type) {
    case CONFIG_IS_GROUP: break;
    case CONFIG_IS_INTEGER: store_integer(&storing, member); break;
    case CONFIG_IS_BOOLEAN:
        if (!boolean_from(value->text, member))
            refuse(&storing, STR("true or false"));
        break;
    case CONFIG_IS_CHOICE: store_choice(&storing, member); break;
    case CONFIG_IS_TEXT:
    case CONFIG_IS_URL: store_text(&storing, member); break;
    }
}
