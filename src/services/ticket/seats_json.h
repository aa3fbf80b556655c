/* The house as JSON: for reads, streams and answers. */
#ifndef TICKET_SEATS_JSON_H
#define TICKET_SEATS_JSON_H

#include "base/json_write.h"
#include "services/ticket/office.h"

/* {"id":5,"name":"A-5","status":true} */
void seats_json_seat(struct json_writer *json, int64_t seat, int64_t row_length, bool taken);

/* [{seat},{seat},…]; tells which version it shows. */
struct house_state seats_json_list(struct json_writer *json, struct office *office);

/* {"version":…,"total":…,"remainingSeats":…,"rowLength":…,"taken":[1,2,5]} */
struct house_state seats_json_snapshot(struct json_writer *json, struct office *office);

/* {"version":…,"remainingSeats":…,"seats":[{seat},…]} */
void seats_json_changes(struct json_writer *json, const struct house_state *state, const struct house_seat *changes,
                        size_t count);

#endif
