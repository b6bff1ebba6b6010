/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wait of a blocking poller, by the real idle.c of the glue and the real mail.c and poller.c: a
 * NIC raises its line only when armed, a thread sends the carrier a message, and the recheck after
 * the park may find only a coroutine to run. The eventfd and the line are words on which the wait
 * depends; the barrier behind the arming is a fence of the model's.
 */
#include <stdatomic.h>

#include "base/clock.h"
#include "explorer.h"

#define hauli_ticks() UINT64_C(0)
#include "io/idle.c"
#include "sched/mail/mail.h"
#include "sched/place/cluster.h"
#include "sched/run/poller.c"

static struct {
	struct haul_carrier c;
	struct hauli_cluster cluster; /* its injector stays empty */
	struct haul_coro poller, target, ready;
	struct hauli_poller p;
	struct hauli_rxq rxq;
	_Atomic(uint64_t) woken; /* the wait's condition: the eventfd or the line */
	_Atomic(uint64_t) armed; /* written by the poller, read by the NIC */
	_Atomic(uint64_t) packets; /* in the NIC's ring */
	uint64_t got_messages, got_packets;
	bool made_ready;
} m;

struct haul_carrier *hauli_here(void)
{
	return &m.c;
}

/* The model ignores a message's effect. */
static void handle(struct haul_carrier *c, struct hauli_msg *msg)
{
	m.got_messages++;
}

static const struct hauli_msg_kind request_msg = {.handle = handle};

void hauli_io_wait_wake(struct hauli_io_wait *w)
{
	atomic_store_explicit(&m.woken, 1, memory_order_seq_cst /* a system call */);
}

void hauli_io_wait_arm(struct hauli_io_wait *w, struct hauli_io_wait_source *s, bool listen)
{
	MODEL_ASSERT(listen);
	atomic_store_explicit(&m.armed, 1, memory_order_relaxed);
}

void hauli_io_wait_armed(void)
{
	hauli_fence_full();
}

void hauli_io_wait_disarm(struct hauli_io_wait_source *s)
{
	atomic_store_explicit(&m.armed, 0, memory_order_relaxed);
}

unsigned hauli_io_wait(struct hauli_io_wait *w, uint64_t until)
{
	MODEL_ASSERT(hauli_runq_is_empty(&m.c.runq));
	model_await(&m.woken, 8, 1);
	atomic_store_explicit(&m.woken, 0, memory_order_relaxed);
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

/* The poller has no RPS target. */
void hauli_spread_listen(struct hauli_poller *p)
{
}

bool hauli_spread_has_to_send(const struct hauli_poller *p)
{
	return false;
}

static void init(void)
{
	struct haul_carrier *c = &m.c;
	struct hauli_poller *p = &m.p;

	hauli_inbox_init(&c->mail.inbox);
	c->timers.next_at = HAULI_NEVER;
	hauli_detached_mail_init(&c->mail.detached);
	hauli_ring_init(&c->runq.ring);
	c->poller.coro = c->current = &m.poller;
	c->poller.wakeup = (struct hauli_wakeup){hauli_idle_wakeup, p};
	c->cluster = &m.cluster;
	p->carrier = c;
	p->rxqs = &m.rxq;
	p->rxqs_end = p->rxqs + 1;
	m.rxq.policy.how = HAUL_POLL_BLOCK;
	m.rxq.max_in_flight = 1;
	hauli_idle_recompute(p);
	model_private(&m.cluster, sizeof(m.cluster), 0);
	model_private(&c->runq, sizeof(c->runq), 0);
	model_private(&m.rxq, sizeof(m.rxq), 0);
	model_private(p, sizeof(*p), 0);
	model_private(&c->counts.parks, sizeof(c->counts.parks), 0);
	model_private(&c->counts.messages, sizeof(c->counts.messages), 0);
	model_private(&m.poller.flags, sizeof(m.poller.flags), 0);
}

static void sender(void)
{
	m.target.request_msg.kind = &request_msg;
	hauli_mail_send(&m.c, &m.target.request_msg);
}

/* A device: all threads see its steps in one order. */
static void nic(void)
{
	atomic_fetch_add_explicit(&m.packets, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&m.armed, memory_order_seq_cst))
		atomic_store_explicit(&m.woken, 1, memory_order_seq_cst);
}

/* A PMD polls without a barrier. The first poll after a park makes a coroutine ready. */
static bool cycle(struct hauli_poller *p, bool woken)
{
	uint64_t n = atomic_load_explicit(&m.packets, memory_order_relaxed) - m.got_packets;

	hauli_counter_add(&p->cycles, 1);
	m.got_packets += n;
	if (hauli_inbox_is_asleep(&m.c.mail.inbox) && !m.made_ready) {
		m.made_ready = true;
		hauli_runq_push(&m.c.runq, hauli_entry_of_begun(&m.ready));
	}
	return n > 0;
}

static bool has_all(void)
{
	return m.got_messages == 1 && m.got_packets == 1;
}

/* The part of a round that runs when the poller yields. */
static void give_way_to_others(void)
{
	if (!hauli_inbox_is_empty(&m.c.mail.inbox))
		hauli_mail_receive(&m.c);
	if (!hauli_runq_is_empty(&m.c.runq)) {
		hauli_runq_open_unshared(&m.c.runq, 1);
		hauli_runq_pop(&m.c.runq);
		hauli_runq_close(&m.c.runq);
	}
}

static void poller(void)
{
	struct hauli_poller *p = &m.p;

	for (;;) {
		cycle(p, false);
		p->idle.empties = EMPTIES; /* enough empty polls for a wait */
		p->idle.cycle = hauli_counter_read(&p->cycles) - 1;
		if (has_all())
			return;
		hauli_idle(p, cycle);
		give_way_to_others();
	}
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "a poller's wait",
			.nb_threads = 3,
			.threads = {poller, sender, nic},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}
