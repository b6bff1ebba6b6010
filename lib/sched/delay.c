/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/delay.h"

#include <inttypes.h>
#include <stdio.h>

#include "sched/carrier.h"

#define SLICE (50 * HAUL_MS)

/* Run delay of the thread since its start, from the second field of its schedstat; ns. */
static uint64_t run_delay(uint32_t tid)
{
	char path[64];
	uint64_t ran, delay;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%" PRIu32 "/schedstat", tid);
	f = tid ? fopen(path, "re") : NULL;
	if (!f)
		return 0;
	if (fscanf(f, "%" SCNu64 " %" SCNu64, &ran, &delay) != 2)
		delay = 0;
	fclose(f);
	return delay;
}

uint64_t hauli_delay_since(const struct haul_carrier *c, uint64_t *seen)
{
	uint64_t delay = run_delay(hauli_u32_published_get(&c->tid));
	uint64_t since = *seen && delay > *seen ? delay - *seen : 0;

	*seen = delay;
	return since;
}

uint64_t hauli_limit_slice(const struct hauli_limit *l)
{
	return l->left < SLICE || l->left == HAUL_FOREVER ? l->left : SLICE;
}

void hauli_limit_spend(struct hauli_limit *l, uint64_t slice, uint64_t delay)
{
	if (l->left == HAUL_FOREVER)
		return;
	l->left -= slice;
	l->left += delay < l->most - l->left ? delay : l->most - l->left;
}
