/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known of a server, and the choice among several. Works on memory only: the caller has a
 * lock, and gives the time.
 */
#ifndef DNS_SERVER_H
#define DNS_SERVER_H

#include <haul/base.h>

#include "endpoint.h"
#include "message.h"

/* ns */
#define DNS_RTO_MIN (100 * HAUL_MS)
#define DNS_RTO_FIRST (400 * HAUL_MS) /* nothing is known yet */
#define DNS_RTO_MAX (2 * HAUL_S)
#define DNS_SILENCE (2 * HAUL_S) /* since its last reply, until it rests */
#define DNS_REST_MIN HAUL_S
#define DNS_REST_MAX (64 * HAUL_S)
#define DNS_FORGIVEN (900 * HAUL_S) /* what a server could not do is tried again after that */

enum { DNS_TIMEOUTS_MAX = 3 }; /* in a row, until it rests */

struct dns_server {
	struct dns_endpoint addr;
	uint64_t round_trip, deviation; /* smoothed, in ns (RFC 6298); 0: not known */
	uint64_t rank; /* the same as the choice sees it: more after silence, and less with time */
	uint64_t replied_at;
	/* The length of its rest, in ns; 0: it does not rest. When that is over, one question finds
	 * out whether the server replies. */
	uint64_t rest, rests_until;
	uint64_t plain_until, same_case_until; /* without EDNS; with letters as they are */
	uint8_t timeouts, case_losses, cookie_losses; /* in a row */
	bool is_probed;
	uint8_t nb_cookie; /* DNS_COOKIE_CLIENT: the server has not sent any */
	uint8_t cookie[DNS_COOKIE_MAX];
	uint64_t asked, asked_tcp, answered, failed, timed_out;
};

/* To which of n servers a question goes: the fastest one that is not in the set tried and does not
 * rest; else the one whose rest ends first. Each choice makes the others look a little faster, so
 * that each is measured again at some time. -1: all are in the set. */
int dns_server_choose(struct dns_server *servers, unsigned n, uint64_t tried);

/* Which server's rest is over, so that the caller is to probe it now; -1: none. The caller resets
 * is_probed. */
int dns_server_to_probe(struct dns_server *servers, unsigned n, uint64_t now);

/* How long a reply is waited for, in ns, the n-th time (from 0) that a question is sent to it. */
uint64_t dns_server_patience(const struct dns_server *s, unsigned n);

void dns_server_replied(struct dns_server *s, uint64_t round_trip, uint64_t now); /* ns */
void dns_server_was_silent(struct dns_server *s, uint64_t now);

#endif
