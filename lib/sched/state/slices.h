/* SPDX-License-Identifier: BSD-3-Clause */
/* The recent length of slices, and the number of them that a round may run. Also for perf/sim. */
#ifndef HAULI_SCHED_STATE_SLICES_H
#define HAULI_SCHED_STATE_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#define HAULI_BUDGET_MAX 255u
#define HAULI_SLICES_PER_BATCH 32u /* slices between two reads of the clock and the inbox */

struct hauli_slices {
	uint64_t average; /* in ticks; a rise counts at once, a fall by one eighth */
	uint64_t typical; /* in ticks; outliers hardly count */
	unsigned budget; /* slices per round of a carrier with a poller, 1 to 255; 1 at first */
};

/* Updates the averages and the budget. ticks: the mean length of the last slices; interval: the
 * target time between polls, in ticks. */
static inline void hauli_slices_learn(struct hauli_slices *s, uint64_t ticks, uint64_t interval)
{
	uint64_t most = 2 * s->typical + 64;
	uint64_t fits;

	s->typical += (ticks < most ? ticks : most) / 8 - s->typical / 8;
	/* A longer mean counts at once, a shorter one by one eighth. */
	if (ticks > s->average)
		s->average = ticks;
	else
		s->average -= (s->average - ticks) / 8;
	fits = interval / (s->average + 1);
	s->budget *= 2;
	if (s->budget > HAULI_BUDGET_MAX)
		s->budget = HAULI_BUDGET_MAX;
	if (s->budget > fits)
		s->budget = (unsigned)fits;
	if (s->budget == 0)
		s->budget = 1;
}

/* True if hauli_slices_learn() with this mean would leave the budget at its maximum: n slices have
 * taken that many ticks. */
static inline bool hauli_slices_are_known(const struct hauli_slices *s, uint32_t n, uint64_t ticks)
{
	return s->budget == HAULI_BUDGET_MAX && ticks <= n * s->average;
}

#endif
