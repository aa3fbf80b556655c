/*
 * Who the client is when proxies stand in between: the rightmost hop that is not
 * one of our own proxies. What a client writes into X-Forwarded-For itself stands
 * further left and is never believed.
 */
#ifndef HTTP_CLIENT_ADDRESS_H
#define HTTP_CLIENT_ADDRESS_H

#include "base/cidr.h"
#include "http/head.h"

/* `peer` is the connection's address, `forwarded` the X-Forwarded-For header (ptr NULL: none). The result points
 * into one of them. A hop that cannot be read ends the walk: the last good hop is the client. */
struct str client_address(struct str peer, struct str forwarded, const struct cidr_list *trusted);

/* The same for a request, whose X-Forwarded-For headers together are one list. */
struct str client_address_of(struct str peer, const struct http_head *head, const struct cidr_list *trusted);

#endif
