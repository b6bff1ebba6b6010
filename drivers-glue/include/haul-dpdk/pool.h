/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool of packet buffers (mbufs) that ports receive into. */
#ifndef HAUL_DPDK_POOL_H
#define HAUL_DPDK_POOL_H

#include <rte_mempool.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a program needs packet buffers for. */
struct haul_pool_need {
	const char *const *specs; /* port specs, nb_specs of them */
	unsigned nb_specs;
	unsigned carriers; /* each with one queue of each port */
	uint16_t rx_ring, tx_ring; /* descriptors, as in haul_port_opts */
	unsigned in_flight; /* packets that all carriers' handlers hold at the same time; 0: few */
};

/*
 * Returns the number of buffers that such a program needs: for the rings of the PMDs, transmit
 * queues, handlers, and the mempool cache of each carrier. Malformed specs add nothing. Any thread,
 * also without EAL.
 */
HAUL_API unsigned haul_pool_size(const struct haul_pool_need *need);

/* Returns the memory in MiB that EAL needs with a pool of mbufs buffers, for haul_eal_opts.mem_mb.
 * Any thread, also without EAL. */
HAUL_API unsigned haul_pool_mem_mb(unsigned mbufs);
/* The same with buffers for frames of up to frame bytes. */
HAUL_API unsigned haul_pool_mem_mb_for(unsigned mbufs, unsigned frame);

/*
 * Makes a pool of at least mbufs buffers for frames of up to 2,048 bytes each, contiguous in memory
 * if possible. Called on a thread of EAL; one call at a time, and not beside haul_port_open().
 * Returns NULL on an error, with one line in errbuf. The caller frees the pool by
 * rte_mempool_free(), after it has closed the ports that use it.
 */
HAUL_API struct rte_mempool *haul_pool_create(unsigned mbufs, char *errbuf, size_t errlen);

/* The same with buffers that each hold a frame of up to frame bytes: for jumbo frames, at most
 * HAUL_POOL_FRAME_MAX bytes; less than 2,048 gives 2,048. */
#define HAUL_POOL_FRAME_MAX 61312
HAUL_API struct rte_mempool *haul_pool_create_for(
	unsigned mbufs, unsigned frame, char *errbuf, size_t errlen);

#ifdef __cplusplus
}
#endif

#endif
