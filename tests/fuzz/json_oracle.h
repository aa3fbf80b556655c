/* What jansson reads, kept apart from our reader because both have the same names. */
#ifndef TESTS_FUZZ_JSON_ORACLE_H
#define TESTS_FUZZ_JSON_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_oracle;

/* NULL when jansson refuses the text. */
struct json_oracle *json_oracle_open(const char *text, size_t len);
void json_oracle_close(struct json_oracle *oracle);

/* The member of the object; false when it is absent or of another type. */
bool json_oracle_string(const struct json_oracle *oracle, const char *name, const char **text, size_t *len);
bool json_oracle_int(const struct json_oracle *oracle, const char *name, int64_t *value);
bool json_oracle_item(const struct json_oracle *oracle, const char *name, size_t index, int64_t *value);
bool json_oracle_count(const struct json_oracle *oracle, const char *name, size_t *count);

#endif
