/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests to an object with one owner: a set of bits that any thread adds to. One message tells
 * the owner of all bits that were added before it takes them.
 *
 * Promise: a later take returns the bits of each add, and at most one message is under way at a
 * time, so its node can be embedded in the object.
 *
 * One word. add is a fetch_or; the requester that finds 0 sends the message. take (owner, when the
 * message has come) is an exchange with 0. Both are read-modify-writes of one word. An add before
 * the take is returned by it. An add after the take finds 0, and its requester sends a new message,
 * or finds the bits of such an add. When take runs, the node of the message is free again: the
 * owner reads the node before.
 *
 *	E1  the requester's writes before add, before the owner's reads after take:
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

/* Before other threads know the object. The first take returns these bits too; since no add before
 * that take asks for a message, the owner must take without one. */
static inline void hauli_requests_begin(struct hauli_requests *r, uint32_t bits)
{
	atomic_store_explicit(&r->bits, bits, memory_order_relaxed /* not known yet */);
}

/* Any thread. True: this caller, and no other, must send the message. */
static inline bool hauli_requests_add(struct hauli_requests *r, uint32_t bits)
{
	return atomic_fetch_or_explicit(
		       &r->bits, bits, memory_order_acq_rel /* requests.E1:R requests.E2:A */) == 0;
}

/* Owner, after its last read of the node of the message that has come. */
static inline uint32_t hauli_requests_take(struct hauli_requests *r)
{
	return atomic_exchange_explicit(
		&r->bits, 0, memory_order_acq_rel /* requests.E1:A requests.E2:R */);
}

/* Owner. True: a message is under way. */
static inline bool hauli_requests_pending(const struct hauli_requests *r)
{
	return atomic_load_explicit(&r->bits, memory_order_relaxed /* the message decides */) != 0;
}

#endif
