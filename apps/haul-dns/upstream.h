/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The servers that are asked: which one, for how long, and what comes of their replies. A list does
 * not change; a reload makes another one, and the old one is freed when nobody asks it any more.
 */
#ifndef DNS_UPSTREAM_H
#define DNS_UPSTREAM_H

#include <haul-dpdk/flow.h>

#include "endpoint.h"
#include "reply.h"

enum { DNS_UPSTREAMS_MAX = 64 };

struct dns_upstreams;

struct dns_upstream_opts {
	struct haul_host *host;
	const struct dns_secret *secret; /* of cookies; the caller's */
	uint32_t stale; /* s: dns_keep_opts.stale */
};

/* A list of n servers, 1 to DNS_UPSTREAMS_MAX, with one reference. What is known of those that were
 * on the previous list, which may be NULL, is copied. NULL: no memory. Any thread. */
struct dns_upstreams *dns_upstreams_create(const struct dns_endpoint *addrs, unsigned n,
	const struct dns_upstream_opts *opts, struct dns_upstreams *previous);

/* References are counted by any thread. The last release frees the list. */
void dns_upstreams_hold(struct dns_upstreams *u);
void dns_upstreams_release(struct dns_upstreams *u); /* NULL is allowed */

/* A question. The caller sets the first two, and holds a reference. */
struct dns_question {
	struct dns_upstreams *upstreams;
	const struct dns_key *key;
	/* Sets of servers, a bit for each: those asked in this round, and those that have said that
	 * they cannot answer. */
	uint64_t asked, failed;
	unsigned round, tries, again; /* again: so many times in a row the same server */
};

/*
 * Asks until a server has answered, all have failed, or the deadline has passed; then another call
 * goes on from there. By coroutines. Returns 0, and *answer with a reference for the caller;
 * -ETIMEDOUT, -EIO (all have said that they cannot answer, or are not reached), or another error
 * of dns_exchange(), which is none of a server's.
 */
int dns_upstreams_ask(
	struct dns_question *q, struct dns_answer **answer, uint64_t deadline) HAUL_SUSPENDS;

struct dns_upstream_stats {
	struct dns_endpoint addr;
	uint64_t asked, asked_tcp, answered, failed, timeouts; /* asked: by UDP */
	uint64_t round_trip_ns; /* smoothed; 0: not known yet */
	bool rests; /* it does not answer */
};

/* Copies what is known of server i. False: there is no such one. Any thread. */
bool dns_upstreams_get_stats(
	const struct dns_upstreams *u, unsigned i, struct dns_upstream_stats *stats);

#endif
