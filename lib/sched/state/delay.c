/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/state/delay.h"

#include "sched/state/carrier.h"

uint64_t hauli_delay_since(const struct haul_carrier *c, struct hauli_delay *d)
{
	uint32_t tid = hauli_u32_published_get(&c->run.tid);
	uint64_t now, delay;

	if (tid != 0)
		return hauli_delay_of_thread(tid, d);
	now = hauli_delay_clock(CLOCK_MONOTONIC);
	delay = d->last.at ? now - d->last.at : 0;
	d->last.at = now;
	d->ahead += delay; /* the kernel will report this time too, once the thread runs */
	return delay;
}
