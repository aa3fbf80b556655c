/*
 * The Lua scripts of the redis adapter. Each is atomic in Redis and takes one
 * round trip. Times are Redis' own, so the servers' clocks do not matter.
 */
#ifndef COORD_REDIS_SCRIPTS_H
#define COORD_REDIS_SCRIPTS_H

enum redis_script {
    SCRIPT_LOCK,
    SCRIPT_UNLOCK,
    SCRIPT_SEQUENCE_RAISE,
    SCRIPT_COUNT,
    SCRIPT_RATE,
    SCRIPT_GET,
    REDIS_SCRIPTS,
    SCRIPT_NONE = REDIS_SCRIPTS, /* a plain command */
};

extern const char *const redis_scripts[REDIS_SCRIPTS];

#endif
