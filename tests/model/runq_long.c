/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long ones of a run queue (lib/sched/state/runq.h), by the real ring and runq.c: the owner's
 * coroutine becomes long behind another long one, and the owner runs what has its turn, while a
 * thief takes what it finds. Each is taken once, and none before its context is saved.
 */
#include "sched/state/runq.h"

#include "explorer.h"

enum { FIRST, SECOND, COROS };

static struct {
	struct hauli_runq q;
	struct haul_coro co[COROS];
	_Atomic bool is_saved[COROS];
	_Atomic uint64_t taken[COROS]; /* as often as it ran, or was stolen */
} m;

/* Written by the guard's holder only. */
static uintptr_t block[HAULI_RUNQ_BLOCK], *blocks[HAULI_RUNQ_MAX / HAULI_RUNQ_BLOCK * 2];

static void init(void)
{
	hauli_ring_init(&m.q.ring);
	m.q.lifo_at = UINT32_MAX / 2;
	m.q.lifo_left = HAULI_LIFO_RUN;
	m.q.shared = true;
	m.q.longs = (struct hauli_backlog){.blocks = blocks, .memory = block};
	model_own(&m.q.ring.slots, sizeof(m.q.ring.slots), 0);
	model_private(&m.q.ring.capacity, sizeof(m.q.ring.capacity), 0);
}

static void took(const void *item)
{
	unsigned i = (unsigned)((const struct haul_coro *)item - m.co);

	MODEL_ASSERT(atomic_load_explicit(&m.is_saved[i], memory_order_relaxed));
	atomic_fetch_add_explicit(&m.taken[i], 1, memory_order_relaxed);
}

static bool pop(void)
{
	struct hauli_entry *entry = hauli_runq_pop(&m.q);

	if (entry)
		took(hauli_entry_begun(entry));
	return entry != NULL;
}

static void run(void)
{
	if (hauli_runq_is_empty(&m.q))
		(void)hauli_runq_fetch_long(&m.q);
	hauli_runq_open(&m.q, 4);
	while (pop())
		;
	hauli_runq_close(&m.q);
}

/* FIRST, then SECOND, has run, and has become long. */
static void leave(unsigned i)
{
	hauli_runq_leave_long(&m.q, hauli_entry_of_begun(&m.co[i]));
	atomic_store_explicit(&m.is_saved[i], true, memory_order_relaxed);
	hauli_runq_close(&m.q);
}

static void owner(void)
{
	leave(FIRST);
	leave(SECOND);
	run();
}

static bool may(const void *item)
{
	return hauli_coro_is_stealable(item);
}

static void thief(void)
{
	struct hauli_entry *entry;

	if (!hauli_runq_has_stealable(&m.q) || !hauli_ring_try_steal(&m.q.ring))
		return;
	entry = hauli_runq_steal(&m.q, may);
	hauli_ring_end_steal(&m.q.ring);
	if (entry)
		took(hauli_entry_begun(entry));
}

static void check(void)
{
	while (hauli_runq_has_some(&m.q))
		run();
	for (unsigned i = 0; i < COROS; i++)
		MODEL_ASSERT(m.taken[i] == 1);
	MODEL_ASSERT(hauli_runq_longs(&m.q) == 0 && hauli_u64_owned_get(&m.q.longs.loose) == 0);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "long ones and a thief",
			.nb_threads = 2,
			.threads = {owner, thief},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
