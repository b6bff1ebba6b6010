/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the connections of one carrier share. Its coroutines take turns, and none of these functions
 * suspends, so there is no lock; only the counters are read by other threads.
 */
#ifndef HTTP_LOCAL_H
#define HTTP_LOCAL_H

#include "counts.h"
#include "io.h"

struct http_conn {
	struct http_io io;
	bool awaits_request; /* with nothing received in io: the connection is idle */
	bool is_fresh; /* its first request, which may be under way, has not come */
	struct http_conn *next, **link;
};

struct http_local {
	struct http_counts counts;
	struct http_conn *first;
	bool ends; /* requests that have not come yet are not awaited */
	bool ends_fresh; /* nor are first ones */
	unsigned nb_fresh;
} __attribute__((aligned(64)));

/* c->io is open. */
void http_local_enter(struct http_local *p, struct http_conn *c);
void http_local_leave(struct http_local *p, struct http_conn *c);

/* Before the next request is received. Afterwards the caller clears awaits_request. */
void http_local_await(struct http_local *p, struct http_conn *c);

/* The first request of the connection has come, or will not. */
void http_local_heard(struct http_local *p, struct http_conn *c);

/* Ends the connections that are idle, of which fresh ones only if fresh_too. Each other one ends
 * after its present request. */
void http_local_end(struct http_local *p, bool fresh_too);

/* Counts the connections that are still there as thrown out by the stop. */
void http_local_count_rest(struct http_local *p);

#endif
