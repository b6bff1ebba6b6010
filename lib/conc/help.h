/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words by which carriers that may help each other find out who needs help and who is free.
 * The argument why no call for help is lost is in help.c. Members are numbered from 0.
 */
#ifndef HAULI_CONC_HELP_H
#define HAULI_CONC_HELP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cacheline.h"
#include "conc/fence.h"

#define HAULI_HELP_WORDS 4
#define HAULI_HELP_MEMBERS (64 * HAULI_HELP_WORDS)

struct hauli_help {
	HAULI_LINE _Atomic uint64_t parked[HAULI_HELP_WORDS]; /* asleep, or about to be */
	HAULI_LINE _Atomic uint64_t wanted[HAULI_HELP_WORDS]; /* has more than it can run */
	HAULI_LINE _Atomic uint32_t tokens; /* a bit for each search that may begin */
	unsigned nb_words; /* constant */
};

/* At most HAULI_HELP_MEMBERS. searches: how many may be under way at once, 1 to 32. */
void hauli_help_init(struct hauli_help *h, unsigned members, unsigned searches);

/* Member i is about to sleep: from now on it is found, by most. */
void hauli_help_lie_down(struct hauli_help *h, unsigned i);

/* Who has lain down, before it looks for work: what it sees after this is not older than what a
 * caller who does not find it has done. A system call, and an interrupt to each CPU that runs a
 * thread of the process. */
void hauli_help_settle(void);

/* It sleeps no more. Itself: another one might take away the mark of its next sleep. */
void hauli_help_get_up(struct hauli_help *h, unsigned i);

/* For who has put something where others find it: whether there is anybody to call. Any thread. */
static inline bool hauli_help_has_sleepers(const struct hauli_help *h)
{
	uint64_t parked = 0;

	hauli_fence_light(); /* help.E1 */
#pragma GCC unroll 4
	for (unsigned w = 0; w < HAULI_HELP_WORDS; w++)
		parked |= atomic_load_explicit(&h->parked[w], memory_order_relaxed /* help.E1 */);
	return parked != 0;
}

/* For member i, which has something that others could run, and has put it where they find it: marks
 * it as wanting help if somebody sleeps who could give it. Any thread. */
bool hauli_help_call(struct hauli_help *h, unsigned i);

/* Member i has nothing to be helped with as far as the caller saw; it has to look once more. */
void hauli_help_forget(struct hauli_help *h, unsigned i);

/* The first member from i on that wants help, or that is parked; -1: none. Round the end. */
int hauli_help_next_wanted(const struct hauli_help *h, unsigned i);
int hauli_help_next_parked(const struct hauli_help *h, unsigned i);

/* The right to search, or -1. Who has it looks after all that want help, and before it gives the
 * right back hands it to a sleeper if some still do. */
int hauli_help_take_token(struct hauli_help *h);

/* After it the caller has to look whether anybody wants help. */
void hauli_help_give_token(struct hauli_help *h, int token);

#endif
