/* The command `rehearse`: plays the opening of a sale against a server. */
#ifndef COMMAND_REHEARSE_H
#define COMMAND_REHEARSE_H

#include "base/buf.h"

#define COMMAND_REHEARSE_USAGE "[URL…] [--users N] [--arrival CURVE] [--duration TIME] [--seats N] [OPTION]…"
#define COMMAND_REHEARSE_TEXT                                                                                          \
    "Sends a crowd to a server, http://127.0.0.1:5800 if no other is named, the way\n"                                 \
    "crowds come: each request at its moment, however slow the answers are, and its\n"                                 \
    "time runs from that moment. Several URLs are servers of one fleet and share the\n"                                \
    "users. The server must be on this machine, or yours (--i-own-this-server). Only\n"                                \
    "http:// is spoken: ask the server itself, not a proxy with TLS before it.\n"                                      \
    "\n"                                                                                                               \
    "The crowd buys the seats of a house of its own, the schedule \"rehearsal\", which\n"                              \
    "is opened anew for each run with the operator's token (ADMIN_TOKEN). Schedules\n"                                 \
    "whose names begin with \"rehearsal\" are for this; no other is touched unless you\n"                              \
    "name it. Users are named by X-User-Id, which a server believes of its own machine\n"                              \
    "only, and elsewhere with the gateway's token (GATEWAY_TOKEN, as it has it). On\n"                                 \
    "127.0.0.1 every connection comes from an address of its own (127.x.y.z); to\n"                                    \
    "other servers all come from one, unless you say --forwarded-for.\n"                                               \
    "\n"                                                                                                               \
    "The run ends when everybody has come and has an answer; if the server hangs,\n"                                   \
    "two timeouts after the last arrival at the latest. Ctrl-C closes the doors and\n"                                 \
    "still gives the report; once more ends at once. The status is 0; 1 if it could\n"                                 \
    "not be done; 2 if it was not understood; 3 if a --fail-if rule held."
void command_rehearse_help(size_t columns, struct buf *out);

int command_rehearse(int argument_count, char **arguments);

#endif
