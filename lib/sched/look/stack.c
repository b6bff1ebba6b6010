/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call stack of one coroutine, for a thread that has only its address, which may be outdated,
 * or any number.
 *
 * The address counts only if an object of the slab begins there: these stay mapped. Whether that is
 * a coroutine with this home, the home's thread decides in the snapshot. What the shot has of the
 * coroutine's own memory, its name, may be gone by then, and is read as such.
 */
#include <haul/look.h>

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/race.h"
#include "coro/trace.h"
#include "sched/look/peek.h"
#include "sched/look/snapshot.h"
#include "sched/state/runtime.h"

_Static_assert(HAUL_STACK_FRAMES >= HAULI_SHOT_DEPTH, "each frame of a shot has a place");

static const char *what_of(const struct hauli_shot *s)
{
	static const char *const waits[] = {
		[HAULI_CORO_PARKED] = "parked",
		[HAULI_CORO_SLEEPING] = "sleeping",
		[HAULI_CORO_JOINING] = "the end of",
		[HAULI_CORO_BLOCKED] = "blocked",
		[HAULI_CORO_ORDER_WAIT] = "order",
	};

	if (s->stolen)
		return "stolen";
	if (!s->begun)
		return "not begun";
	if (s->runs)
		return "running";
	if (!hauli_state_waits(s->state))
		return "ready";
	return s->what ? s->what : waits[s->state];
}

static void tell_frames(const struct hauli_shot *s, struct haul_stack *to)
{
	void *const *pcs = s->pcs;
	unsigned n = s->n;

	hauli_trace_trim_own(&pcs, &n);
	for (unsigned i = 0; i < n; i++) {
		to->frames[i].pc = pcs[i];
		hauli_trace_place(pcs[i], to->frames[i].place, HAUL_STACK_TEXT);
	}
	to->nb_frames = n;
}

/* Its carrier may take it at any time. */
HAULI_MAY_RACE static int tell_homeless(const struct haul_coro *co, struct haul_stack *to)
{
	HAULI_RACES(co);
	if (hauli_coro_state(co) != HAULI_CORO_HOMELESS)
		return -ESRCH;
	hauli_peek_text(to->name, co->co.name);
	strcpy(to->what, "no carrier");
	return 0;
}

int haul_stack(const struct haul_runtime *rt, const void *coro, struct haul_stack *stack)
{
	struct hauli_shot shot = {.co = coro};
	const struct haul_carrier *home;

	HAUL_MISUSE_IF(!rt || !stack, "the runtime or the result is NULL");
	*stack = (struct haul_stack){0};
	if (!hauli_slab_has(rt->coros, coro))
		return -ESRCH;
	home = hauli_coro_home(coro);
	if (!home)
		return tell_homeless(coro, stack);
	if (!hauli_snapshot(home, &shot, 1))
		return -ETIMEDOUT;
	if (!shot.taken)
		return -ESRCH;
	stack->carrier = home->id;
	stack->hibernates = shot.hibernates;
	hauli_peek_text(stack->name, shot.name);
	hauli_peek_text(stack->what, what_of(&shot));
	tell_frames(&shot, stack);
	return 0;
}
