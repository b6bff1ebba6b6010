/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kinds of pollers cost on this machine, measured when asked for. */
#ifndef DOCTOR_COSTS_H
#define DOCTOR_COSTS_H

#include <haul/topo.h>

/* In ns. */
struct doctor_costs {
	int cpu; /* of the carrier that spins, sleeps or is woken; -1: floats */
	int waker_cpu; /* where the other thread is; -1: floats */

	double round; /* of a carrier that spins and has nothing to do, without a driver's part */
	uint64_t late_1us, late_50us; /* how much longer than that a sleep takes: medians */
	uint64_t wake_median, wake_p90; /* from the write to an eventfd until its waiter runs */
	uint64_t waker; /* how long that write takes: median */
	uint64_t wait; /* CPU time of the waiter, for one wait and its end */
	bool coarse; /* the kernel waits by the millisecond */
};

/* Takes about a tenth of a second, on the first two places of the plan. No privilege. 0; -errno
 * when there is no thread or descriptor to be had. */
int doctor_costs_measure(struct doctor_costs *costs, const struct haul_plan *plan);

#endif
