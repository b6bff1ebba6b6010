/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the costs of poller policies on this machine. */
#ifndef DOCTOR_COSTS_H
#define DOCTOR_COSTS_H

#include <haul/topo.h>

/* Times in ns. */
struct doctor_costs {
	int cpu; /* of the carrier that spins, sleeps or is woken; -1: floats */
	int waker_cpu; /* of the thread that wakes it; -1: floats */

	double round; /* an empty round of a spinning carrier, without the driver's part */
	uint64_t late_1us, late_50us; /* lateness of sleeps of 1 us and 50 us: medians */
	uint64_t wake_median, wake_p90; /* from the write to an eventfd until its waiter runs */
	uint64_t waker; /* duration of that write: median */
	uint64_t wait; /* CPU time of the waiter for a wait and its end: mean */
	bool coarse; /* the kernel has no epoll_pwait2(): waits are multiples of 1 ms */
};

/* Measures on the first two places of the plan, for about 0.1 s. Needs no privilege. Returns 0, or
 * -errno if there are no threads or descriptors. */
int doctor_costs_measure(struct doctor_costs *costs, const struct haul_plan *plan);

#endif
