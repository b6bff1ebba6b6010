/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A carrier falls asleep while a busy carrier gets more than it can run, by the real mail.c,
 * policy.c, round.c, sleep.c and steal.c of lib/sched. In the end the first carrier searches: it
 * has found the surplus, or was sent the search. At first its barrier is just over, and it sleeps
 * until it is time for the next one.
 *
 * asleep_poller.c: its poller parks it, by the real poller.c, and it has its barrier at once.
 *
 * A thief steals nothing here: the work is not yet worth a theft.
 */
#include <stdatomic.h>

#include <haul/driver.h>

#include "base/clock.h"
#include "explorer.h"

static uint64_t ticks(void);
#define hauli_ticks ticks
#include "sched/mail/mail.h"
#include "sched/run/poller.c"
#include "sched/run/round.c"
#include "sched/steal/steal.c"

#ifndef POLLER /* asleep_poller.c */
#define POLLER 0
#endif

enum { SLEEPER, BUSY, CARRIERS };

static struct {
	struct haul_carrier c[CARRIERS];
	struct hauli_cluster cluster; /* its injector stays empty */
	struct hauli_group group;
	struct haul_carrier *members[CARRIERS];
	uint16_t by_distance[CARRIERS * CARRIERS];
	struct haul_coro poller, surplus;
	_Atomic(uint64_t) woken; /* the wait's condition */
	uint64_t now;
} m;

static uint64_t ticks(void)
{
	return m.now;
}

/* A sleep may end by itself at any time. */
struct timespec hauli_monotonic_at(uint64_t at)
{
	return (struct timespec){0};
}

struct haul_carrier *hauli_here(void)
{
	return &m.c[SLEEPER];
}

static void wakeup(void *arg)
{
	atomic_store_explicit(&m.woken, 1, memory_order_seq_cst /* a system call */);
}

static void init_carrier(unsigned i)
{
	struct haul_carrier *c = &m.c[i];

	c->cluster = &m.cluster;
	c->steal.group = &m.group;
	c->steal.group_idx = i;
	c->steal.thief = (struct hauli_thief){.policy = &m.group.policy, .group_idx = i};
	c->runq.lifo_at = UINT32_MAX / 2;
	c->runq.shared = true;
	c->timers.next_at = HAULI_NEVER;
	hauli_inbox_init(&c->mail.inbox);
	hauli_detached_mail_init(&c->mail.detached);
	hauli_ring_init(&c->runq.ring);
	m.members[i] = c;
	for (unsigned k = 0; k < CARRIERS; k++)
		m.by_distance[i * CARRIERS + k] = (uint16_t)((i + k) % CARRIERS);
	model_private(&c->counts.rounds,
		offsetof(struct haul_carrier, mail) - offsetof(struct haul_carrier, counts), i);
}

static void init(void)
{
	struct hauli_policy *p = &m.group.policy;

	for (unsigned i = 0; i < CARRIERS; i++)
		init_carrier(i);
	m.group.members = m.members;
	m.group.barrier_ticks = 1000;
	p->ops = &hauli_steal_ops;
	p->members = CARRIERS;
	p->by_distance = m.by_distance;
	p->params = (struct hauli_policy_params){
		.most = 1, .depth = 1, .pull_every = 1, .least = 1, .hog = 1000, .nap = 1};
	hauli_help_init(&p->help, CARRIERS, 1);
	hauli_u64_owned_set(&m.c[BUSY].steal.batch_began, 1);
	m.now = 1;
	m.c[SLEEPER].steal.barrier_at = POLLER ? 1 : 2;
	m.c[SLEEPER].poller.coro = m.c[SLEEPER].current = POLLER ? &m.poller : NULL;
	m.c[SLEEPER].poller.wakeup.fn = wakeup;
	model_constant(&m.c[BUSY].steal.batch_began, sizeof(m.c[BUSY].steal.batch_began));
	model_constant(&m.c[BUSY].steal.slice_average, sizeof(m.c[BUSY].steal.slice_average));
	model_constant(&m.c[BUSY].steal.orders.taken, sizeof(m.c[BUSY].steal.orders.taken));
	model_constant(&m.cluster, sizeof(m.cluster));
	model_private(&m.c[SLEEPER].runq, sizeof(m.c[SLEEPER].runq), SLEEPER);
	model_private(&m.now, sizeof(m.now), SLEEPER);
}

static void block(void)
{
	if (!haul_poller_try_park())
		return;
	if (haul_poller_can_park())
		model_await(&m.woken, 8, 1);
	haul_poller_unpark();
}

static void sleeper(void)
{
	for (; !m.c[SLEEPER].steal.thief.search; m.now++) {
		if (POLLER)
			block();
		else
			sleep_until_needed(&m.c[SLEEPER], true);
	}
}

/* The running coroutine spawns another one. */
static void busy(void)
{
	hauli_runq_push(&m.c[BUSY].runq, hauli_entry_of_begun(&m.surplus));
	hauli_steal_offer(&m.c[BUSY]);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = POLLER ? "asleep, by its poller" : "asleep",
			.nb_threads = 2,
			.threads = {sleeper, busy},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}
