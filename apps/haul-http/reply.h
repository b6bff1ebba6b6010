/* SPDX-License-Identifier: BSD-3-Clause */
/* What is common to the heads of responses, and responses that are a line of text. */
#ifndef HTTP_REPLY_H
#define HTTP_REPLY_H

#include "out.h"

/* The status line, Date and Connection. h: the request, or NULL if it was wrong, after which the
 * connection ends. now: seconds since 1970. */
void http_reply_begin(struct http_out *o, const struct http_head *h, unsigned status, int64_t now);

/* A whole response, whose content is the status and its name. Returns its length, or an error as
 * http_out_end() does. */
int http_reply_text(struct http_out *o, const struct http_head *h, unsigned status, int64_t now);

#endif
