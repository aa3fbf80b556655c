/* What the files of a crowd share; all of it belongs to the crowd's thread. */
#ifndef REHEARSE_CROWD_INTERNAL_H
#define REHEARSE_CROWD_INTERNAL_H

#include "rehearse/answer.h"
#include "rehearse/crowd.h"
#include "rehearse/wake_heap.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    VISITS_MAX = 1 << 20, /* of one crowd; who comes then is counted as not sent */
    REQUEST_MAX = 2048,
    READ_BYTES = 64 * 1024,
};

/* Which address a connection comes from: one of its own, or the one that all behind it share. */
enum pool { POOL_OWN, POOL_SHARED, POOL_COUNT };

/* A user's visit with the request that is in progress; several requests one after the other when the user tries again
 * or gives the seat back. A double-clicker has two visits. */
struct visit {
    struct waker waker; /* when it waits for a moment: its next request, or its next byte; must be first */
    struct visit *next_in_queue;
    struct visit *older, *newer; /* in the list of requests in progress */
    struct link *link;
    int64_t due_ns;  /* when the request should be sent */
    int64_t sent_ns; /* when its first byte was; 0: not yet */
    uint64_t user;
    enum persona persona;
    enum history_kind kind;
    unsigned attempt;
};

struct link {
    struct link *next;   /* in the list of idle or of unused ones */
    struct visit *visit; /* NULL: idle */
    int fd;              /* -1: not open */
    bool connected;
    enum pool pool;
    uint32_t number; /* from 1: names its address */
    uint32_t target; /* of the plan */
    size_t bytes_sent, request_length;
    struct buf input; /* an answer of which a part has come; empty otherwise */
};

struct crowd {
    const struct plan *plan;
    size_t index;
    int64_t start_ns;
    struct history_writer *history;
    pthread_t thread;

    pthread_mutex_t mutex; /* held while the thread works, not while it waits */
    struct tally tally;
    atomic_bool doors_closed, stopping, all_came, done;

    int epoll;
    struct arrivals arrivals;
    bool has_next; /* the arrival that comes next */
    uint64_t next_user;
    int64_t next_due_ns;

    struct link *links; /* link_limit of them */
    size_t link_limit;
    struct link *unused, *idle[POOL_COUNT];
    uint32_t link_count; /* ever opened */

    struct visit *queue[POOL_COUNT], **queue_end[POOL_COUNT]; /* requests that wait for a connection */
    struct visit *oldest, *newest;                            /* requests in progress */
    struct visit *free_visits;
    size_t visit_count;
    struct wake_heap wakers;

    struct arena arena;
    struct buf ranges; /* the taken seats of a map */
    char *read_bytes;
    size_t gathered; /* bytes allocated for answers of which a part has come */
};

/* What became of a request. */
enum end {
    END_ANSWERED,
    END_REFUSED,
    END_BROKEN,
    END_TOO_LARGE, /* no room to keep the answer */
    END_TIMEOUT,
    END_NOT_SENT,
    END_GAVE_UP,
    END_CUT_OFF,
};

/* Visits: crowd_visit.c */
void visit_arrive(struct crowd *crowd, uint64_t user, int64_t due_ns);
void visit_start_request(struct crowd *crowd, struct visit *visit);
/* The request has ended; the user goes home or does the next thing. The connection has been dealt with by the caller.
 * `answer` and `verdict` only with END_ANSWERED. */
void visit_end_request(struct crowd *crowd, struct visit *visit, enum end end, const struct answer *answer);
void visit_free(struct crowd *crowd, struct visit *visit);
/* Its bytes; the same each time it is asked. */
size_t visit_format(const struct crowd *crowd, const struct visit *visit, char out[REQUEST_MAX]);
enum pool visit_pool(const struct crowd *crowd, const struct visit *visit);

/* Connections: crowd_link.c */
/* Gives requests that wait a connection, as long as there are any. */
void links_serve(struct crowd *crowd);
/* The next byte of a slow sender. */
void link_send_more(struct crowd *crowd, struct link *link);
void link_event(struct crowd *crowd, struct link *link, uint32_t events);
void link_close(struct crowd *crowd, struct link *link);

/* Books: crowd_record.c */
void record_request(struct crowd *crowd, const struct visit *visit, enum end end, const struct answer *answer,
                    struct verdict *verdict);

#endif
