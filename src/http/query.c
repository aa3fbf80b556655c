#include "http/query.h"

#include "base/suggest.h"
#include "http/router.h"

enum { NAME_SHOWN_MAX = 64 };

static bool refuse(struct request *rq, struct str message)
{
    reply_error_message(rq, ERR_VALIDATION, message);
    return false;
}

static bool read_query(struct request *rq)
{
    rq->query = ARENA_NEW_ARRAY(&rq->arena, struct url_param, URL_PARAMS_MAX);
    switch (url_parse_query(&rq->arena, rq->head.query, rq->query, &rq->query_count)) {
    case URL_QUERY_READ: return true;
    case URL_QUERY_BAD_TEXT: return refuse(rq, STR("The query must be percent-encoded UTF-8 without NUL."));
    case URL_QUERY_TWICE: return refuse(rq, STR("The query has a parameter twice."));
    case URL_QUERY_TOO_MANY: return refuse(rq, STR("The query has too many parameters."));
    }
    return false;
}

static bool takes(const char *const *names, struct str name)
{
    for (; names && *names; names++)
        if (str_eq(str_from(*names), name))
            return true;
    return false;
}

static bool refuse_unknown(struct request *rq, struct str name)
{
    if (name.len > NAME_SHOWN_MAX)
        return refuse(rq, STR("The query has a parameter that this address does not take."));
    struct suggest suggest = suggest_for(name);
    for (const char *const *known = rq->route->query; known && *known; known++)
        suggest_consider(&suggest, *known);
    struct str message = suggest.best
                             ? arena_format(&rq->arena, "This address takes no parameter %.*s; did you mean %s?",
                                            STR_ARG(name), suggest.best)
                             : arena_format(&rq->arena, "This address takes no parameter %.*s.", STR_ARG(name));
    return refuse(rq, message);
}

/* Reading ignores what it does not know (cache-busting, campaigns of links); a change does not happen on a guess. */
bool query_accept(struct request *rq)
{
    if (rq->head.query.len == 0)
        return true;
    if (!read_query(rq))
        return false;
    if (rq->route->method == HTTP_GET)
        return true;
    for (size_t i = 0; i < rq->query_count; i++)
        if (!takes(rq->route->query, rq->query[i].name))
            return refuse_unknown(rq, rq->query[i].name);
    return true;
}
