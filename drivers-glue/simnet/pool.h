/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_SIMNET_POOL_H
#define HAULI_SIMNET_POOL_H

#include <rte_mempool.h>

/* Once, after EAL has started. 0 or -errno. */
int hauli_simnet_pools_init(void);
/* In place of DPDK's. No caches: these would be a megabyte, for lcores that there are not. */
struct rte_mempool *hauli_simnet_mempool_create_empty(const char *name, unsigned n, unsigned size,
	unsigned cache, unsigned private_size, int socket, unsigned flags);
int hauli_simnet_mempool_populate_default(struct rte_mempool *mp);

#endif
