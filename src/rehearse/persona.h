/*
 * How users behave, and what share of them does. Who is what follows from the user's number and the seed, so threads
 * need not ask each other, and the shares hold exactly over any hundred users in a row, not only on average.
 */
#ifndef REHEARSE_PERSONA_H
#define REHEARSE_PERSONA_H

#include "base/buf.h"

/* PERSONA(enum, "name", "what they do") */
#define PERSONAS(PERSONA)                                                                                              \
    PERSONA(PLAIN, "plain", "One attempt to get a seat, whatever the answer. All who are nothing else.")               \
    PERSONA(DOUBLE_CLICK, "double-click", "Two attempts at the same moment, on two connections.")                      \
    PERSONA(RETRY, "retry",                                                                                            \
            "Again after a refusal, a 5xx or a broken connection, up to 5 times; waits for "                           \
            "Retry-After, else longer each time, with jitter.")                                                        \
    PERSONA(GIVE_UP, "give-up", "Closes the connection as soon as the request is sent.")                               \
    PERSONA(GIVE_BACK, "give-back", "Gives the seat back within a second after getting it.")                           \
    PERSONA(CHECK, "check", "Asks afterwards which seat is theirs.")                                                   \
    PERSONA(READER, "reader", "Looks at the seat map only.")                                                           \
    PERSONA(ONE_IP, "one-ip", "All of them come from one address, as from an office or a school.")                     \
    PERSONA(SLOW, "slow", "Sends its request byte by byte, over about a second.")

enum persona {
#define PERSONA_ENUM(id, name, text) PERSONA_##id,
    PERSONAS(PERSONA_ENUM)
#undef PERSONA_ENUM
        PERSONA_COUNT
};

const char *persona_name(enum persona persona);
const char *persona_text(enum persona persona);

struct persona_shares {
    double share[PERSONA_COUNT]; /* together 1 */
};

/* "double-click=10%,retry=20%"; the rest is plain. False with a sentence in *problem. */
bool persona_parse(struct str text, struct persona_shares *shares, struct buf *problem);

/* Without any personas: all are plain. */
struct persona_shares persona_all_plain(void);

enum persona persona_of(const struct persona_shares *shares, uint64_t user, uint64_t seed);

#endif
