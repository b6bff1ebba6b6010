/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: when a carrier has more than it can run and another one sleeps, somebody is looking
 * after it, or will look before it sleeps.
 *
 *	word    written by                              meaning
 *	parked  its member                              found by those who call for help
 *	wanted  who calls for a member; who has seen    what a searcher looks after
 *	        that there is nothing
 *	tokens  searchers                               how many more may search
 *
 * Three pairs of a store and a load of another word, each with a barrier on both sides, so that one
 * of the two sees the other's store:
 *
 *	D1  caller: puts work on show; looks for a sleeper (hauli_help_has_sleepers)
 *	    sleeper: is found from now on (hauli_help_lie_down); looks for work after
 *	    hauli_help_settle()
 *	    So the caller finds the sleeper, or the sleeper the work. Callers are many, each spawn
 *	    and wake-up of a running coroutine is one, so the sleeper's barrier is the heavy one
 *	    and theirs costs nothing (conc/fence.h). It need not come at once: a sleeper may lie
 *	    there unsettled for a while, found by those who look for it, if it gets up by itself to
 *	    settle.
 *	D2  caller: is marked as wanting help; asks for a token (hauli_help_call, take_token)
 *	    searcher: gives its token back; looks who wants help (hauli_help_give_token)
 *	    So the caller gets the token, or the searcher finds the mark: a refused call is not
 *	    lost.
 *	D3  caller: puts work on show; marks its member (hauli_help_call)
 *	    searcher: takes the mark away; looks for work (hauli_help_forget)
 *	    Both touch the mark by a read-modify-write: the caller's comes later, and the mark
 *	    stays, or earlier, and the searcher, who acquires it, sees the work.
 *
 *	E1  the barrier of D1, light and heavy, and of D2, full. On x86 the read-modify-write
 *	    before D2's is one already; elsewhere it is not.
 *	E2  the caller's work before the searcher's look after forget: release, acquire.
 *	E3  what was done with a token before what its next holder does: release, acquire.
 *
 * Which member is woken is a hint: it may be up by the time. The search is a message to it
 * (sched/policy.c), and messages are not lost.
 *
 * Model: tests/model/help.c, asleep.c, asleep_poller.c. Stress: tests/stress/steal.c.
 */
#include "conc/help.h"

#include "conc/fence.h"

static uint64_t bit(unsigned i)
{
	return UINT64_C(1) << (i % 64);
}

void hauli_help_init(struct hauli_help *h, unsigned members, unsigned searches)
{
	for (unsigned w = 0; w < HAULI_HELP_WORDS; w++) {
		atomic_init(&h->parked[w], 0);
		atomic_init(&h->wanted[w], 0);
	}
	h->nb_words = (members + 63) / 64;
	atomic_init(&h->tokens, searches >= 32 ? UINT32_MAX : (UINT32_C(1) << searches) - 1);
}

void hauli_help_lie_down(struct hauli_help *h, unsigned i)
{
	atomic_fetch_or_explicit(&h->parked[i / 64], bit(i), memory_order_relaxed /* settle */);
}

void hauli_help_settle(void)
{
	hauli_fence_heavy(); /* help.E1 */
}

void hauli_help_get_up(struct hauli_help *h, unsigned i)
{
	atomic_fetch_and_explicit(&h->parked[i / 64], ~bit(i), memory_order_relaxed /* a hint */);
}

/* The first set bit from i on, round the end. */
static int next(const struct hauli_help *h, const _Atomic uint64_t *words, unsigned i)
{
	uint64_t before = 0; /* of the word of i, those before i: they come last */

	for (unsigned n = 0; n < h->nb_words; n++) {
		unsigned w = (i / 64 + n) % h->nb_words;
		uint64_t set = atomic_load_explicit(&words[w], memory_order_relaxed /* a hint */);

		if (n == 0) {
			before = set & (bit(i) - 1);
			set &= ~before;
		}
		if (set)
			return (int)(64 * w) + __builtin_ctzll(set);
	}
	return before ? (int)(i / 64 * 64) + __builtin_ctzll(before) : -1;
}

int hauli_help_next_wanted(const struct hauli_help *h, unsigned i)
{
	return next(h, h->wanted, i);
}

int hauli_help_next_parked(const struct hauli_help *h, unsigned i)
{
	return next(h, h->parked, i);
}

bool hauli_help_call(struct hauli_help *h, unsigned i)
{
	if (!hauli_help_has_sleepers(h))
		return false;
	atomic_fetch_or_explicit(&h->wanted[i / 64], bit(i), memory_order_release /* help.E2:R */);
	hauli_fence_full(); /* help.E1 */
	return true;
}

void hauli_help_forget(struct hauli_help *h, unsigned i)
{
	atomic_fetch_and_explicit(
		&h->wanted[i / 64], ~bit(i), memory_order_acquire /* help.E2:A */);
}

int hauli_help_take_token(struct hauli_help *h)
{
	uint32_t free = atomic_load_explicit(&h->tokens, memory_order_relaxed /* a guess */);

	while (free != 0)
		if (atomic_compare_exchange_weak_explicit(&h->tokens, &free, free & (free - 1),
			    memory_order_acquire /* help.E3:A */,
			    memory_order_relaxed /* a new guess */))
			return __builtin_ctz(free);
	return -1;
}

void hauli_help_give_token(struct hauli_help *h, int token)
{
	atomic_fetch_or_explicit(
		&h->tokens, UINT32_C(1) << token, memory_order_release /* help.E3:R */);
	hauli_fence_full(); /* help.E1 */
}
