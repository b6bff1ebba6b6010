/* SPDX-License-Identifier: BSD-3-Clause */
/* A query and its answer, whatever it came by: access, local names, the cache, servers. */
#ifndef DNS_SERVE_H
#define DNS_SERVE_H

#include "acl.h"
#include "conc/word.h"
#include "cookie.h"
#include "hosts.h"
#include "rrl.h"
#include "shared.h"
#include "upstream.h"

/* What a reload replaces. It does not change: handlers use it until they suspend, and the servers
 * for longer, with a reference. */
struct dns_config {
	struct dns_acl *acl;
	struct dns_hosts *hosts; /* NULL: none */
	struct dns_upstreams *upstreams;
};

/* Counters of networks, /24 and /56; those with equal hashes share one. */
enum { DNS_NETWORKS = 4096 };

/* What all carriers use. Constant once they do, but for the words in it. */
struct dns_service {
	struct dns_secret hash, cookies; /* of tables; of cookies */
	struct dns_shared *cache;
	struct hauli_ptr_published config; /* struct dns_config *; the main thread */
	uint64_t patience, deadline; /* ns: until an expired answer is sent; until a failure is */
	const char *id; /* told to who asks for id.server; NULL: nothing */
	unsigned udp_max; /* bytes of an answer by UDP */
	unsigned waiting_max; /* queries of a carrier that wait for servers */
	struct dns_rrl *rrl; /* NULL: no limit */
	struct hauli_u64_shared *waiting; /* of each carrier: queries that wait */
	struct hauli_u64_shared *waiting_of; /* [DNS_NETWORKS]: the same of clients */
	struct hauli_u64_shared is_ending; /* 1: nobody is told of failures any more */
};

/* A query. The caller sets the first group. */
struct dns_visit {
	struct haul_addr client;
	bool is_stream;
	uint8_t *msg; /* the answer is written here, too */
	size_t n, room; /* bytes; of an answer: at least DNS_UDP_PLAIN */
	unsigned carrier; /* whose waiting_max counts */

	struct dns_query query;
	struct dns_client reply; /* reply.n: bytes of the answer */
	struct dns_flight *flight; /* not NULL: dns_serve_rest() */
	uint8_t cookie[DNS_COOKIE_SERVER];
	bool knows_us; /* by its cookie: its address is not forged */
	uint16_t network; /* of the client: its counter, once it waits */
};

enum dns_served {
	DNS_SERVED, /* an answer is to be sent */
	DNS_NO_QUERY, /* nothing is */
	DNS_LIMITED,
	DNS_ENDING,
};

/* By coroutines of carriers. After it, and after the answer is sent, dns_serve_rest(). */
enum dns_served dns_serve(struct dns_service *s, struct dns_visit *v) HAUL_SUSPENDS;

/* Asks a server for what was answered from the cache already, as that is old. */
void dns_serve_rest(struct dns_service *s, struct dns_visit *v) HAUL_SUSPENDS;

/* The same in a coroutine of its own, for who cannot wait: v is not used after the call. */
void dns_serve_rest_later(struct dns_service *s, const struct dns_visit *v) HAUL_SUSPENDS;

#endif
