/* The house as JSON: for reads, streams and answers. */
#ifndef TICKET_SEATS_JSON_H
#define TICKET_SEATS_JSON_H

#include "base/json_write.h"
#include "services/ticket/office.h"

/* {"id":5,"name":"A-5","status":true} */
void seats_json_seat(struct json_writer *json, int64_t seat, int64_t row_length, bool taken);

/* A bit per seat, set when it is free (house_copy_free); the caller frees it. NULL when there is no memory. */
uint64_t *seats_json_copy_free(struct house *house, struct house_state *state);

/* The seats `first` to `last` of a list of `seats`, as they stand in an array; those behind the first begin with a
 * comma. */
void seats_json_part(struct json_writer *json, const uint64_t *words, int64_t seats, int64_t first, int64_t last);

/* {"version":…,"total":…,"remainingSeats":…,"rowLength":…,"taken":[1,2,5]} */
struct house_state seats_json_snapshot(struct json_writer *json, struct office *office);

/* {"version":…,"remainingSeats":…,"seats":[{seat},…]} */
void seats_json_changes(struct json_writer *json, const struct house_state *state, const struct house_seat *changes,
                        size_t count);

#endif
