#include "history/book.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEFAULT_MAP_LAG_MS = 200, DEFAULT_DUPLICATE_TTL_MS = 5000 };

/* Room for one more item of the list; false when memory is short. */
static bool make_room(void *list, size_t size, size_t count, size_t *room)
{
    if (count < *room)
        return true;
    size_t more = *room ? *room * 2 : 1024;
    void *grown = realloc(*(void **)list, more * size);
    if (!grown)
        return false;
    *(void **)list = grown;
    *room = more;
    return true;
}

struct str book_user(const struct book *book, uint32_t user)
{
    return book->users.list[user];
}

static enum answer claim_answer(const struct history_op *op)
{
    if (op->status == 200)
        return ANSWER_GIVEN;
    if (str_eq(op->reason, STR("already_reserved")))
        return ANSWER_HAS;
    if (str_eq(op->reason, STR("sold_out")))
        return ANSWER_SOLD_OUT;
    return str_eq(op->reason, STR("duplicate")) ? ANSWER_DUPLICATE : ANSWER_NOTHING;
}

static enum answer release_answer(const struct history_op *op)
{
    if (op->status == 200)
        return ANSWER_RELEASED;
    if (str_eq(op->reason, STR("not_reserved")))
        return ANSWER_HAS_NONE;
    return str_eq(op->reason, STR("duplicate")) ? ANSWER_DUPLICATE : ANSWER_NOTHING;
}

static enum answer answer_of(const struct history_op *op)
{
    bool unknown = op->end == HISTORY_NO_ANSWER || op->status >= 500;
    if (op->kind == HISTORY_MINE)
        return unknown || op->status != 200 ? ANSWER_NOTHING : op->seat > 0 ? ANSWER_HAS : ANSWER_HAS_NONE;
    if (unknown)
        return ANSWER_UNKNOWN;
    return op->kind == HISTORY_CLAIM ? claim_answer(op) : release_answer(op);
}

bool book_add_entry(struct book *book, const struct entry *entry)
{
    if (!make_room(&book->entries, sizeof(*book->entries), book->entry_count, &book->entry_room))
        return false;
    book->entries[book->entry_count++] = *entry;
    return true;
}

static const char *const SHORT_OF_MEMORY = "there is no memory for so long a history";

/* Each returns what is wrong, or NULL. */

static const char *add_request(struct book *book, const struct history_op *op, uint32_t line)
{
    enum answer answer = answer_of(op);
    int64_t user = names_add(&book->users, op->user);
    int64_t address = names_add(&book->addresses, op->address.ptr ? op->address : STR(""));
    struct entry entry = {
        .start = op->start,
        .end = answer == ANSWER_UNKNOWN || op->end == HISTORY_NO_ANSWER ? NEVER : op->end,
        .seat = op->seat > 0 ? op->seat : SEAT_UNTOLD,
        .sequence = op->sequence,
        .remaining = op->remaining,
        .user = (uint32_t)user,
        .address = (uint32_t)address,
        .line = line,
        .kind = (uint8_t)op->kind,
        .answer = (uint8_t)answer,
    };
    if (user == NAMES_NONE || address == NAMES_NONE || !book_add_entry(book, &entry))
        return SHORT_OF_MEMORY;
    if (!op->owner.ptr || str_eq(op->owner, op->user))
        return NULL;
    if (!make_room(&book->strangers, sizeof(*book->strangers), book->stranger_count, &book->stranger_room))
        return SHORT_OF_MEMORY;
    size_t i = book->stranger_count++;
    book->strangers[i].line = line;
    book->strangers[i].user = entry.user;
    book->strangers[i].owner = arena_copy(&book->users.bytes, op->owner);
    return NULL;
}

const char *book_add_map(struct book *book, const struct map_entry *map, struct str taken)
{
    size_t first_range = book->range_count;
    int64_t first, last;
    bool damaged = false;
    while (seat_ranges_next(&taken, &first, &last, &damaged)) {
        if (last > book->seats)
            return "it shows a seat that the house does not have";
        if (!make_room(&book->ranges, sizeof(*book->ranges), book->range_count, &book->range_room))
            return SHORT_OF_MEMORY;
        book->ranges[book->range_count++] = (struct seat_range){(uint32_t)first, (uint32_t)last};
    }
    if (damaged)
        return "taken must be ranges of seats, like \"1-5,9\"";
    if (!make_room(&book->maps, sizeof(*book->maps), book->map_count, &book->map_room))
        return SHORT_OF_MEMORY;
    book->maps[book->map_count] = *map;
    book->maps[book->map_count].first_range = first_range;
    book->maps[book->map_count++].range_count = book->range_count - first_range;
    return NULL;
}

static const char *add_map(struct book *book, const struct history_op *op, uint32_t line)
{
    if (op->status != 200 && op->status != 304)
        return NULL;
    struct map_entry map = {
        .start = op->start,
        .end = op->end,
        .generation = op->generation,
        .version = op->version,
        .remaining = op->remaining,
        .line = line,
        .server = book->servers == 1 ? 0 : op->server,
        .has_seats = op->taken.ptr != NULL,
    };
    return book_add_map(book, &map, op->taken);
}

static const char *take_start(struct book *book, struct str taken)
{
    book->start_taken = calloc((size_t)book->seats / 64 + 1, sizeof(*book->start_taken));
    if (!book->start_taken)
        return SHORT_OF_MEMORY;
    book->start_known = taken.ptr != NULL;
    int64_t first, last;
    bool damaged = false;
    while (seat_ranges_next(&taken, &first, &last, &damaged))
        for (int64_t seat = first; seat <= last && seat <= book->seats; seat++) {
            book->start_taken_count += !bit_is_set(book->start_taken, seat);
            bit_set(book->start_taken, seat, true);
        }
    return damaged ? "taken must be ranges of seats, like \"1-5,9\"" : NULL;
}

static int64_t first_known(int64_t said, int64_t recorded, int64_t otherwise)
{
    return said >= 0 ? said : recorded >= 0 ? recorded : otherwise;
}

static const char *take_header(struct book *book, const struct history_header *header,
                               const struct book_options *options)
{
    struct str policy = options->duplicate_policy.ptr ? options->duplicate_policy : header->duplicate_policy;
    book->schedule = arena_copy(&book->users.bytes, header->schedule);
    book->seats = header->seats;
    book->servers = header->servers;
    int64_t promised = header->servers == 1 ? 0 : DEFAULT_MAP_LAG_MS;
    book->map_lag = first_known(options->map_lag_ms, header->map_lag_ms, promised) * NS_PER_MS;
    book->duplicate_ttl =
        first_known(options->duplicate_ttl_ms, header->duplicate_ttl_ms, DEFAULT_DUPLICATE_TTL_MS) * NS_PER_MS;
    bool both = !policy.ptr || str_eq(policy, STR("both"));
    book->lock_user = both || str_eq(policy, STR("user"));
    book->lock_address = both || str_eq(policy, STR("ip"));
    return take_start(book, header->taken);
}

static const char *read_entries(struct book *book, struct history_reader *reader, char *where, size_t size)
{
    struct history_op op;
    enum history_outcome outcome;
    while ((outcome = history_reader_next(reader, &op)) == HISTORY_OP) {
        uint32_t line = (uint32_t)history_reader_line(reader);
        const char *problem = book->entry_count + book->map_count == OPERATIONS_MAX
                                  ? "a history may have 10 million requests"
                              : op.kind == HISTORY_MAP ? add_map(book, &op, line)
                                                       : add_request(book, &op, line);
        if (problem) {
            snprintf(where, size, "line %u: %s", line, problem);
            return where;
        }
        int64_t latest = op.end > op.start ? op.end : op.start;
        if (latest > book->last_time)
            book->last_time = latest;
    }
    book->recorded_count = book->entry_count;
    book->cut_off = outcome == HISTORY_CUT_OFF;
    if (outcome != HISTORY_DAMAGED)
        return NULL;
    snprintf(where, size, "%.*s", STR_ARG(history_reader_problem(reader)));
    return where;
}

bool book_read(struct book *book, const char *path, const struct book_options *options, struct arena *arena,
               struct str *problem)
{
    char where[512];
    *book = (struct book){0};
    names_init(&book->users);
    names_init(&book->addresses);
    struct history_reader *reader = history_reader_open(path, arena, problem);
    if (!reader)
        return false;
    const char *wrong = take_header(book, history_reader_header(reader), options);
    if (!wrong)
        wrong = read_entries(book, reader, where, sizeof(where));
    if (wrong)
        *problem = arena_copy(arena, str_from(wrong));
    history_reader_close(reader);
    return !wrong;
}

void book_free(struct book *book)
{
    names_free(&book->users);
    names_free(&book->addresses);
    free(book->start_taken);
    free(book->entries);
    free(book->maps);
    free(book->ranges);
    free(book->strangers);
}
