/* SPDX-License-Identifier: BSD-3-Clause */
/* Time-outs as times of the simulated clock. */
#ifndef HAULI_SIM_FDS_WHEN_H
#define HAULI_SIM_FDS_WHEN_H

#include <time.h>

#include <haul/base.h>

#include "sim/world.h"

static inline uint64_t hauli_sim_in_ms(int ms)
{
	return ms < 0 ? HAULI_NEVER : hauli_sim_now() + (uint64_t)ms * HAUL_MS;
}

/* NULL: never. */
static inline uint64_t hauli_sim_in(const struct timespec *t)
{
	uint64_t most = (HAULI_NEVER - hauli_sim_now()) / HAUL_S;

	if (!t || (uint64_t)t->tv_sec >= most)
		return HAULI_NEVER;
	return hauli_sim_now() + (uint64_t)t->tv_sec * HAUL_S + (uint64_t)t->tv_nsec;
}

#endif
