/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words by which the carriers of one group find out which of them needs help and which of them
 * sleeps. The argument why no request for help is lost is in help.c. Members are numbered from 0.
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

/* Sets of members, a bit each. */
struct hauli_help {
	HAULI_LINE _Atomic uint64_t idle[HAULI_HELP_WORDS]; /* asleep, or about to be */
	HAULI_LINE _Atomic uint64_t wanted[HAULI_HELP_WORDS]; /* has more than it can run */
	HAULI_LINE _Atomic uint32_t tokens; /* a bit for each search that may begin */
	unsigned nb_words; /* constant */
};

/* members: 1 to HAULI_HELP_MEMBERS. searches: the most at the same time, 1 to 32. */
void hauli_help_init(struct hauli_help *h, unsigned members, unsigned searches);

/* Member i is about to sleep. A caller may miss its idle bit until hauli_help_barrier(). */
void hauli_help_set_idle(struct hauli_help *h, unsigned i);

/* A member between set_idle and its search for work. After this, any caller that missed its idle
 * bit has published its work. Costs a system call, and an interrupt to each CPU that runs a thread
 * of the process. */
void hauli_help_barrier(void);

/* Member i itself, awake: another thread might clear the bit of its next sleep. */
void hauli_help_clear_idle(struct hauli_help *h, unsigned i);

/* Any thread, after it has published work. True: a member sleeps that could help. */
static inline bool hauli_help_any_idle(const struct hauli_help *h)
{
	uint64_t idle = 0;

	hauli_fence_light(); /* help.E1 */
#pragma GCC unroll 4
	for (unsigned w = 0; w < HAULI_HELP_WORDS; w++)
		idle |= atomic_load_explicit(&h->idle[w], memory_order_relaxed /* help.E1 */);
	return idle != 0;
}

/* Any thread, after it has published work of member i that others could run. If a member sleeps:
 * sets the help-wanted bit of member i and returns true. */
bool hauli_help_request(struct hauli_help *h, unsigned i);

/* Clears the help-wanted bit of member i, which had no work. The caller must look once more. */
void hauli_help_clear_request(struct hauli_help *h, unsigned i);

/* The first member from i on, cyclically, that wants help, or that is idle; -1: none. */
int hauli_help_next_wanted(const struct hauli_help *h, unsigned i);
int hauli_help_next_idle(const struct hauli_help *h, unsigned i);

/* The right to search, as a token, or -1. Its holder serves the members that want help. When it
 * stops, it hands the token to a sleeper if any member still does, and else gives it back. */
int hauli_help_take_token(struct hauli_help *h);

/* After this call the caller must look whether any member wants help. */
void hauli_help_give_token(struct hauli_help *h, int token);

#endif
