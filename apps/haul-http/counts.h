/* SPDX-License-Identifier: BSD-3-Clause */
/* What a carrier has served. Its coroutines count, and any thread may read. */
#ifndef HTTP_COUNTS_H
#define HTTP_COUNTS_H

#include <stddef.h>

#include "conc/word.h"

/* Why a client was thrown out. */
enum http_limit {
	HTTP_LIMIT_IDLE, /* sent nothing after an answer, or at all */
	HTTP_LIMIT_HEAD_TIME, /* took too long for a head */
	HTTP_LIMIT_LINE, /* a line is too long */
	HTTP_LIMIT_FIELDS, /* too many fields, or bytes of them */
	HTTP_LIMIT_BODY, /* more of a body than is taken */
	HTTP_LIMIT_TRANSFER, /* took too long for content */
	HTTP_LIMIT_STOP, /* was not finished when the stop's time was over */
	HTTP_LIMITS,
};

enum { HTTP_STATUS_MIN = 100, HTTP_STATUS_MAX = 599 };

struct http_counts {
	struct hauli_u64_owned connections, closed, requests, rx_bytes, tx_bytes;
	struct hauli_u64_owned limits[HTTP_LIMITS];
	struct hauli_u64_owned statuses[HTTP_STATUS_MAX - HTTP_STATUS_MIN + 1];
};

/* On the carrier itself. */
static inline void http_count(struct hauli_u64_owned *figure, uint64_t n)
{
	hauli_u64_owned_set(figure, hauli_u64_owned_get(figure) + n);
}

static inline void http_count_status(struct http_counts *c, unsigned status)
{
	http_count(&c->statuses[status - HTTP_STATUS_MIN], 1);
}

/* "idle", for the option or the figure of that name. */
const char *http_limit_name(enum http_limit limit);

#endif
