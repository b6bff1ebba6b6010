/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wait of a blocking poller, by the real idle.c of the glue and the real mail.c and poller.c: a
 * NIC raises its line only when armed, a thread sends the carrier a message, and the recheck after
 * the park may find only a coroutine to run.
 */
#include "idle.h"

static struct {
	struct idle idle;
	struct haul_coro target, ready;
	_Atomic(uint64_t) packets; /* in the NIC's ring */
	uint64_t got_messages, got_packets;
	bool made_ready;
} m;

static struct idle *idle(void)
{
	return &m.idle;
}

/* The model ignores a message's effect. */
static void handle(struct haul_carrier *c, struct hauli_msg *msg)
{
	m.got_messages++;
}

static const struct hauli_msg_kind request_msg = {.handle = handle};

/* The poller has no RPS target. */
void hauli_spread_listen(struct hauli_poller *p)
{
}

bool hauli_spread_wakes(const struct hauli_poller *p)
{
	return true;
}

bool hauli_spread_has_to_send(const struct hauli_poller *p)
{
	return false;
}

static void sender(void)
{
	m.target.request_msg.kind = &request_msg;
	hauli_mail_send(&m.idle.c, &m.target.request_msg);
}

/* A device: all threads see its steps in one order. */
static void nic(void)
{
	atomic_fetch_add_explicit(&m.packets, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&m.idle.armed, memory_order_seq_cst))
		atomic_store_explicit(&m.idle.woken, 1, memory_order_seq_cst);
}

/* A PMD polls without a barrier. The first poll after a park makes a coroutine ready. */
static bool cycle(struct hauli_poller *p, bool woken)
{
	uint64_t n = atomic_load_explicit(&m.packets, memory_order_relaxed) - m.got_packets;

	hauli_counter_add(&p->cycles, 1);
	m.got_packets += n;
	if (hauli_inbox_is_asleep(&m.idle.c.mail.inbox) && !m.made_ready) {
		m.made_ready = true;
		hauli_runq_push(&m.idle.c.runq, hauli_entry_of_begun(&m.ready));
	}
	return n > 0;
}

static bool has_all(void)
{
	return m.got_messages == 1 && m.got_packets == 1;
}

static void poller(void)
{
	struct hauli_poller *p = &m.idle.p;

	for (;;) {
		cycle(p, false);
		idle_is_due(p);
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
			.init = idle_init});
}
