/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames: what a block of a coroutine puts around the waits inside it (haul/scope.h). They lie on
 * the coroutine's stack, linked from the innermost one to the outermost; the outermost one of a
 * scope's child is the scope's frame, which stays until the child has ended.
 *
 * A coroutine enters and leaves frames at home, so its home may follow co->frame at any time. A
 * child sets co->frame when it begins, wherever it runs.
 */
#ifndef HAULI_SCHED_WAIT_FRAME_H
#define HAULI_SCHED_WAIT_FRAME_H

#include "sched/state/carrier.h"

struct hauli_frame {
	struct hauli_frame *outer;
	struct haul_coro *owner; /* NULL: not entered */
	uint64_t deadline; /* of the waits inside: on haul_now()'s clock, or HAUL_FOREVER */
	struct hauli_frame *shield; /* the owner's innermost shield around the waits, or NULL */
	struct hauli_u8_shared cancelled; /* a shield: a cancel has come. Any thread */
	const void *key; /* a value's, or NULL */
	void *value;
};

/* The running coroutine, at home. f: key, value and deadline are set; the least of the frames' is
 * taken, unless shields. */
void hauli_frame_enter(struct haul_coro *me, struct hauli_frame *f, bool shields);
/* Ends the program with a line if f is not the innermost frame. */
void hauli_frame_leave(struct haul_coro *me, struct hauli_frame *f, const char *call);

/* A child, before its first wait, and after its last; f: the scope's. */
void hauli_frame_inherit(struct haul_coro *me, struct hauli_frame *f);
void hauli_frame_disown(struct haul_coro *me);

static inline struct hauli_frame *hauli_frame_of(const struct haul_coro *co)
{
	return hauli_ptr_published_get(&co->frame);
}

uint64_t hauli_frame_bound_slow(struct haul_coro *me, uint64_t deadline);
bool hauli_frame_keeps_cancel_slow(struct haul_coro *co);

/* The deadline of a wait: the frames' if that is earlier. A cancel counts again if the shield's
 * time is over. */
static inline uint64_t hauli_frame_bound(struct haul_coro *me, uint64_t deadline)
{
	return hauli_frame_of(me) ? hauli_frame_bound_slow(me, deadline) : deadline;
}

/* The home. True: co does not see the cancel that has come, because it is in a shield, which keeps
 * it for later. */
static inline bool hauli_frame_keeps_cancel(struct haul_coro *co)
{
	return hauli_frame_of(co) && hauli_frame_keeps_cancel_slow(co);
}

#endif
