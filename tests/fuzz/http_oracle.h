/*
 * A second reader of requests, to compare ours with: Debian's http-parser, in tests only.
 *
 * Debian builds it without its strict mode. That suits us: it stands for the lenient proxy in front of us, and
 * the question is whether it sees the same requests in the bytes that we accept.
 */
#ifndef TESTS_FUZZ_HTTP_ORACLE_H
#define TESTS_FUZZ_HTTP_ORACLE_H

#include "base/str.h"

/* A request as we have read it. A struct of its own: http-parser's header and ours cannot be included together. */
struct oracle_request {
    struct str method, path, query;
    int minor;
    bool keep_alive;
    struct str body;
    size_t length; /* of the whole request */
    size_t header_count;
    struct oracle_header {
        struct str name, value;
    } headers[64];
};

/* `bytes` begins with that request; whatever followed it stands behind. Stops the program, saying why, when
 * http-parser sees something else. */
void http_oracle_check(struct str bytes, const struct oracle_request *request);

#endif
