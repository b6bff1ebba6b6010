/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the models of a blocking poller share: the real idle.c of the glue and the real poller.c,
 * with a NIC's line and the eventfd as one word on which the wait depends. The barrier behind the
 * arming is a fence of the model's. A model has a struct idle, which idle() returns.
 */
#ifndef HAULI_MODEL_IDLE_H
#define HAULI_MODEL_IDLE_H

#include <stdatomic.h>

#include "base/clock.h"
#include "explorer.h"

#define hauli_ticks() UINT64_C(0)
#include "io/idle.c"
#include "sched/mail/mail.h"
#include "sched/place/cluster.h"
#include "sched/run/poller.c"

struct idle {
	struct haul_carrier c;
	struct hauli_cluster cluster; /* its injector stays empty */
	struct haul_coro poller;
	struct hauli_poller p;
	struct hauli_rxq rxq, *active[2];
	_Atomic(uint64_t) woken; /* the wait's condition: the eventfd or the line */
	_Atomic(uint64_t) armed; /* written by the poller, read by the NIC */
};

static struct idle *idle(void);

struct haul_carrier *hauli_here(void)
{
	return &idle()->c;
}

void hauli_io_wait_wake(struct hauli_io_wait *w)
{
	atomic_store_explicit(&idle()->woken, 1, memory_order_seq_cst /* a system call */);
}

bool hauli_io_wait_cover_fds(struct hauli_io_wait *w)
{
	return true;
}

void hauli_io_wait_arm(struct hauli_io_wait *w, struct hauli_io_wait_source *s, bool listen)
{
	MODEL_ASSERT(listen);
	atomic_store_explicit(&idle()->armed, 1, memory_order_relaxed);
}

void hauli_io_wait_armed(void)
{
	hauli_fence_full();
}

void hauli_io_wait_disarm(struct hauli_io_wait_source *s)
{
	atomic_store_explicit(&idle()->armed, 0, memory_order_relaxed);
}

unsigned hauli_io_wait(struct hauli_io_wait *w, uint64_t until)
{
	MODEL_ASSERT(hauli_runq_is_empty(&idle()->c.runq));
	model_await(&idle()->woken, 8, 1);
	atomic_store_explicit(&idle()->woken, 0, memory_order_relaxed);
	return HAULI_IO_WAIT_END_WOKEN;
}

/* Times of waits are no part of the protocol. */
void haul_hist_add_large(struct haul_hist *h, uint64_t value, uint64_t n)
{
}

/* It has no time-out, and packet buffers are free. */
uint64_t hauli_ns_from_ticks(uint64_t ticks)
{
	return HAUL_FOREVER;
}

uint64_t haul_now(void)
{
	return 0;
}

unsigned rte_mempool_avail_count(const struct rte_mempool *mp)
{
	return DRY;
}

static void merge(struct hauli_poller *p, const struct hauli_rxq *r)
{
}

/* The poller blocks. */
const struct hauli_poller_kind *hauli_poller_kind(enum haul_poll_how how)
{
	static const struct hauli_poller_kind block = {
		.shown = {.how = HAUL_POLL_BLOCK, .needs_wait_source = true}, .merge = merge};

	return &block;
}

static inline void idle_init(void)
{
	struct haul_carrier *c = &idle()->c;
	struct hauli_poller *p = &idle()->p;

	hauli_inbox_init(&c->mail.inbox);
	c->timers.next_at = HAULI_NEVER;
	hauli_detached_mail_init(&c->mail.detached);
	hauli_ring_init(&c->runq.ring);
	c->poller.coro = c->current = &idle()->poller;
	c->poller.wakeup = (struct hauli_wakeup){hauli_idle_wakeup, p};
	c->cluster = &idle()->cluster;
	p->carrier = c;
	p->rxqs = &idle()->rxq;
	p->rxqs_end = p->rxqs + 1;
	p->active = idle()->active;
	p->active[0] = p->rxqs;
	idle()->rxq.policy.how = HAUL_POLL_BLOCK;
	idle()->rxq.max_in_flight = 1;
	hauli_idle_recompute(p);
	model_private(&idle()->cluster, sizeof(idle()->cluster), 0);
	model_private(&c->runq, sizeof(c->runq), 0);
	model_private(&idle()->rxq, sizeof(idle()->rxq), 0);
	model_private(p, sizeof(*p), 0);
	model_private(&c->counts.parks, sizeof(c->counts.parks), 0);
	model_private(&c->counts.messages, sizeof(c->counts.messages), 0);
	model_private(&idle()->poller.flags, sizeof(idle()->poller.flags), 0);
}

/* The part of a round that runs when the poller yields. */
static inline void give_way_to_others(void)
{
	if (!hauli_inbox_is_empty(&idle()->c.mail.inbox))
		hauli_mail_receive(&idle()->c);
	if (!hauli_runq_is_empty(&idle()->c.runq)) {
		hauli_runq_open_unshared(&idle()->c.runq, 1);
		hauli_runq_pop(&idle()->c.runq);
		hauli_runq_close(&idle()->c.runq);
	}
}

/* The next call of hauli_idle() may wait. */
static inline void idle_is_due(struct hauli_poller *p)
{
	p->idle.empties = EMPTIES;
	p->idle.cycle = hauli_counter_read(&p->cycles) - 1;
}

#endif
