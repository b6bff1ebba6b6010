/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: while one carrier has more than it can run and another one sleeps, some carrier is
 * searching, or will look for members that want help before it sleeps.
 *
 *	word    written by                              meaning
 *	idle    its member                              callers find a sleeper by it
 *	wanted  callers set a bit; a thread that has    searchers serve these members
 *	        seen no work clears it
 *	tokens  searchers                               free rights to search
 *
 * Three pairs. In D1 and D2 each side stores to one word and then loads the other's, with a barrier
 * in between, so that one of the two sees the other's store. In D3 both write the same word.
 *
 *	D1  caller: publishes work; looks for a sleeper (hauli_help_any_idle)
 *	    sleeper: sets its idle bit (hauli_help_set_idle), passes hauli_help_barrier(), looks for
 *	    work
 *	    So the caller finds the sleeper, or the sleeper finds the work. Each spawn and each
 *	    wake-up of a coroutine is a caller, so the barrier of the sleeper is the heavy one and
 *	    the caller's costs nothing (conc/fence.h). The heavy fence may come later: a sleeper
 *	    may sleep for a while without it, and callers that see its bit wake it, provided that
 *	    it wakes by itself and passes the fence then.
 *	D2  caller: sets the help-wanted bit; asks for a token (hauli_help_request, take_token)
 *	    searcher: gives its token back; looks for help-wanted bits (hauli_help_give_token)
 *	    So the caller gets a token, or the searcher finds the bit: a caller that got no token
 *	    leaves the work to the searcher.
 *	D3  caller: publishes work; sets the help-wanted bit (hauli_help_request)
 *	    searcher: clears the bit; looks for work (hauli_help_clear_request)
 *	    Both access the bit by a read-modify-write. If the caller's comes later, the bit stays;
 *	    if it comes earlier, the searcher acquires it and sees the work.
 *
 *	E1  the barrier of D1, light and heavy, and of D2, full. On x86 the read-modify-write
 *	    before D2's is one already; on other CPUs it is not.
 *	E2  the caller's work before the searcher's look after clear_request: release, acquire.
 *	E3  the accesses of a token's holder before those of the next holder: release, acquire.
 *
 * The choice of the sleeper to wake is a hint: it may be awake by then. The search is handed to it
 * by a message (sched/state/policy.c), and messages are not lost.
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
		atomic_init(&h->idle[w], 0);
		atomic_init(&h->wanted[w], 0);
	}
	h->nb_words = (members + 63) / 64;
	atomic_init(&h->tokens, searches >= 32 ? UINT32_MAX : (UINT32_C(1) << searches) - 1);
}

void hauli_help_set_idle(struct hauli_help *h, unsigned i)
{
	atomic_fetch_or_explicit(&h->idle[i / 64], bit(i), memory_order_relaxed /* barrier */);
}

void hauli_help_barrier(void)
{
	hauli_fence_heavy(); /* help.E1 */
}

void hauli_help_clear_idle(struct hauli_help *h, unsigned i)
{
	atomic_fetch_and_explicit(&h->idle[i / 64], ~bit(i), memory_order_relaxed /* a hint */);
}

/* The first set bit from i on, cyclically. */
static int next(const struct hauli_help *h, const _Atomic uint64_t *words, unsigned i)
{
	uint64_t before = 0; /* the bits below i in the word of i: they come last */

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

int hauli_help_next_idle(const struct hauli_help *h, unsigned i)
{
	return next(h, h->idle, i);
}

bool hauli_help_request(struct hauli_help *h, unsigned i)
{
	if (!hauli_help_any_idle(h))
		return false;
	atomic_fetch_or_explicit(&h->wanted[i / 64], bit(i), memory_order_release /* help.E2:R */);
	hauli_fence_full(); /* help.E1 */
	return true;
}

void hauli_help_clear_request(struct hauli_help *h, unsigned i)
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
