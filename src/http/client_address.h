/*
 * Who the client is when proxies stand in between: the rightmost hop that is not
 * one of our own proxies. What a client writes into X-Forwarded-For itself stands
 * further left and is never believed.
 */
#ifndef HTTP_CLIENT_ADDRESS_H
#define HTTP_CLIENT_ADDRESS_H

#include "base/cidr.h"
#include "http/head.h"

/* An address in both its forms. */
struct hop {
    struct str text;
    struct in6_addr address;
};

/* `peer` is the other end of the connection; the X-Forwarded-For headers of the request together are one list. The
 * result points into one of them. A hop that cannot be read ends the walk: the last good hop is the client. */
struct str client_address(struct hop peer, const struct http_head *head, const struct cidr_list *trusted);

#endif
