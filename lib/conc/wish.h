/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A wish: a value that any thread sets, and that one thread, the owner, carries out. A message
 * tells the owner of it. At most one is under way, so its memory can be part of the owner's.
 *
 *	any thread: make           owner, on the message: take
 *	exchange: the value, told  clear told
 *	it was not told:           carry out the value
 *	    send the message
 *
 * E1	The owner carries out the last wish. Both steps read the word that they change. So a wish
 *	that finds the word told is there when the owner clears that, or a later one is.
 * E2	Whoever sends the message may write to its memory: told was cleared after the owner had
 *	read the message, and the exchange that finds it cleared acquires what the owner released.
 *
 * Model: tests/model/wish.c. Stress: tests/stress/steal.c.
 */
#ifndef HAULI_CONC_WISH_H
#define HAULI_CONC_WISH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HAULI_WISH_TOLD 1u

struct hauli_wish {
	atomic_uint word; /* the value, shifted, and TOLD */
};

/* Any thread. True: the caller sends the message. */
static inline bool hauli_wish_make(struct hauli_wish *w, uint32_t value)
{
	return !(atomic_exchange_explicit(&w->word, value << 1 | HAULI_WISH_TOLD,
			 memory_order_acquire /* wish.E2:A */) &
		HAULI_WISH_TOLD);
}

/* The owner, once for each message. Returns the value. */
static inline uint32_t hauli_wish_take(struct hauli_wish *w)
{
	return atomic_fetch_and_explicit(
		       &w->word, ~HAULI_WISH_TOLD, memory_order_release /* wish.E2:R */) >>
		1;
}

#endif
