#include "history/check.h"

static void check_seat(const struct evidence *evidence, const struct entry *entry, struct verdict *verdict)
{
    struct str user = book_user(evidence->book, entry->user);
    bool must_name = entry->answer == ANSWER_GIVEN;
    bool may_name = must_name || entry->answer == ANSWER_RELEASED || entry->answer == ANSWER_HAS;
    if (must_name && entry->seat == SEAT_UNTOLD)
        verdict_add(verdict, VIOLATION_NO_SUCH_SEAT, VERDICT_LINES(entry->line),
                    "%.*s was told that a seat is taken, but not which.", STR_ARG(user));
    else if (may_name && entry->seat != SEAT_UNTOLD && entry->seat > evidence->book->seats)
        verdict_add(verdict, VIOLATION_NO_SUCH_SEAT, VERDICT_LINES(entry->line),
                    "%.*s was told seat %lld, and the house has %lld.", STR_ARG(user), (long long)entry->seat,
                    (long long)evidence->book->seats);
}

void check_answers(const struct evidence *evidence, struct verdict *verdict)
{
    const struct book *book = evidence->book;
    for (size_t i = 0; i < book->entry_count; i++)
        check_seat(evidence, &book->entries[i], verdict);
    for (size_t i = 0; i < book->stranger_count; i++)
        verdict_add(verdict, VIOLATION_FOREIGN_ANSWER, VERDICT_LINES(book->strangers[i].line),
                    "%.*s asked, and the answer is about %.*s.", STR_ARG(book_user(book, book->strangers[i].user)),
                    STR_ARG(book->strangers[i].owner));
}
