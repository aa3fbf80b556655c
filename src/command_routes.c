#include "command_routes.h"

#include "base/json_write.h"
#include "command.h"
#include "services/auth/auth.h"
#include "services/system/system.h"
#include "services/ticket/ticket.h"

#include <stdio.h>

enum { OUTPUT_MAX_BYTES = 1 << 20 };

static const char *const kind_names[] = {[ROUTE_API] = "api", [ROUTE_PAGE] = "page"};
static const char *const access_names[] = {
    [ACCESS_PUBLIC] = "public", [ACCESS_USER] = "user",         [ACCESS_STAFF] = "staff",
    [ACCESS_ADMIN] = "admin",   [ACCESS_INTERNAL] = "internal",
};
static const char *const rate_names[] = {
    [RATE_GENERAL] = "general", [RATE_AUTH] = "auth", [RATE_QUEUE] = "queue",
    [RATE_BOOKING] = "booking", [RATE_FCFS] = "fcfs", [RATE_EXEMPT] = "none",
};

/* Two ways to print the table; they differ in a row only. */
struct printer {
    struct buf *out;
    struct json_writer json;
    void (*print_row)(struct printer *printer, const struct route *route);
};

static void print_json_row(struct printer *printer, const struct route *route)
{
    struct json_writer *json = &printer->json;
    json_begin_object(json);
    json_member_string(json, "method", http_method_name(route->method));
    json_member_string(json, "path", str_from(route->path));
    json_member_string(json, "kind", str_from(kind_names[route->kind]));
    json_member_string(json, "access", str_from(access_names[route->access]));
    json_member_string(json, "rate", str_from(rate_names[route->rate]));
    json_member_bool(json, "entryToken", route->entry_token);
    json_member_int(json, "bodyLimit", (int64_t)route->body_limit);
    json_key(json, "query");
    json_begin_array(json);
    for (const char *const *name = route->query; name && *name; name++)
        json_string(json, str_from(*name));
    json_end_array(json);
    json_end_object(json);
}

static void print_text_row(struct printer *printer, const struct route *route)
{
    buf_add_format(printer->out, "%-6.*s  %-4s  %-8s  %-7s  %-5s  %6zu  %s", STR_ARG(http_method_name(route->method)),
                   kind_names[route->kind], access_names[route->access], rate_names[route->rate],
                   route->entry_token ? "yes" : "no", route->body_limit, route->path);
    for (const char *const *name = route->query; name && *name; name++)
        buf_add_format(printer->out, "%s%s", name == route->query ? "?" : "&", *name);
    buf_add_char(printer->out, '\n');
}

static void print_routes(struct printer *printer)
{
    static const struct {
        const struct route *routes;
        const size_t *count;
    } tables[] = {{system_routes, &system_route_count},
                  {auth_routes, &auth_route_count},
                  {ticket_routes, &ticket_route_count}};
    for (size_t table = 0; table < sizeof(tables) / sizeof(tables[0]); table++)
        for (size_t i = 0; i < *tables[table].count; i++)
            printer->print_row(printer, &tables[table].routes[i]);
}

static void print_json(struct buf *out)
{
    struct printer printer = {.out = out, .json = json_write_to(out), .print_row = print_json_row};
    json_begin_array(&printer.json);
    print_routes(&printer);
    json_end_array(&printer.json);
    buf_add(out, STR("\n"));
}

static void print_text(struct buf *out)
{
    struct printer printer = {.out = out, .print_row = print_text_row};
    buf_add(out, STR("METHOD  KIND  ACCESS    RATE     ENTRY    BODY  PATH AND QUERY\n"));
    print_routes(&printer);
}

int command_routes(int argument_count, char **arguments)
{
    struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
    int outcome = EXIT_FINE;
    if (argument_count == 0) {
        print_text(&out);
    } else if (argument_count == 1 && strcmp(arguments[0], "--json") == 0) {
        print_json(&out);
    } else {
        fputs("tickettock: routes takes --json or nothing.\n", stderr);
        outcome = EXIT_MISUSED;
    }
    if (out.failed || fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0)
        outcome = EXIT_FAILED;
    buf_free(&out);
    return outcome;
}
