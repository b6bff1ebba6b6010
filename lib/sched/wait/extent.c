/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/wait/extent.h"

#include "sched/state/self.h"
#include "sched/wait/suspend.h"

#define CANCELLED 1

/* Makes f the innermost extent. Its waits take the slow path if a deadline is around them; a shield
 * without one concerns only the home, when a cancel comes. */
static void set(struct haul_coro *me, struct hauli_extent *f)
{
	bool matters = f && f->deadline != HAUL_FOREVER;

	hauli_ptr_published_set(&me->extent, f);
	if (matters)
		hauli_u8_shared_set_bits(&me->flags, HAULI_FLAG_BOUNDED);
	else
		hauli_u8_shared_clear_bits(&me->flags, HAULI_FLAG_BOUNDED);
}

void hauli_extent_enter(struct haul_coro *me, struct hauli_extent *f, bool shields)
{
	struct hauli_extent *outer = hauli_extent_of(me);

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

/* If the shield f has kept a cancel: gives it to the shield around f, or to me. */
static void pass_on(struct haul_coro *me, struct hauli_extent *f)
{
	struct hauli_extent *outer = f->outer && f->outer->owner == me ? f->outer->shield : NULL;

	if (!hauli_u8_shared_get(&f->cancelled))
		return;
	if (outer)
		hauli_u8_shared_set_bits(&outer->cancelled, CANCELLED);
	else
		hauli_u8_shared_set_bits(&me->flags, HAULI_FLAG_CANCELLED);
}

void hauli_extent_leave(struct haul_coro *me, struct hauli_extent *f, const char *call)
{
	if (hauli_extent_of(me) != f)
		hauli_misuse(call, "the block ends before one inside it, or in another coroutine");
	set(me, f->outer);
	if (f->shield == f)
		pass_on(me, f);
	f->owner = NULL;
}

void hauli_extent_inherit(struct haul_coro *me, struct hauli_extent *f)
{
	set(me, f);
}

void hauli_extent_disown(struct haul_coro *me)
{
	set(me, NULL);
}

uint64_t hauli_extent_deadline_slow(struct haul_coro *me, uint64_t deadline)
{
	struct hauli_extent *f = hauli_extent_of(me);

	if (f->shield && f->owner == me && hauli_u8_shared_get(&f->shield->cancelled) &&
		haul_now() >= f->shield->deadline)
		hauli_u8_shared_set_bits(&me->flags, HAULI_FLAG_CANCELLED);
	return deadline < f->deadline ? deadline : f->deadline;
}

bool hauli_extent_keeps_cancel_slow(struct haul_coro *co)
{
	struct hauli_extent *f = hauli_extent_of(co), *shield;

	shield = f->owner == co ? f->shield : NULL;
	if (!shield)
		return false;
	hauli_u8_shared_set_bits(&shield->cancelled, CANCELLED);
	return true;
}
