/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The extent of a block (a scope, a shield, a bound value: haul/scope.h): what holds for the waits
 * inside the block, such as a deadline; it is like a dynamic extent in Lisp. Extents lie on the
 * coroutine's stack, linked from the innermost one to the outermost; the outermost one of a scope's
 * child is the scope's extent, which stays until the child has ended.
 *
 * A coroutine enters and leaves extents at home, so its home may follow co->extent at any time. A
 * child sets co->extent when it begins, wherever it runs.
 */
#ifndef HAULI_SCHED_WAIT_EXTENT_H
#define HAULI_SCHED_WAIT_EXTENT_H

#include "sched/state/carrier.h"

struct hauli_extent {
	struct hauli_extent *outer;
	struct haul_coro *owner; /* NULL: not entered */
	uint64_t deadline; /* of the waits inside: on haul_now()'s clock, or HAUL_FOREVER */
	struct hauli_extent *shield; /* the owner's innermost shield around the waits, or NULL */
	struct hauli_u8_shared cancelled; /* of a shield: it keeps a cancel. Any thread */
	const void *key; /* of a bound value, or NULL */
	void *value;
};

/* The running coroutine, at home. The caller has set f's key, value and deadline. Unless shields,
 * an earlier deadline of the outer extent replaces f's. */
void hauli_extent_enter(struct haul_coro *me, struct hauli_extent *f, bool shields);
/* Ends the program with an error line if f is not the innermost extent. */
void hauli_extent_leave(struct haul_coro *me, struct hauli_extent *f, const char *call);

/* A child, before its first wait, and after its last one; f: the extent of the scope. */
void hauli_extent_inherit(struct haul_coro *me, struct hauli_extent *f);
void hauli_extent_disown(struct haul_coro *me);

static inline struct hauli_extent *hauli_extent_of(const struct haul_coro *co)
{
	return hauli_ptr_published_get(&co->extent);
}

uint64_t hauli_extent_deadline_slow(struct haul_coro *me, uint64_t deadline);
bool hauli_extent_keeps_cancel_slow(struct haul_coro *co);

/* The deadline of a wait: that of the extents if it is earlier. If the deadline of a shield has
 * passed, a cancel that the shield has kept takes effect. */
static inline uint64_t hauli_extent_deadline(struct haul_coro *me, uint64_t deadline)
{
	return hauli_extent_of(me) ? hauli_extent_deadline_slow(me, deadline) : deadline;
}

/* The home. True: co does not see the cancel that has come, because it is in a shield, which keeps
 * it for later. */
static inline bool hauli_extent_keeps_cancel(struct haul_coro *co)
{
	return hauli_extent_of(co) && hauli_extent_keeps_cancel_slow(co);
}

#endif
