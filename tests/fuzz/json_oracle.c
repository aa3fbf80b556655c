#include "json_oracle.h"

#include <jansson.h>

static const json_t *member(const struct json_oracle *oracle, const char *name)
{
    return json_object_get((const json_t *)oracle, name);
}

struct json_oracle *json_oracle_open(const char *text, size_t len)
{
    return (struct json_oracle *)json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
}

void json_oracle_close(struct json_oracle *oracle)
{
    json_decref((json_t *)oracle);
}

bool json_oracle_string(const struct json_oracle *oracle, const char *name, const char **text, size_t *len)
{
    const json_t *value = member(oracle, name);
    *text = json_string_value(value);
    *len = json_string_length(value);
    return *text != NULL;
}

bool json_oracle_int(const struct json_oracle *oracle, const char *name, int64_t *value)
{
    *value = json_integer_value(member(oracle, name));
    return json_is_integer(member(oracle, name));
}

bool json_oracle_item(const struct json_oracle *oracle, const char *name, size_t index, int64_t *value)
{
    const json_t *item = json_array_get(member(oracle, name), index);
    *value = json_integer_value(item);
    return json_is_integer(item);
}

bool json_oracle_count(const struct json_oracle *oracle, const char *name, size_t *count)
{
    *count = json_array_size(member(oracle, name));
    return json_is_array(member(oracle, name));
}
