/* SPDX-License-Identifier: BSD-3-Clause */
/* The bed of tests of haul-dns in virtual time: a host on a port of a test, and servers
 * 10.0.0.10, 10.0.0.11, ... that do as they are told. */
#ifndef DNS_NET_H
#define DNS_NET_H

#include <haul-dpdk/flow.h>
#include <haul-dpdk/test.h>
#include <haul/haul.h>

#include "../../apps/haul-dns/serve.h"
#include "support/suite.h"

enum { DNS_NET_SERVERS = 8, DNS_NET_CARRIERS = 3, DNS_NET_COUNTS = 32 };

/* In the body of a test: check's macros cannot jump out of a coroutine. */
#define FAIL_UNLESS(condition)                                                          \
	do {                                                                            \
		if (!(condition)) {                                                     \
			if (!dns_net_wrong)                                             \
				dns_net_wrong = #condition;                             \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #condition); \
			return;                                                         \
		}                                                                       \
	} while (0)

enum dns_net_does {
	DOES_ANSWER, /* A 192.0.2.i, in the network; by TCP 198.51.100.i */
	DOES_NOTHING,
	DOES_FAIL, /* SERVFAIL */
	DOES_REFUSE_EDNS, /* FORMERR */
	DOES_REFUSE_EDNS_BARELY, /* FORMERR, with a header only */
	DOES_TRUNCATE,
	DOES_FOLD, /* the question comes back in lower case */
	DOES_WANT_COOKIES, /* BADCOOKIE */
	DOES_FORGE, /* many wrong replies before the right one */
	DOES_CONTRADICT, /* itself */
};

struct dns_net_server {
	enum dns_net_does does, does_tcp;
	int tcp_error; /* 0: none */
	uint64_t delay; /* ns */
	uint32_t ttl; /* of answers; 0: 300 s */
	unsigned asked, asked_tcp, with_edns, lost; /* lost: so many questions have no reply */
};

extern struct dns_net_server dns_net_servers[DNS_NET_SERVERS];
extern uint64_t dns_net_counts[DNS_NET_COUNTS]; /* of haul_app_count() */
extern const char *dns_net_state; /* of haul_app_is_serving() */
extern const char *dns_net_wrong; /* what was wrong first; NULL: nothing */
extern struct haul_host *dns_net_host;

/* Runs the body in a coroutine on carrier 0. */
void dns_net_run(void (*body)(void));

/* A list of the first n servers, which knows what the previous one (NULL: none) has learnt. */
struct dns_upstreams *dns_net_upstreams(unsigned n, uint32_t stale, struct dns_upstreams *previous);

/* The key of a name's addresses. */
struct dns_key dns_net_key(const char *name);

#endif
