/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests to an object that one owner decides about: a set of bits that any thread adds to, and of
 * which the owner is told once per batch.
 *
 * Promise: every bit added is taken once or more, and the message that tells the owner is under way
 * at most once at a time, so it can be embedded in the object.
 *
 * One word. add: fetch_or; who finds it 0 sends the message. take (owner, on the message):
 * exchange with 0. Both are read-modify-writes of one word, so an add comes before the take, and
 * is taken by it, or after it, finds 0 (or an add that did) and a new message goes out. The
 * message's node is free again when take runs: the owner reads what it needs of it first.
 *
 *	E1  what the requester wrote before add, before what the owner does after take:
 *	    release in add, acquire in take.
 *	E2  the owner's reads of the message's node before its next use by a requester:
 *	    release in take, acquire in add.
 *
 * Model: tests/model/requests.c. Stress: tests/stress/unpark.c.
 */
#ifndef HAULI_CONC_REQUESTS_H
#define HAULI_CONC_REQUESTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct hauli_requests {
	_Atomic uint32_t bits; /* any thread */
};

static inline void hauli_requests_init(struct hauli_requests *r)
{
	atomic_init(&r->bits, 0);
}

/* Before others know of it: bits that the owner takes with the first others, unasked. Until then no
 * message is sent. */
static inline void hauli_requests_begin(struct hauli_requests *r, uint32_t bits)
{
	atomic_store_explicit(&r->bits, bits, memory_order_relaxed /* not known yet */);
}

/* Any thread. True: the caller, no other, has to send the message. */
static inline bool hauli_requests_add(struct hauli_requests *r, uint32_t bits)
{
	return atomic_fetch_or_explicit(
		       &r->bits, bits, memory_order_acq_rel /* requests.E1:R requests.E2:A */) == 0;
}

/* Owner, when the message has come and its node was read for the last time. */
static inline uint32_t hauli_requests_take(struct hauli_requests *r)
{
	return atomic_exchange_explicit(
		&r->bits, 0, memory_order_acq_rel /* requests.E1:A requests.E2:R */);
}

/* Owner. Whether a message is under way. */
static inline bool hauli_requests_pending(const struct hauli_requests *r)
{
	return atomic_load_explicit(&r->bits, memory_order_relaxed /* the message decides */) != 0;
}

#endif
