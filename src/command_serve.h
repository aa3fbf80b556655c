#ifndef COMMAND_SERVE_H
#define COMMAND_SERVE_H

int command_serve(int argument_count, char **arguments);

#endif
