/*
 * The settings (config.def) as a struct, filled once at start. Texts end in NUL
 * and have ptr NULL when they are not set. A CHOICE is the place in its list,
 * which is the order of its enum (enum log_level, enum log_style, enum dup_policy, enum trust_user_header).
 */
#ifndef TABLES_CONFIG_H
#define TABLES_CONFIG_H

#include "base/config.h"

enum trust_user_header { TRUST_USER_HEADER_AUTO, TRUST_USER_HEADER_ALWAYS, TRUST_USER_HEADER_NEVER };
enum dup_policy { DUP_BOTH, DUP_USER, DUP_IP, DUP_OFF };

#define CONFIG_MEMBER_INTEGER int64_t
#define CONFIG_MEMBER_BOOLEAN bool
#define CONFIG_MEMBER_TEXT struct str
#define CONFIG_MEMBER_CHOICE int
#define CONFIG_MEMBER_URL struct str

struct settings {
#define CONFIG_GROUP(heading)
#define CONFIG_ALIAS(alias, name)
#define CONFIG(member, name, type, fallback, min, max, unit, visibility, text) CONFIG_MEMBER_##type member;
#include "tables/config.def"
#undef CONFIG_GROUP
#undef CONFIG_ALIAS
#undef CONFIG
};

extern const struct config_table settings_table;

/* config_load and settings_check; `values` has settings_table.count places, or is NULL. */
__attribute__((warn_unused_result)) bool settings_load(const struct config_input *input, struct settings *settings,
                                                       struct config_value *values, struct arena *arena,
                                                       struct buf *problems);

/* What is right by itself but cannot be right together; adds a line for each. */
void settings_check(const struct settings *settings, struct buf *problems);

#endif
