/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/state/delay.h"

#include "sched/state/carrier.h"

uint64_t hauli_delay_since(const struct haul_carrier *c, struct hauli_delay *d)
{
	return hauli_delay_of_thread(hauli_u32_published_get(&c->tid), d);
}
