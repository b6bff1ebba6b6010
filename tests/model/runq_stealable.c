/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The check for work to steal, by the real ring and runq.c: the owner pushes a stealable
 * coroutine, a pinned one, and another stealable one; a thief steals, and a searcher checks. While
 * a stealable coroutine is queued, the check finds it, unless the thief has taken it, also during a
 * push.
 */
#include "sched/state/runq.h"

#include "explorer.h"

enum { FIRST, KEPT, SECOND, COROS };

static struct {
	struct hauli_runq q;
	struct haul_coro co[COROS];
	_Atomic uint64_t shown, taken; /* number of stealable coroutines */
} m;

static void init(void)
{
	hauli_ring_init(&m.q.ring);
	m.q.lifo_at = UINT32_MAX / 2;
	m.q.lifo_left = HAULI_LIFO_RUN;
	m.q.shared = true;
	model_own(&m.q.ring.slots, sizeof(m.q.ring.slots), 0);
	model_private(&m.q.ring.capacity, sizeof(m.q.ring.capacity), 0);
	m.co[KEPT].pinned = true;
}

static void show(struct haul_coro *co, uint64_t n)
{
	hauli_runq_push(&m.q, hauli_entry_of_begun(co));
	atomic_store_explicit(&m.shown, n, memory_order_release);
}

static void owner(void)
{
	show(&m.co[FIRST], 1);
	hauli_runq_push_pinned(&m.q, hauli_entry_of_begun(&m.co[KEPT]), hauli_runq_push);
	show(&m.co[SECOND], 2);
}

static bool may(const void *item)
{
	return hauli_coro_is_stealable(item);
}

static void thief(void)
{
	struct hauli_ring *r = &m.q.ring;

	if (!hauli_ring_try_steal(r))
		return;
	while (hauli_ring_steal(r, may))
		atomic_fetch_add_explicit(&m.taken, 1, memory_order_release);
	hauli_ring_end_steal(r);
}

static void looker(void)
{
	uint64_t shown = atomic_load_explicit(&m.shown, memory_order_acquire);

	/* An exchange reads the latest value, where a load may read an older one: the check is a
	 * hint, and acquires nothing else. */
	if (!hauli_ring_has_stealable(&m.q.ring))
		MODEL_ASSERT(atomic_fetch_add_explicit(&m.taken, 0, memory_order_acquire) >= shown);
}

static void check(void)
{
	MODEL_ASSERT(m.taken == 2 || hauli_ring_has_stealable(&m.q.ring));
	thief();
	MODEL_ASSERT(m.taken == 2 && !hauli_ring_has_stealable(&m.q.ring));
	hauli_runq_push_pinned(&m.q, hauli_entry_of_begun(&m.co[KEPT]), hauli_runq_push_first);
	MODEL_ASSERT(!hauli_ring_has_stealable(&m.q.ring));
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "what thieves may take, stealable",
			.nb_threads = 3,
			.threads = {owner, thief, looker},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
