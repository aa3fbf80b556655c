#include "history/witness.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

bool witness_problem(struct witness *witness, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    witness->problem = arena_copy(witness->arena, str_from(text));
    return false;
}

static bool no_memory(struct witness *witness)
{
    return witness_problem(witness, "there is no memory for what it says");
}

bool witness_user(struct witness *witness, uint32_t user, int64_t seat, int64_t sequence)
{
    struct book *book = witness->book;
    struct entry entry = {
        .start = book->last_time + 1,
        .end = book->last_time + 1,
        .seat = seat ? seat : SEAT_UNTOLD,
        .sequence = sequence,
        .remaining = -1,
        .user = user,
        .line = LINE_OF_WITNESS,
        .kind = HISTORY_MINE,
        .answer = seat ? ANSWER_HAS : ANSWER_HAS_NONE,
    };
    return book_add_entry(book, &entry) || no_memory(witness);
}

/* Somebody whom the history does not know: fine if the seat was taken before it began. */
static void judge_stranger(struct witness *witness, int64_t seat, struct str user)
{
    const struct book *book = witness->book;
    if (book->start_known && !book->cut_off && seat >= 1 && seat <= book->seats && !bit_is_set(book->start_taken, seat))
        verdict_add(witness->verdict, VIOLATION_UNEARNED_SEAT, NULL, 0,
                    "%.*s has seat %lld in the end and never asked for one.", STR_ARG(user), (long long)seat);
}

bool witness_owner(struct witness *witness, int64_t seat, struct str user, int64_t sequence)
{
    const struct book *book = witness->book;
    witness->sold++;
    if (seat < 1 || seat > book->seats) {
        verdict_add(witness->verdict, VIOLATION_NO_SUCH_SEAT, NULL, 0,
                    "%.*s has seat %lld in the end, and the house has %lld.", STR_ARG(user), (long long)seat,
                    (long long)book->seats);
        return true;
    }
    if (bit_is_set(witness->seats_seen, seat))
        verdict_add(witness->verdict, VIOLATION_TWO_OWNERS, NULL, 0,
                    "Seat %lld has two owners in the end; one of them is %.*s.", (long long)seat, STR_ARG(user));
    bit_set(witness->seats_seen, seat, true);
    int64_t number = names_find(&book->users, user);
    if (number == NAMES_NONE) {
        judge_stranger(witness, seat, user);
        return true;
    }
    if (witness->users_seen[number]) {
        verdict_add(witness->verdict, VIOLATION_DOUBLE_CLAIM, NULL, 0,
                    "%.*s has two seats in the end; one of them is %lld.", STR_ARG(user), (long long)seat);
        return true;
    }
    witness->users_seen[number] = true;
    return witness_user(witness, (uint32_t)number, seat, sequence);
}

bool witness_complete(struct witness *witness, int64_t seats)
{
    const struct book *book = witness->book;
    if (seats != book->seats || witness->sold > seats)
        verdict_add(witness->verdict, VIOLATION_WRONG_COUNT, NULL, 0,
                    "The house had %lld seats when the history began; in the end it has %lld, and %lld are sold.",
                    (long long)book->seats, (long long)seats, (long long)witness->sold);
    for (int64_t seat = 1; seat <= book->seats; seat++)
        if (bit_is_set(book->start_taken, seat) && !bit_is_set(witness->seats_seen, seat))
            verdict_add(witness->verdict, VIOLATION_LOST_CLAIM, NULL, 0,
                        "Seat %lld was taken before the history began, and is free in the end.", (long long)seat);
    for (size_t user = 0; user < witness->user_count; user++)
        if (!witness->users_seen[user] && !witness_user(witness, (uint32_t)user, 0, -1))
            return false;
    return true;
}

bool witness_map(struct witness *witness, const uint64_t *taken, int64_t free_seats)
{
    struct book *book = witness->book;
    struct map_entry map = {
        .start = book->last_time + 1 + book->map_lag,
        .end = book->last_time + 1 + book->map_lag,
        .generation = -1,
        .version = -1,
        .remaining = free_seats,
        .line = LINE_OF_WITNESS,
        .server = -1,
        .has_seats = true,
    };
    struct buf ranges_text = BUF_INIT((size_t)1 << 28);
    struct seat_ranges ranges = {.out = &ranges_text};
    for (int64_t seat = 1; seat <= book->seats; seat++)
        if (bit_is_set(taken, seat))
            seat_ranges_add(&ranges, seat);
    seat_ranges_finish(&ranges);
    bool added = !ranges_text.failed && book_add_map(book, &map, buf_str(&ranges_text)) == NULL;
    buf_free(&ranges_text);
    return added || no_memory(witness);
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool ask(struct witness *witness, const char *address)
{
    struct str text = str_from(address);
    if (str_starts(text, STR("postgresql://")) || str_starts(text, STR("postgres://")))
        return witness_ask_postgres(witness, address);
    if (str_starts(text, STR("http://")) || str_starts(text, STR("https://")))
        return witness_ask_server(witness, address);
    if (!is_folder(address))
        return witness_ask_sqlite(witness, address);
    struct str path = arena_format(witness->arena, "%s/reservation_service.db", address);
    return witness_ask_sqlite(witness, arena_c_string(witness->arena, path));
}

bool witness_ask(struct witness *witness, const char *address)
{
    witness->user_count = witness->book->users.count;
    witness->seats_seen = calloc((size_t)witness->book->seats / 64 + 1, sizeof(uint64_t));
    witness->users_seen = calloc(witness->user_count + 1, sizeof(bool));
    bool good = witness->seats_seen && witness->users_seen ? ask(witness, address) : no_memory(witness);
    free(witness->seats_seen);
    free(witness->users_seen);
    return good;
}
