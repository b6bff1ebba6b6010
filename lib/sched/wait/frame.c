/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/wait/frame.h"

#include "sched/state/self.h"
#include "sched/wait/suspend.h"

#define CANCELLED 1

/* Makes f the innermost frame. Its waits take the slow path if a deadline or a shield is around
 * them. */
static void set(struct haul_coro *me, struct hauli_frame *f)
{
	bool matters = f && f->deadline != HAUL_FOREVER;

	hauli_ptr_published_set(&me->frame, f);
	if (matters)
		hauli_u8_shared_set_bits(&me->flags, HAULI_FLAG_FRAMED);
	else
		hauli_u8_shared_clear_bits(&me->flags, HAULI_FLAG_FRAMED);
}

void hauli_frame_enter(struct haul_coro *me, struct hauli_frame *f, bool shields)
{
	struct hauli_frame *outer = hauli_frame_of(me);

	f->outer = outer;
	f->owner = me;
	f->shield = outer && outer->owner == me ? outer->shield : NULL;
	hauli_u8_shared_init(&f->cancelled, 0);
	if (shields) {
		f->shield = f;
		if (hauli_coro_is_cancelled(me))
			hauli_u8_shared_init(&f->cancelled, CANCELLED);
		hauli_u8_shared_clear_bits(&me->flags, HAULI_FLAG_CANCELLED);
	} else if (outer && outer->deadline < f->deadline) {
		f->deadline = outer->deadline;
	}
	set(me, f);
}

/* Gives the cancel that f has kept to the shield around f, or to me. */
static void pass_on(struct haul_coro *me, struct hauli_frame *f)
{
	struct hauli_frame *outer = f->outer && f->outer->owner == me ? f->outer->shield : NULL;

	if (!hauli_u8_shared_get(&f->cancelled))
		return;
	if (outer)
		hauli_u8_shared_set_bits(&outer->cancelled, CANCELLED);
	else
		hauli_u8_shared_set_bits(&me->flags, HAULI_FLAG_CANCELLED);
}

void hauli_frame_leave(struct haul_coro *me, struct hauli_frame *f, const char *call)
{
	if (hauli_frame_of(me) != f)
		hauli_misuse(call, "the block ends before one inside it, or in another coroutine");
	set(me, f->outer);
	if (f->shield == f)
		pass_on(me, f);
	f->owner = NULL;
}

void hauli_frame_inherit(struct haul_coro *me, struct hauli_frame *f)
{
	set(me, f);
}

void hauli_frame_disown(struct haul_coro *me)
{
	set(me, NULL);
}

uint64_t hauli_frame_bound_slow(struct haul_coro *me, uint64_t deadline)
{
	struct hauli_frame *f = hauli_frame_of(me);

	if (f->shield && f->owner == me && hauli_u8_shared_get(&f->shield->cancelled) &&
		haul_now() >= f->shield->deadline)
		hauli_u8_shared_set_bits(&me->flags, HAULI_FLAG_CANCELLED);
	return deadline < f->deadline ? deadline : f->deadline;
}

bool hauli_frame_keeps_cancel_slow(struct haul_coro *co)
{
	struct hauli_frame *f = hauli_frame_of(co), *shield;

	shield = f->owner == co ? f->shield : NULL;
	if (!shield)
		return false;
	hauli_u8_shared_set_bits(&shield->cancelled, CANCELLED);
	return true;
}
