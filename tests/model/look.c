/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A look of a thief, by the real steal.c, ring.c and hauli_arrive(), while two coroutines of a
 * carrier yield to each other: at any time one of them is ready, and the look finds it.
 */
#include "sched/steal/steal.h"

#include "explorer.h"
#include "sched/wait/suspend.h"

#define YIELDS 3 /* more than a look tries */

static struct {
	struct haul_carrier c;
	struct hauli_group group;
	struct haul_carrier *members[1];
	struct haul_coro first, second;
} m;

static void init(void)
{
	m.members[0] = &m.c;
	m.group.members = m.members;
	hauli_inbox_init(&m.c.mail.inbox);
	hauli_ring_init(&m.c.runq.ring);
	m.c.current = &m.first;
	hauli_ring_push(&m.c.runq.ring, &m.second);
	model_own(&m.c.runq.ring.slots, sizeof(m.c.runq.ring.slots), 0);
}

/* As hauli_suspend() and hauli_next(), without the switch. */
static void yield(void)
{
	hauli_ptr_published_set(&m.c.left, m.c.current);
	m.c.current = hauli_ring_pop(&m.c.runq.ring, NULL);
	MODEL_ASSERT(m.c.current);
	hauli_arrive(&m.c);
}

static void owner(void)
{
	hauli_ring_open(&m.c.runq.ring, YIELDS);
	for (unsigned i = 0; i < YIELDS; i++)
		yield();
}

static void thief(void)
{
	struct hauli_policy_view s;

	hauli_steal_ops.look(&m.group.policy, 0, &s);
	MODEL_ASSERT(s.depth >= 1);
	MODEL_ASSERT(s.stealable);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "look",
			.nb_threads = 2,
			.threads = {owner, thief},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}
