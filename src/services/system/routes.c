#include "services/system/health.h"
#include "services/system/metrics.h"
#include "services/system/pages.h"
#include "services/system/system.h"

const struct route system_routes[] = {
    {.method = HTTP_GET,
     .path = "/healthz",
     .handle = get_health,
     .rate = RATE_EXEMPT,
     .immediate = true,
     .reserved = true},
    {.method = HTTP_GET, .path = "/readyz", .handle = get_ready, .rate = RATE_EXEMPT, .reserved = true},
    {.method = HTTP_GET, .path = "/metrics", .handle = get_metrics, .rate = RATE_EXEMPT},
    {.method = HTTP_GET, .path = "/openapi.json", .handle = get_page, .rate = RATE_EXEMPT},
    {.method = HTTP_GET, .path = "/docs", .handle = get_page, .kind = ROUTE_PAGE, .rate = RATE_EXEMPT},
    {.method = HTTP_GET, .path = "/", .handle = get_page, .kind = ROUTE_PAGE, .rate = RATE_EXEMPT},
    {.method = HTTP_GET, .path = "/admin", .handle = get_page, .kind = ROUTE_PAGE, .rate = RATE_EXEMPT},
    {.method = HTTP_GET, .path = "/signup", .handle = get_page, .kind = ROUTE_PAGE, .rate = RATE_EXEMPT},
    {.method = HTTP_GET, .path = "/signin", .handle = get_page, .kind = ROUTE_PAGE, .rate = RATE_EXEMPT},
    {.method = HTTP_GET,
     .path = "/signin/options",
     .handle = get_signin_options,
     .kind = ROUTE_PAGE,
     .rate = RATE_EXEMPT},
    {.method = HTTP_GET, .path = "/account", .handle = get_page, .kind = ROUTE_PAGE, .rate = RATE_EXEMPT},
    {.method = HTTP_GET, .path = "/static/{*}", .handle = get_page, .kind = ROUTE_PAGE, .rate = RATE_EXEMPT},
};
const size_t system_route_count = sizeof(system_routes) / sizeof(system_routes[0]);
