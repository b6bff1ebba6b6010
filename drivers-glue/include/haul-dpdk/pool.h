/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool of packet buffers that a program's ports receive into. */
#ifndef HAUL_DPDK_POOL_H
#define HAUL_DPDK_POOL_H

#include <rte_mempool.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a program does with its packets. */
struct haul_pool_need {
	const char *const *specs; /* of its ports */
	unsigned nb_specs;
	unsigned carriers; /* each has a queue of each port */
	uint16_t rx_ring, tx_ring; /* as in haul_port_opts */
	unsigned in_flight; /* packets that the handlers of all carriers hold at once; 0: few */
};

/*
 * How many buffers such a program needs: what PMDs keep in their rings, what waits to be sent, what
 * handlers hold and what each carrier's cache keeps. Specs that cannot be parsed add nothing. Any
 * thread, before EAL too.
 */
HAUL_API unsigned haul_pool_size(const struct haul_pool_need *need);

/* Megabytes of EAL's memory for a pool of mbufs buffers and everything else: for
 * haul_eal_opts.mem_mb. */
HAUL_API unsigned haul_pool_mem_mb(unsigned mbufs);

/*
 * Makes a pool of at least mbufs buffers, for frames of up to 2,048 bytes, in one piece of memory
 * if there is one that large. A thread of EAL's. NULL: errbuf gets one line. The caller frees the
 * pool by rte_mempool_free(), after its ports are closed.
 */
HAUL_API struct rte_mempool *haul_pool_create(unsigned mbufs, char *errbuf, size_t errlen);

#ifdef __cplusplus
}
#endif

#endif
