/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bucket of flows moves to another carrier by the redirection table of a NIC, by the real reta.c
 * and through.c of the glue. The NIC puts packets of one flow, at any moment, into the queue that
 * the table names; a mover moves their bucket; two carriers poll the queues, and begin and send
 * what they receive. Each packet is sent once, in order.
 *
 * A carrier begins the handler of a packet in the cycle after the one that has received it, as if
 * it were in the run queue until then, and sends the packet in a cycle after that, if the NIC takes
 * any. A wait of the protocol on a carrier is made of cycles.
 */
#include <time.h>

#include "explorer.h"
#include "io/create.h"
#include "io/entries.h"
#include "io/on_carrier.h"
#include "io/reta.h"
#include "io/through.h"
#include "port/fill_time.h"
#include "port/reta.h"

#define PACKETS 3
#define ROOM 1 /* of a queue; as many may wait in front of it */
#define PATIENCE 2 /* cycles for which nothing happens, before a wait is for the NIC */

enum { FIRST, SECOND, CARRIERS };

struct carrier_of {
	struct hauli_poller p;
	struct hauli_rxq rxqs[2];
	bool polls[2]; /* its list */
	uint32_t taken[2]; /* packets of each queue */
	uint32_t received[PACKETS], to_send[PACKETS]; /* what has not begun, what is not sent */
	unsigned nb_received, nb_to_send;
	unsigned calls; /* answered */
	unsigned idle; /* cycles in a row in which nothing has happened */
};

static struct {
	struct haul_io io;
	struct carrier_of of[CARRIERS];
	struct hauli_tx tx; /* of the first carrier, for what has not left it */
	struct hauli_poller *pollers[CARRIERS];
	struct hauli_u32_published owners[2];
	struct hauli_u32_published *all_owners[1];
	struct hauli_u32_published detached[1];
	struct hauli_u32_published entry[1]; /* as haul knows it */
	struct hauli_reta retas[1];
	struct haul_port *ports[1];

	/* The NIC. */
	_Atomic uint32_t table; /* its one entry: a queue */
	_Atomic uint32_t receives; /* 1: a packet is on its way to a queue */
	_Atomic uint32_t takes; /* 1: it takes packets to send */
	struct hauli_u32_published put[2]; /* packets so far, of each queue */
	uint32_t nb_put[2], packets[2][PACKETS];
	uint32_t made, sent; /* the last ones */

	/* Calls on carriers. */
	struct hauli_u32_published asked[CARRIERS], answered[CARRIERS];
	haul_fn *fn[CARRIERS];
	void *arg[CARRIERS];
} m;

static int quiesce(const struct timespec *time, struct timespec *rest);
static void yield(void);
#define nanosleep quiesce
#define haul_yield yield
#define haul_carrier_self() ((struct haul_carrier *)NULL)
#define haul_carrier_id(c) number_of(c)
#define haul_port_queues(port) 2u
#define hauli_glue_any_stolen(c) false

/* No limit of time is over. */
uint64_t haul_now(void)
{
	return 0;
}

/* The address of a carrier is its number, and 1 more. */
static unsigned number_of(const struct haul_carrier *c)
{
	return (unsigned)((uintptr_t)c - 1);
}

#include "io/reta.c"
#include "io/through.c"

/* The time after a change of the table: what the NIC has received before is in a queue. */
static int quiesce(const struct timespec *time, struct timespec *rest)
{
	while (atomic_load(&m.receives) != 0)
		model_yield();
	return 0;
}

int hauli_reta_set(struct haul_port *port, unsigned entry, unsigned queue, unsigned n, char *errbuf,
	size_t errlen)
{
	atomic_store(&m.table, queue);
	return 0;
}

unsigned hauli_queue_room(const struct haul_port *port, unsigned q)
{
	return ROOM;
}

struct hauli_rxq *hauli_io_rxq(
	const struct haul_io *io, const struct hauli_poller *p, unsigned port, unsigned queue)
{
	return &m.of[number_of(p->carrier)].rxqs[queue];
}

void hauli_rxq_pause(struct hauli_poller *p, struct hauli_rxq *r)
{
	m.of[number_of(p->carrier)].polls[r->rx.queue] = false;
}

void hauli_rxq_go_on(struct hauli_poller *p, struct hauli_rxq *r)
{
	m.of[number_of(p->carrier)].polls[r->rx.queue] = true;
}

void hauli_on_carrier_tell(const struct hauli_poller *p, int err, char *buf, size_t len)
{
}

void *hauli_answers(void *arg)
{
	return NULL;
}

/* Until the carrier has made the call; a join. */
int hauli_on_carrier(
	const struct hauli_poller *p, const char *name, haul_fn *fn, void *arg, uint64_t timeout_ns)
{
	unsigned c = number_of(p->carrier);
	uint32_t n = hauli_u32_published_get(&m.answered[c]) + 1;

	m.fn[c] = fn;
	m.arg[c] = arg;
	hauli_u32_published_set(&m.asked[c], n);
	model_await(&m.answered[c], sizeof(m.answered[c]), n);
	(void)hauli_u32_published_get(&m.answered[c]);
	return 0;
}

/* As many as it takes here until handlers have begun: one. */
void hauli_wait_for_cycles(const struct hauli_poller *p, uint64_t end)
{
	haul_yield();
}

static void flush(struct carrier_of *me)
{
	if (me->nb_to_send == 0 || atomic_load(&m.takes) == 0)
		return;
	for (unsigned i = 0; i < me->nb_to_send; i++) {
		MODEL_ASSERT(me->to_send[i] == m.sent + 1);
		m.sent = me->to_send[i];
	}
	if (me == &m.of[FIRST])
		hauli_counter_add(&m.tx.sent, me->nb_to_send);
	me->nb_to_send = me->idle = 0;
	if (me == &m.of[FIRST])
		m.tx.q.first = m.tx.q.end;
}

static void begin_handlers(struct carrier_of *me)
{
	for (unsigned i = 0; i < me->nb_received; i++) {
		me->to_send[me->nb_to_send++] = me->received[i];
		if (me == &m.of[FIRST])
			m.tx.q.end++;
	}
	me->nb_received = 0;
}

static void poll_queue(struct carrier_of *me, unsigned q)
{
	if (!me->polls[q])
		return;
	if (me->taken[q] == hauli_u32_published_get(&m.put[q])) {
		hauli_counter_add(&me->rxqs[q].empty, 1);
		return;
	}
	me->received[me->nb_received++] = m.packets[q][me->taken[q]++];
	hauli_counter_add(&me->rxqs[q].packets, 1);
	me->idle = 0;
}

static void cycle(struct carrier_of *me)
{
	me->idle++;
	flush(me);
	begin_handlers(me);
	for (unsigned q = 0; q < 2; q++)
		poll_queue(me, q);
	hauli_counter_add(&me->p.cycles, 1);
}

/* Of the carrier that runs the thread. */
static struct carrier_of *me(void)
{
	return &m.of[model_thread()];
}

static void yield(void)
{
	if (me()->idle > PATIENCE && me()->nb_to_send > 0)
		model_await(&m.takes, sizeof(m.takes), 1);
	cycle(me());
}

static void answer(unsigned calls)
{
	unsigned c = model_thread();

	for (unsigned n = 1; n <= calls; n++) {
		cycle(me());
		model_await(&m.asked[c], sizeof(m.asked[c]), n);
		(void)hauli_u32_published_get(&m.asked[c]);
		m.fn[c](m.arg[c]);
		hauli_u32_published_set(&m.answered[c], n);
	}
}

/* What it has left then, it has left: check(). */
static void first(void)
{
	answer(2);
}

static void second(void)
{
	answer(3);
	for (unsigned i = 0; i < 3; i++)
		cycle(me()); /* receives, begins, sends */
}

/* False: the queue has got as many as it has room for. No more come then: how many the carrier has
 * taken would be one more word that threads share. */
static bool receive(uint32_t n)
{
	bool has_room;
	uint32_t q;

	atomic_store(&m.receives, 1);
	q = atomic_load(&m.table);
	has_room = m.nb_put[q] < 2 * ROOM;
	if (has_room) {
		m.packets[q][m.nb_put[q]++] = m.made = n;
		hauli_u32_published_set(&m.put[q], m.nb_put[q]);
	}
	atomic_store(&m.receives, 0);
	return has_room;
}

static void nic(void)
{
	for (uint32_t n = 1; n <= PACKETS && receive(n); n++)
		;
	atomic_store(&m.takes, 1);
}

static void mover(void)
{
	char why[8];

	MODEL_ASSERT(hauli_move_entry(&m.io, 0, 0, SECOND, HAUL_FOREVER, why, sizeof(why)) == 0);
	MODEL_ASSERT(atomic_load(&m.table) == SECOND);
}

static void init(void)
{
	m.io.pollers = m.pollers;
	m.io.owners = m.all_owners;
	m.io.detached = m.detached;
	m.io.retas = m.retas;
	m.io.ports = m.ports;
	m.retas[0] = (struct hauli_reta){1, m.entry};
	m.all_owners[0] = m.owners;
	hauli_u32_published_set(&m.owners[SECOND], SECOND);
	model_private(&m.tx, sizeof(m.tx), FIRST);
	for (unsigned c = 0; c < CARRIERS; c++) {
		struct carrier_of *of = &m.of[c];

		of->p.carrier = (struct haul_carrier *)(uintptr_t)(c + 1);
		of->p.on_burst = (haul_burst_fn *)(uintptr_t)1;
		of->p.runs = true;
		of->p.rxqs = of->rxqs;
		of->p.txs = &m.tx; /* the second one does not look */
		of->p.nb_ports = 1;
		of->polls[c] = true;
		of->rxqs[0].poller = of->rxqs[1].poller = &of->p;
		of->rxqs[1].rx.queue = 1;
		m.pollers[c] = &of->p;
		model_private(&of->p.cycles, sizeof(of->p.cycles), c);
		for (unsigned q = 0; q < 2; q++) {
			model_private(&of->rxqs[q].empty, sizeof(struct hauli_counter), c);
			model_private(&of->rxqs[q].packets, sizeof(struct hauli_counter), c);
			model_private(&of->rxqs[q].held, sizeof(struct hauli_counter), c);
		}
	}
}

static void check(void)
{
	/* The second carrier goes first: the other one has to have sent all. */
	for (unsigned i = 0; i < PACKETS + 2; i++)
		cycle(&m.of[SECOND]);
	for (unsigned i = 0; i < PACKETS + 2; i++)
		cycle(&m.of[FIRST]);
	MODEL_ASSERT(m.sent == m.made);
	MODEL_ASSERT(m.of[FIRST].nb_to_send + m.of[SECOND].nb_to_send == 0);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "a bucket moves by a table",
			.nb_threads = 4,
			.threads = {first, second, nic, mover},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
