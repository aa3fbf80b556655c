#include "services/auth/email.h"

enum { LOCAL_MAX = 64, LABEL_MAX = 63 };

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_local_char(char c)
{
    return is_letter_or_digit(c) || (c && strchr("!#$%&'*+-/=?^_`{|}~", c));
}

/* Words with single dots between them. */
static bool is_local_part(struct str local)
{
    struct str word;
    if (local.len == 0 || local.len > LOCAL_MAX || local.ptr[local.len - 1] == '.')
        return false;
    while (str_split(&local, '.', &word)) {
        if (word.len == 0)
            return false;
        for (size_t i = 0; i < word.len; i++)
            if (!is_local_char(word.ptr[i]))
                return false;
    }
    return true;
}

static bool is_label(struct str label)
{
    if (label.len == 0 || label.len > LABEL_MAX || label.ptr[0] == '-' || label.ptr[label.len - 1] == '-')
        return false;
    for (size_t i = 0; i < label.len; i++)
        if (!is_letter_or_digit(label.ptr[i]) && label.ptr[i] != '-')
            return false;
    return true;
}

/* At least two labels: nobody outside can write to somebody@localhost. */
static bool is_domain(struct str domain)
{
    struct str label;
    size_t labels = 0;
    if (domain.len == 0 || domain.ptr[domain.len - 1] == '.')
        return false;
    for (; str_split(&domain, '.', &label); labels++)
        if (!is_label(label))
            return false;
    return labels >= 2;
}

bool email_normalize(struct arena *arena, struct str text, struct str *email)
{
    text = str_trim(text);
    if (text.len > EMAIL_MAX)
        return false;
    char *lower = arena_bytes(arena, text.len);
    for (size_t i = 0; i < text.len; i++)
        lower[i] = text.ptr[i] >= 'A' && text.ptr[i] <= 'Z' ? (char)(text.ptr[i] - 'A' + 'a') : text.ptr[i];
    *email = str_make(lower, text.len);
    struct str domain = *email, local;
    return str_split(&domain, '@', &local) && domain.ptr && is_local_part(local) && is_domain(domain);
}
