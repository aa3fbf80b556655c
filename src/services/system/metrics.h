#ifndef SYSTEM_METRICS_H
#define SYSTEM_METRICS_H

#include "http/request.h"

struct app;

/* Before the server runs: names the routes and tells the metrics that are read at each scrape. */
void system_watch_metrics(struct app *app);

void get_metrics(struct request *rq);

#endif
