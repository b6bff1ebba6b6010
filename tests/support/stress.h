/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The duration and the seed of a stress test: HAUL_STRESS_SECONDS (default 1 for each test) and
 * HAUL_STRESS_SEED (default: the clock). The seed is printed, so that a failure can be replayed.
 */
#ifndef HAUL_TESTS_STRESS_H
#define HAUL_TESTS_STRESS_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <haul/base.h>

#include "base/random.h"

static inline uint64_t stress_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static inline uint64_t stress_seed(void)
{
	uint64_t seed = stress_number("HAUL_STRESS_SEED", haul_now());

	fprintf(stderr, "HAUL_STRESS_SEED=%" PRIu64 "\n", seed);
	return seed;
}

static inline uint64_t stress_deadline(void)
{
	const char *seconds = getenv("HAUL_STRESS_SECONDS");

	return haul_now() + (uint64_t)((seconds ? strtod(seconds, NULL) : 1) * HAUL_S);
}

#endif
