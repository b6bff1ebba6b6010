/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A blocking poller, by the real mail.c and poller.c of lib/sched: one thread sends the carrier
 * messages, another is the NIC, which raises its line only when armed. The poller goes through the
 * three steps until it has everything. The eventfd and the line are words on which the wait
 * depends. (In the weak memory there is one message.)
 */
#include <stdatomic.h>

#include <haul/driver.h>

#include "explorer.h"
#include "sched/mail/mail.h"
#include "sched/place/cluster.h"
#include "sched/spawn/spawn.h"
#include "sched/state/self.h"
#include "sched/steal/steal.h"
#include "sched/wait/suspend.h"

#define MESSAGES 2
#define PACKETS 1

static struct {
	struct haul_carrier c;
	struct hauli_cluster cluster; /* its injector stays empty */
	struct haul_coro poller;
	struct haul_coro targets[MESSAGES];
	_Atomic(uint64_t) woken; /* the wait's condition: the eventfd or the line */
	_Atomic(uint64_t) armed; /* written by the poller, read by the NIC */
	_Atomic(uint64_t) packets; /* in the NIC's ring */
	uint64_t got_messages, got_packets;
	uint64_t wakeups[MESSAGES], parks;
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

static void wakeup(void *arg)
{
	atomic_store_explicit(&m.woken, 1, memory_order_seq_cst /* a system call */);
}

static uint64_t messages(void)
{
	return model_is_reduced() ? 1 : MESSAGES;
}

static void init(void)
{
	hauli_inbox_init(&m.c.mail.inbox);
	m.c.timers.next_at = HAULI_NEVER;
	hauli_detached_mail_init(&m.c.mail.detached);
	m.c.poller.coro = m.c.current = &m.poller;
	m.c.poller.wakeup.fn = wakeup;
	m.c.cluster = &m.cluster;
	model_own(&m.cluster, sizeof(m.cluster), 0);
}

static void send(unsigned i)
{
	m.targets[i].request_msg.kind = &request_msg;
	hauli_mail_send(&m.c, &m.targets[i].request_msg);
}

static void sender(void)
{
	for (unsigned i = 0; i < messages(); i++)
		send(i);
}

/* A device: all threads see its steps in one order. */
static void nic(void)
{
	atomic_fetch_add_explicit(&m.packets, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&m.armed, memory_order_seq_cst))
		atomic_store_explicit(&m.woken, 1, memory_order_seq_cst);
}

static bool look(void)
{
	uint64_t n = atomic_exchange_explicit(&m.packets, 0, memory_order_seq_cst);

	m.got_packets += n;
	return n > 0;
}

static void poller(void)
{
	while (m.got_messages < messages() || m.got_packets < PACKETS) {
		bool io = look();

		/* The part of a round that runs when the poller yields. */
		if (!hauli_inbox_is_empty(&m.c.mail.inbox))
			hauli_mail_receive(&m.c);
		if (io || (m.got_messages == messages() && m.got_packets == PACKETS) ||
			!haul_poller_try_park())
			continue;
		m.parks++;
		atomic_store_explicit(&m.armed, 1, memory_order_seq_cst);
		io = look();
		if (!io && haul_poller_can_park()) {
			model_await(&m.woken, 8, 1);
			atomic_store_explicit(&m.woken, 0, memory_order_seq_cst);
		}
		haul_poller_unpark();
		atomic_store_explicit(&m.armed, 0, memory_order_seq_cst);
	}
}

static void check(void)
{
	MODEL_ASSERT(m.got_messages == messages());
	MODEL_ASSERT(m.got_packets == PACKETS);
	MODEL_ASSERT(hauli_inbox_is_quiesced(&m.c.mail.inbox));
	MODEL_ASSERT(hauli_inbox_calls(&m.c.mail.inbox) <= m.parks);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "poller, parked",
			.nb_threads = 3,
			.threads = {poller, sender, nic},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
