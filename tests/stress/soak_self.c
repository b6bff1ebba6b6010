/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of the soak on coroutines that show others who they are, and on the caller itself. */
#include <stdlib.h>

#include "base/clock.h"
#include "soak.h"

#define KNOWN 4

/* A coroutine that others may unpark or cancel, until it takes itself out of the table; on the
 * heap, as it may hibernate. */
struct known {
	struct haul_coro *co;
	atomic_bool done; /* another one has taken it out, and has used it */
};

static _Atomic(struct known *) known[KNOWN];

/* The request may be under way when the caller ends. */
void soak_is_known(struct actor *a)
{
	struct known *me = calloc(1, sizeof(*me)), *here = me, *empty = NULL;
	unsigned i = below(a, KNOWN);

	RIGHT(me != NULL);
	me->co = haul_self();
	if (atomic_compare_exchange_strong(&known[i], &empty, me)) {
		if (below(a, 2))
			soak_computes(a);
		else
			done(haul_park(draw_deadline(a)));
		if (!atomic_compare_exchange_strong(&known[i], &here, NULL))
			while (!me->done)
				hauli_cpu_pause(); /* in a simulation others go on */
	}
	free(me);
}

/* Nothing comes between: another coroutine here does not wait for it. */
void soak_pokes(struct actor *a)
{
	struct known *other = atomic_exchange(&known[below(a, KNOWN)], NULL);

	if (!other)
		return;
	if (below(a, 4))
		haul_unpark(other->co);
	else
		haul_cancel(other->co);
	other->done = true;
}

void soak_changes_itself(struct actor *a)
{
	switch (below(a, 5)) {
	case 0:
		haul_cancel(haul_self());
		break;
	case 1:
		haul_unpark(haul_self());
		break;
	case 2:
		haul_unpark(haul_self());
		done(haul_park(draw_deadline(a)));
		break;
	case 3:
		haul_pin();
		if (below(a, 2))
			haul_unpin();
		break;
	default:
		RIGHT(haul_join(haul_self(), NULL, HAUL_FOREVER) == -EDEADLK);
		break;
	}
}

/* Without switches; gcc would keep the array of one that is inlined. */
static __attribute__((noinline)) unsigned fills(unsigned n)
{
	volatile unsigned char bytes[4 << 10];

	for (unsigned i = 0; i < sizeof(bytes); i += 64)
		bytes[i] = (unsigned char)n;
	return bytes[n % sizeof(bytes) & ~63u];
}

void soak_goes_deep(struct actor *a)
{
	unsigned n = below(a, 256);

	RIGHT(fills(n) == n);
}

/* One with a handle, which is detached later, and others without. */
void soak_spawns_and_goes_on(struct actor *a)
{
	struct haul_coro *co = NULL;

	for (unsigned n = below(a, 3); n > 0; n--)
		(void)spawned(haul_spawn(NULL, soak_leaf, NULL, NULL));
	if (!spawned(haul_spawn(&co, soak_leaf, NULL, NULL)))
		return;
	if (below(a, 3) == 0)
		haul_cancel(co);
	haul_detach(co);
}

/* Most of these do not suspend the caller. */
void soak_step_without_wait(struct actor *a)
{
	static void (*const steps[])(struct actor * a) = {soak_computes, soak_is_known, soak_pokes,
		soak_changes_itself, soak_goes_deep, soak_spawns_and_goes_on, soak_bumps,
		soak_locks, soak_sends};
	unsigned kind = below(a, 40);

	if (kind < sizeof(steps) / sizeof(steps[0]))
		steps[kind](a);
}
