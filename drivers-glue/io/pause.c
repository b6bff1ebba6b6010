/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's power intrinsics: experimental in 22.11, so only this file uses them. TPAUSE and UMWAIT
 * take a value of the counter that hauli_ticks() reads.
 */
#define ALLOW_EXPERIMENTAL_API
#include "io/pause.h"

#include <rte_cpuflags.h>
#include <rte_ethdev.h>
#include <rte_power_intrinsics.h>

#include "io/burst.h"

bool hauli_pause_works(void)
{
	struct rte_cpu_intrinsics has = {0};

	rte_cpu_get_intrinsics_support(&has);
	return has.power_pause;
}

void hauli_pause(const struct hauli_burst *queue, uint64_t until)
{
	struct rte_power_monitor_cond next;

	/* A different address each time: the descriptor that the next packet will fill. */
	if (queue && rte_eth_get_monitor_addr(queue->port_id, queue->queue_id, &next) == 0 &&
		rte_power_monitor(&next, until) == 0)
		return;
	(void)rte_power_pause(until);
}
