/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cancel of all coroutines of a home, by the real record.c and ring.c, while a thief takes some
 * that are still records: each of them is cancelled, by the thief or by the owner's search of the
 * slots. The one that the owner begins is cancelled, too.
 */
#include "sched/wait/record.h"

#include "explorer.h"

enum { THIEF, OWNER, RECORDS };

static struct {
	struct haul_carrier c, thief;
	struct hauli_record records[RECORDS];
	struct hauli_prototype prototype;
	struct slot {
		HAULI_LINE char room[64];
		struct hauli_stack stack;
		struct haul_coro co;
	} slots[2];
} m;

struct hauli_fiber *hauli_fiber_renew(struct hauli_fiber *f, void *lo, size_t size)
{
	return NULL;
}

static void init(void)
{
	m.c.steal.group = m.thief.steal.group =
		(struct hauli_group *)&m.c; /* stealing is on; not read */
	hauli_ring_init(&m.c.runq.ring);
	for (unsigned i = 0; i < RECORDS; i++) {
		m.records[i].prototype = &m.prototype;
		hauli_ring_push(&m.c.runq.ring, hauli_entry_of(&m.records[i]));
	}
	m.thief.stacks.classes[0] = (struct hauli_stack_set){&m.slots[THIEF].stack, NULL, 1};
	m.c.stacks.classes[0] = (struct hauli_stack_set){&m.slots[OWNER].stack, NULL, 1};
	m.thief.coros = (struct hauli_slab_cache){.free = (void **)&m.slots[THIEF].co, .count = 1};
	m.c.coros = (struct hauli_slab_cache){.free = (void **)&m.slots[OWNER].co, .count = 1};
	model_own(&m.c.runq.ring.slots, sizeof(m.c.runq.ring.slots), 0);
}

static void search_slots(void)
{
	for (unsigned i = 0; i < 2; i++)
		if (hauli_coro_home(&m.slots[i].co) == &m.c)
			hauli_u8_shared_set_bits(&m.slots[i].co.flags, HAULI_FLAG_CANCELLED);
}

static void owner(void)
{
	struct hauli_entry *entry;

	hauli_records_cancel(&m.c);
	search_slots();
	hauli_ring_open(&m.c.runq.ring, RECORDS);
	entry = hauli_runq_pop_record(&m.c.runq, true);
	if (entry)
		MODEL_ASSERT(hauli_coro_is_cancelled(hauli_record_begin(&m.c, entry)));
}

static bool any(const void *item)
{
	return true;
}

static void thief(void)
{
	struct hauli_entry *entry;

	if (!hauli_ring_try_steal(&m.c.runq.ring))
		return;
	entry = hauli_ring_steal(&m.c.runq.ring, any);
	if (entry)
		hauli_record_take(&m.thief, &m.c, entry);
	hauli_ring_end_steal(&m.c.runq.ring);
}

static void check(void)
{
	const struct haul_coro *co = &m.slots[THIEF].co;

	MODEL_ASSERT(!hauli_coro_home(co) || hauli_coro_is_cancelled(co));
	MODEL_ASSERT(!hauli_coro_home(co) || co->arg != m.slots[OWNER].co.arg);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "records",
			.nb_threads = 2,
			.threads = {owner, thief},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
