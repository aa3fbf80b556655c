#ifndef COMMAND_ROUTES_H
#define COMMAND_ROUTES_H

int command_routes(int argument_count, char **arguments);

#endif
