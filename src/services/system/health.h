#ifndef SYSTEM_HEALTH_H
#define SYSTEM_HEALTH_H

#include "http/request.h"

void get_health(struct request *rq);
void get_ready(struct request *rq);

#endif
