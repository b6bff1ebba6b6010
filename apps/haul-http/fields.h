/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of a head, and what follows from them: the body's framing, the connection's end. */
#ifndef HTTP_FIELDS_H
#define HTTP_FIELDS_H

#include "head.h"

/* Both return 0, or the negative status of the response. */
int http_field_take(struct http_head *h, struct http_str line);
int http_fields_end(struct http_head *h);

#endif
