/* SPDX-License-Identifier: BSD-3-Clause */
/* The first line of a message. Lines have no control characters but tabs. */
#ifndef HTTP_START_H
#define HTTP_START_H

#include "head.h"

/* Both return 0, or the negative status of the response. */
int http_request_line(struct http_head *h, struct http_str line);
int http_status_line(struct http_head *h, struct http_str line);

/* HOST or HOST:PORT (RFC 3986, 3.2), with an address or a name without %XX; no user. */
bool http_is_authority(struct http_str s);

#endif
