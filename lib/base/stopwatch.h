/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sum of intervals, in ticks of hauli_ticks(), with one writer at a time and any number of
 * readers. A reader sees the running interval too. All of it is one word, so no reader sees half of
 * a change: 2 * sum while stopped; 2 * (sum - start) + 1 while running.
 */
#ifndef HAULI_BASE_STOPWATCH_H
#define HAULI_BASE_STOPWATCH_H

#include <stdbool.h>

#include "base/counter.h"

struct hauli_stopwatch {
	struct hauli_counter word;
};

static inline bool hauli_stopwatch_runs(const struct hauli_stopwatch *w)
{
	return hauli_counter_read(&w->word) & 1;
}

/* The writer; w is stopped. */
static inline void hauli_stopwatch_start(struct hauli_stopwatch *w, uint64_t now)
{
	hauli_counter_add(&w->word, 1 - 2 * now);
}

/* The writer; w runs. */
static inline void hauli_stopwatch_stop(struct hauli_stopwatch *w, uint64_t now)
{
	hauli_counter_add(&w->word, 2 * now - 1);
}

/* The sum in a word that was read. now may be a little before the start, which is by another CPU's
 * counter. A stopped word ignores now. */
static inline uint64_t hauli_stopwatch_sum(uint64_t word, uint64_t now)
{
	int64_t twice = (int64_t)(word & 1 ? word - 1 + 2 * now : word);

	return twice > 0 ? (uint64_t)twice / 2 : 0;
}

/* Any thread. */
static inline uint64_t hauli_stopwatch_read(const struct hauli_stopwatch *w, uint64_t now)
{
	return hauli_stopwatch_sum(hauli_counter_read(&w->word), now);
}

#endif
