/* SPDX-License-Identifier: BSD-3-Clause */
/* A question to one server, by UDP or, if need be, TCP, and what its reply says about it. */
#ifndef DNS_EXCHANGE_H
#define DNS_EXCHANGE_H

#include <pthread.h>

#include <haul-dpdk/flow.h>

#include "reply.h"
#include "server.h"

/* The caller sets all but the result. */
struct dns_exchange {
	struct haul_host *host;
	struct dns_server *server; /* under the lock, but for its address */
	pthread_mutex_t *lock; /* is held for some hundred instructions, not over a wait */
	const struct dns_key *key;
	uint32_t stale; /* s: dns_keep_opts.stale */
	unsigned round; /* so many times the question was sent to it before */
	uint64_t deadline;

	struct dns_answer *answer; /* after 0: the caller's */
};

/*
 * By coroutines. Returns 0; -EAGAIN: it is to be asked again at once, in another way; -ETIMEDOUT:
 * no reply yet; -EIO: it cannot answer, or is not reached; -ENOMEM, -ENOBUFS, -EADDRINUSE, -EPERM,
 * -EMFILE, -ENFILE, -EADDRNOTAVAIL, -ECANCELED: nothing was learned about it.
 */
int dns_exchange(struct dns_exchange *x) HAUL_SUSPENDS;

#endif
