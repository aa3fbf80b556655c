/* The command `rehearse`: plays the opening of a sale against a server. */
#ifndef COMMAND_REHEARSE_H
#define COMMAND_REHEARSE_H

#include "base/buf.h"

#define COMMAND_REHEARSE_USAGE "[URL…] [--users N] [--arrival CURVE] [--duration TIME] [--seats N] [OPTION]…"
#define COMMAND_REHEARSE_TEXT                                                                                          \
    "Sends a crowd to a server (http://127.0.0.1:5800 unless said otherwise), the way crowds come: each request at "   \
    "its\n"                                                                                                            \
    "moment, however slow the answers are, and its time runs from that moment. Several URLs are servers of one "       \
    "fleet\n"                                                                                                          \
    "and share the users. The server must be on this machine, or yours: --i-own-this-server. Only http:// is "         \
    "spoken.\n"                                                                                                        \
    "\n"                                                                                                               \
    "The crowd buys the seats of a house of its own, the schedule \"rehearsal\", which is opened anew for each run "   \
    "with\n"                                                                                                           \
    "the operator's token (ADMIN_TOKEN). Schedules whose name begins with \"rehearsal\" are for this; others are "     \
    "not\n"                                                                                                            \
    "touched unless you name one. On 127.0.0.1 every connection comes from an address of its own (127.x.y.z).\n"       \
    "\n"                                                                                                               \
    "Ends with status 0; 1 if it could not be done; 2 if it was not understood; 3 if a --fail-if rule held. Ctrl-C\n"  \
    "closes the doors and still gives the report; once more ends at once."
void command_rehearse_help(size_t columns, struct buf *out);

int command_rehearse(int argument_count, char **arguments);

#endif
