#include "services/auth/visitor.h"

/* Not in the middle of a character: the database takes UTF-8 only. */
static struct str cut(struct str text, size_t max)
{
    struct str short_text = str_first(text, max);
    while (short_text.len && !str_is_utf8(short_text) && max - short_text.len < 4)
        short_text.len--;
    return str_is_utf8(short_text) ? short_text : STR("");
}

struct visitor visitor_of(const struct request *rq)
{
    struct str agent = request_header(rq, STR("User-Agent"));
    return (struct visitor){
        .address = cut(rq->client_address, ADDRESS_MAX),
        .agent = agent.ptr ? cut(agent, AGENT_MAX) : STR(""),
    };
}
