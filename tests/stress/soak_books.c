/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects that the operations of the soak share, and the books about them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul/sync.h>

#include "soak.h"

struct soak s;

void wrong(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: wrong: %s; HAUL_STRESS_SEED=%" PRIu64 " begins with this round\n",
		file, line, what, s.seed);
	if (s.rt)
		haul_dump(s.rt, stderr);
	if (s.other)
		haul_dump(s.other, stderr);
	abort();
}

void soak_open(uint64_t seed)
{
	static const unsigned room[SOAK_CHANS] = {0, 1, 3, 64};

	memset(&s, 0, sizeof(s));
	s.seed = seed;
	for (unsigned i = 0; i < SOAK_CHANS; i++)
		RIGHT(haul_chan_create(&s.chans[i], sizeof(unsigned), room[i]) == 0);
	for (unsigned i = 0; i < SOAK_SEMS; i++)
		haul_sem_init(&s.sems[i], soak_units[i]);
	soak_open_descriptors();
}

void soak_close(void)
{
	unsigned value;

	RIGHT(s.alive == 0);
	for (unsigned i = 0; i < SOAK_CHANS; i++) {
		while (haul_chan_recv(s.chans[i], &value, 0) == 0)
			soak_has_received(value);
		haul_chan_destroy(s.chans[i]);
	}
	for (unsigned i = 0; i < s.values; i++)
		RIGHT(s.sent[i] == s.received[i]);
	for (unsigned i = 0; i < SOAK_MUTEXES; i++)
		RIGHT(s.guarded[i] == s.locks[i]);
	for (unsigned i = 0; i < SOAK_SEMS; i++) {
		for (unsigned n = soak_units[i]; n > 0; n--)
			RIGHT(haul_sem_wait(&s.sems[i], 0) == 0);
		RIGHT(haul_sem_wait(&s.sems[i], 0) != 0);
	}
	RIGHT(s.put == s.taken + s.queued);
	RIGHT(s.bumps == s.bumps_released);
	soak_close_descriptors();
}

uint64_t soak_draw_rescue(struct hauli_random *random)
{
	static const uint64_t after[] = {0, 0, 20 * HAUL_US, 50 * HAUL_US, 200 * HAUL_US, HAUL_MS};
	uint64_t drawn = after[hauli_random_below(random, sizeof(after) / sizeof(after[0]))];
	const char *us = getenv("HAUL_RESCUE");

	if (us)
		drawn = strtoull(us, NULL, 10) * HAUL_US;
	s.rescues |= drawn > 0;
	return drawn;
}
