/* SPDX-License-Identifier: BSD-3-Clause */
/* What hosts take of DPDK's memory. */
#ifndef HAULI_SIMNET_POOL_H
#define HAULI_SIMNET_POOL_H

#include <rte_mempool.h>

/* Once, after EAL has started. 0 or -errno. */
int hauli_simnet_pools_init(void);
/* In place of DPDK's. No caches: these would be a megabyte, for lcores that there are not. */
struct rte_mempool *hauli_simnet_mempool_create_empty(const char *name, unsigned n, unsigned size,
	unsigned cache, unsigned private_size, int socket, unsigned flags);
int hauli_simnet_mempool_populate_default(struct rte_mempool *mp);
/* The same, and known to be the host's. */
void *hauli_simnet_zmalloc_socket(const char *type, size_t size, unsigned align, int socket);
void hauli_simnet_free(void *at);
/* Pools and memory of a host that is gone, of whose packets nobody has one any more. */
void hauli_simnet_free_host(unsigned host);

#endif
