/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a host: its options, the io whose ports it uses, its neighbours, its addresses and
 * routes.
 *
 * Carriers read `io` and `routes` without a lock, and do not suspend while they use what they have
 * read. Whoever changes one publishes the new one, and then lets each carrier run a function once
 * (haul_on_each()): no carrier uses the old one after that, and it is freed.
 */
#ifndef HAULI_HOST_STATE_H
#define HAULI_HOST_STATE_H

#include <pthread.h>

#include <haul-dpdk/host.h>
#include <haul/sync.h>

#include "conc/word.h"
#include "host/neigh.h"
#include "host/route.h"

struct hauli_flows;

/* An address that is to be announced. */
struct hauli_announcement {
	struct hauli_ip ip;
	unsigned port;
	unsigned left; /* number */
	uint64_t at; /* of the next one */
	bool checks; /* first it is asked whether others have the address */
	unsigned probes; /* questions left */
};

struct hauli_host_port {
	struct hauli_neigh *neighbours; /* constant */
	/* Constant while the host is started. */
	uint8_t mac[6];
	uint16_t mtu; /* 0: not known */
	uint64_t offloads; /* checksums that the port computes: RTE_ETH_TX_OFFLOAD_* */
	bool segments; /* the port sends packets in several segments; AF_XDP does not */

	/* Handlers of all carriers, and the host's coroutine. */
	struct hauli_u64_shared answered, duplicates, not_sent;
	struct hauli_u64_shared defended_at; /* when an address was defended last; a hint */
};

/* Buffers that the host keeps for what it says itself: a program that waits for neighbours may hold
 * all others, and would wait for ever. */
#define HAULI_HOST_RESERVE 32u

struct haul_host {
	struct haul_host_opts opts; /* with the defaults. Constant */
	struct hauli_host_port *ports; /* [opts.nb_ports] */
	struct hauli_ptr_published io; /* NULL: not started. haul_host_start(), haul_host_stop() */
	struct hauli_ptr_published routes; /* never NULL; under the lock */
	struct hauli_u32_published version; /* of io, routes, ports; never 0; under the lock */

	/* Of flows.c; NULL: never started. Constant while the host is started */
	struct hauli_flows *flows;

	/* The thread that starts and stops. */
	struct haul_runtime *rt; /* NULL: not started; under the lock */
	struct haul_coro *coroutine;
	struct haul_carrier *carrier; /* of the coroutine */

	struct haul_event wake; /* of the coroutine: something is due earlier */
	struct rte_mbuf *reserve[HAULI_HOST_RESERVE]; /* the coroutine */
	unsigned nb_reserve;

	/* Under the lock, which is held for a few hundred instructions. */
	pthread_mutex_t lock;
	struct hauli_own *owns; /* [opts.addresses_max] */
	struct hauli_route *added; /* [opts.routes_max] */
	struct hauli_announcement *announcements; /* [opts.addresses_max] */
	unsigned nb_owns, nb_added, nb_announcements;
	struct hauli_u32_published tentative; /* of owns; read by carriers */
	struct hauli_retired *retired; /* routes that could not be freed yet */
};

static inline struct haul_io *hauli_host_io(const struct haul_host *host)
{
	return hauli_ptr_published_get(&host->io);
}

/* A number that each change of io, routes or ports changes, after it was made: what is found after
 * one look at the number is as good as new while it is the same. */
static inline uint32_t hauli_host_version(const struct haul_host *host)
{
	return hauli_u32_published_get(&host->version);
}

/* On carriers, or under the lock. */
static inline const struct hauli_routes *hauli_host_routes(const struct haul_host *host)
{
	return hauli_ptr_published_get(&host->routes);
}

#endif
