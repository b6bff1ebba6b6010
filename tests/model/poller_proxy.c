/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wait of a blocking poller that sends for an RPS target, by the real idle.c of the glue and
 * the real handover.c, mail.c and poller.c: the target hands over two packets, one after the other,
 * and each is taken, although a cycle that only sends does not count as one with packets.
 */
#include "idle.h"

#include "sched/mail/handover.h"

#define PACKETS 2

static struct {
	struct idle idle;
	struct hauli_handover in; /* from the target */
	struct hauli_node packets[PACKETS];
	uint64_t got;
} m;

static struct idle *idle(void)
{
	return &m.idle;
}

/* As spread.c, for one proxy. */
void hauli_spread_listen(struct hauli_poller *p)
{
	hauli_handover_listen(&m.in);
}

bool hauli_spread_wakes(const struct hauli_poller *p)
{
	return hauli_handover_wakes(&m.in);
}

bool hauli_spread_has_to_send(const struct hauli_poller *p)
{
	return !hauli_handover_is_empty(&m.in);
}

static void init(void)
{
	idle_init();
	m.idle.p.is_proxy = true;
	hauli_handover_init(&m.in, &m.idle.c);
}

static void target(void)
{
	for (unsigned i = 0; i < PACKETS; i++) {
		struct hauli_bulk one = {NULL, NULL};

		hauli_bulk_add(&one, &m.packets[i]);
		hauli_handover_put(&m.in, &one);
	}
}

/* Sends what there is, and receives nothing. */
static bool cycle(struct hauli_poller *p, bool woken)
{
	hauli_counter_add(&p->cycles, 1);
	while (hauli_handover_take(&m.in))
		m.got++;
	return false;
}

static void poller(void)
{
	struct hauli_poller *p = &m.idle.p;

	for (;;) {
		cycle(p, false);
		idle_is_due(p);
		if (m.got == PACKETS)
			return;
		hauli_idle(p, cycle);
		give_way_to_others();
	}
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "a proxy's wait",
			.nb_threads = 2,
			.threads = {poller, target},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}
