#include "services/ticket/seats_json.h"

#include <stdio.h>
#include <stdlib.h>

void seats_json_seat(struct json_writer *json, int64_t seat, int64_t row_length, bool taken)
{
    char name[SEAT_NAME_MAX];
    json_begin_object(json);
    json_member_int(json, "id", seat);
    json_member_string(json, "name", str_make(name, seat_name(seat, row_length, name)));
    json_member_bool(json, "status", taken);
    json_end_object(json);
}

uint64_t *seats_json_copy_free(struct house *house, struct house_state *state)
{
    *state = house_state(house);
    for (;;) {
        size_t room = (size_t)(state->seats + 63) / 64 + 1;
        int64_t expected = state->seats;
        uint64_t *words = malloc(room * sizeof(*words));
        if (!words)
            return NULL;
        *state = house_copy_free(house, words, room);
        if (state->seats <= expected)
            return words;
        free(words); /* the house grew meanwhile */
    }
}

static bool is_free(const uint64_t *words, int64_t seat)
{
    return words[(seat - 1) / 64] >> ((seat - 1) % 64) & 1;
}

void seats_json_part(struct json_writer *json, const uint64_t *words, int64_t seats, int64_t first, int64_t last)
{
    int64_t row_length = office_row_length(seats);
    json->comma = first > 1;
    for (int64_t seat = first; seat <= last; seat++)
        seats_json_seat(json, seat, row_length, !is_free(words, seat));
}

static void add_version(struct json_writer *json, const struct house_state *state)
{
    char version[48];
    int length =
        snprintf(version, sizeof(version), "%lld-%lld", (long long)state->generation, (long long)state->version);
    json_member_string(json, "version", str_make(version, (size_t)length));
}

struct house_state seats_json_snapshot(struct json_writer *json, struct office *office)
{
    struct house_state state;
    uint64_t *words = seats_json_copy_free(office->house, &state);
    json_begin_object(json);
    add_version(json, &state);
    json_member_int(json, "total", state.seats);
    json_member_int(json, "remainingSeats", state.free);
    json_member_int(json, "rowLength", office_row_length(state.seats));
    json_key(json, "taken");
    json_begin_array(json);
    for (int64_t seat = 1; words && seat <= state.seats; seat++)
        if (!is_free(words, seat))
            json_int(json, seat);
    json_end_array(json);
    json_end_object(json);
    json->out->failed |= !words;
    free(words);
    return state;
}

void seats_json_changes(struct json_writer *json, const struct house_state *state, const struct house_seat *changes,
                        size_t count)
{
    int64_t row_length = office_row_length(state->seats);
    json_begin_object(json);
    add_version(json, state);
    json_member_int(json, "remainingSeats", state->free);
    json_key(json, "seats");
    json_begin_array(json);
    for (size_t i = 0; i < count; i++)
        seats_json_seat(json, changes[i].seat, row_length, changes[i].owner != 0);
    json_end_array(json);
    json_end_object(json);
}
