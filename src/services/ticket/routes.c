#include "services/ticket/admin_routes.h"
#include "services/ticket/reservation_routes.h"
#include "services/ticket/reset_routes.h"
#include "services/ticket/seats_routes.h"
#include "services/ticket/ticket.h"

enum { SMALL_BODY = 4096 };

#define SCHEDULE ROUTE_QUERY("scheduleId")

const struct route ticket_routes[] = {
    {.method = HTTP_GET, .path = "/api/v1/show", .handle = get_show, .rate = RATE_FCFS, .query = SCHEDULE},
    {.method = HTTP_GET,
     .path = "/api/v1/seats",
     .handle = get_seats,
     .rate = RATE_FCFS,
     .query = ROUTE_QUERY("scheduleId", "format")},
    {.method = HTTP_GET,
     .path = "/api/v1/seats/stream",
     .handle = get_seat_stream,
     .rate = RATE_FCFS,
     .query = SCHEDULE},
    {.method = HTTP_GET, .path = "/api/v1/seats/{id}", .handle = get_seat, .rate = RATE_FCFS, .query = SCHEDULE},
    {.method = HTTP_POST,
     .path = "/api/v1/seats/reservation/fcfs",
     .handle = post_reservation_fcfs,
     .rate = RATE_FCFS,
     .entry_token = true,
     .body_limit = SMALL_BODY,
     .query = ROUTE_QUERY("scheduleId", "wrap")},
    {.method = HTTP_POST,
     .path = "/fcfs/join",
     .handle = post_reservation_fcfs,
     .rate = RATE_FCFS,
     .entry_token = true,
     .body_limit = SMALL_BODY,
     .query = ROUTE_QUERY("scheduleId", "wrap")},
    {.method = HTTP_POST,
     .path = "/api/v1/seats/reservation",
     .handle = post_reservation,
     .rate = RATE_FCFS,
     .entry_token = true,
     .body_limit = SMALL_BODY,
     .query = SCHEDULE},
    {.method = HTTP_GET,
     .path = "/api/v1/seats/reservation",
     .handle = get_reservation,
     .rate = RATE_FCFS,
     .query = SCHEDULE},
    {.method = HTTP_DELETE,
     .path = "/api/v1/seats/reservation",
     .handle = delete_reservation,
     .rate = RATE_FCFS,
     .body_limit = SMALL_BODY,
     .query = SCHEDULE},
    {.method = HTTP_POST,
     .path = "/api/v1/seats/reset",
     .handle = post_reset,
     .access = ACCESS_ADMIN,
     .body_limit = SMALL_BODY,
     .query = SCHEDULE},
    {.method = HTTP_GET,
     .path = "/api/v1/admin/overview",
     .handle = get_admin_overview,
     .access = ACCESS_ADMIN,
     .query = SCHEDULE},
};
const size_t ticket_route_count = sizeof(ticket_routes) / sizeof(ticket_routes[0]);
