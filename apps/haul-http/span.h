/* SPDX-License-Identifier: BSD-3-Clause */
/* For the parts of the parser: text as a place in the buffer, which may move between two calls. */
#ifndef HTTP_SPAN_H
#define HTTP_SPAN_H

#include "head.h"

static inline struct http_span http_span(const struct http_head *h, struct http_str s)
{
	return (struct http_span){(uint16_t)(s.at - h->buf), (uint16_t)s.n};
}

#endif
