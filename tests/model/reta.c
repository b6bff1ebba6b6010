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
	struct hauli_reta reta; /* the NIC's table, as haul knows it */
	struct hauli_u32_published entry; /* reta.queues */
	struct hauli_ptr_published retas[1];
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
} k;

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
	while (atomic_load(&k.receives) != 0)
		model_yield();
	return 0;
}

int hauli_reta_set(struct haul_port *port, unsigned entry, unsigned queue, unsigned n, char *errbuf,
	size_t errlen)
{
	atomic_store(&k.table, queue);
	return 0;
}

unsigned hauli_queue_room(const struct haul_port *port, unsigned q)
{
	return ROOM;
}

struct hauli_rxq *hauli_io_rxq(
	const struct haul_io *io, const struct hauli_poller *p, unsigned port, unsigned queue)
{
	return &k.of[number_of(p->carrier)].rxqs[queue];
}

void hauli_rxq_pause(struct hauli_poller *p, struct hauli_rxq *r)
{
	k.of[number_of(p->carrier)].polls[r->rx.queue] = false;
}

void hauli_rxq_go_on(struct hauli_poller *p, struct hauli_rxq *r)
{
	k.of[number_of(p->carrier)].polls[r->rx.queue] = true;
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
	uint32_t n = hauli_u32_published_get(&k.answered[c]) + 1;

	k.fn[c] = fn;
	k.arg[c] = arg;
	hauli_u32_published_set(&k.asked[c], n);
	model_await(&k.answered[c], sizeof(k.answered[c]), n);
	(void)hauli_u32_published_get(&k.answered[c]);
	return 0;
}

void hauli_on_carrier_at_last(
	const struct hauli_poller *p, const char *name, haul_fn *fn, void *arg)
{
	(void)hauli_on_carrier(p, name, fn, arg, HAUL_FOREVER);
}

/* As many as it takes here until handlers have begun: one. */
void hauli_wait_for_cycles(const struct hauli_poller *p, uint64_t end)
{
	haul_yield();
}

static void flush(struct carrier_of *me)
{
	if (me->nb_to_send == 0 || atomic_load(&k.takes) == 0)
		return;
	for (unsigned i = 0; i < me->nb_to_send; i++) {
		MODEL_ASSERT(me->to_send[i] == k.sent + 1);
		k.sent = me->to_send[i];
	}
	if (me == &k.of[FIRST])
		hauli_counter_add(&k.tx.sent, me->nb_to_send);
	me->nb_to_send = me->idle = 0;
	if (me == &k.of[FIRST])
		k.tx.q.first = k.tx.q.end;
}

static void begin_handlers(struct carrier_of *me)
{
	for (unsigned i = 0; i < me->nb_received; i++) {
		me->to_send[me->nb_to_send++] = me->received[i];
		if (me == &k.of[FIRST])
			k.tx.q.end++;
	}
	me->nb_received = 0;
}

static void poll_queue(struct carrier_of *me, unsigned q)
{
	if (!me->polls[q])
		return;
	if (me->taken[q] == hauli_u32_published_get(&k.put[q])) {
		hauli_counter_add(&me->rxqs[q].empty, 1);
		return;
	}
	me->received[me->nb_received++] = k.packets[q][me->taken[q]++];
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
	return &k.of[model_thread()];
}

static void yield(void)
{
	if (me()->idle > PATIENCE && me()->nb_to_send > 0)
		model_await(&k.takes, sizeof(k.takes), 1);
	cycle(me());
}

static void answer(unsigned calls)
{
	unsigned c = model_thread();

	for (unsigned n = 1; n <= calls; n++) {
		cycle(me());
		model_await(&k.asked[c], sizeof(k.asked[c]), n);
		(void)hauli_u32_published_get(&k.asked[c]);
		k.fn[c](k.arg[c]);
		hauli_u32_published_set(&k.answered[c], n);
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

	atomic_store(&k.receives, 1);
	q = atomic_load(&k.table);
	has_room = k.nb_put[q] < 2 * ROOM;
	if (has_room) {
		k.packets[q][k.nb_put[q]++] = k.made = n;
		hauli_u32_published_set(&k.put[q], k.nb_put[q]);
	}
	atomic_store(&k.receives, 0);
	return has_room;
}

static void nic(void)
{
	for (uint32_t n = 1; n <= PACKETS && receive(n); n++)
		;
	atomic_store(&k.takes, 1);
}

static void mover(void)
{
	char why[8];

	MODEL_ASSERT(hauli_move_entry(&k.io, 0, 0, SECOND, HAUL_FOREVER, why, sizeof(why)) == 0);
	MODEL_ASSERT(atomic_load(&k.table) == SECOND);
}

static void init(void)
{
	k.io.pollers = k.pollers;
	k.io.owners = k.all_owners;
	k.io.detached = k.detached;
	k.io.retas = k.retas;
	k.io.ports = k.ports;
	k.reta.n = 1;
	hauli_ptr_published_set(&k.retas[0], &k.reta);
	k.all_owners[0] = k.owners;
	hauli_u32_published_set(&k.owners[SECOND], SECOND);
	model_private(&k.tx, sizeof(k.tx), FIRST);
	for (unsigned c = 0; c < CARRIERS; c++) {
		struct carrier_of *of = &k.of[c];

		of->p.carrier = (struct haul_carrier *)(uintptr_t)(c + 1);
		of->p.on_burst = (haul_burst_fn *)(uintptr_t)1;
		of->p.runs = true;
		of->p.rxqs = of->rxqs;
		of->p.txs = &k.tx; /* the second one does not look */
		of->p.nb_ports = 1;
		of->polls[c] = true;
		of->rxqs[0].poller = of->rxqs[1].poller = &of->p;
		of->rxqs[1].rx.queue = 1;
		k.pollers[c] = &of->p;
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
		cycle(&k.of[SECOND]);
	for (unsigned i = 0; i < PACKETS + 2; i++)
		cycle(&k.of[FIRST]);
	MODEL_ASSERT(k.sent == k.made);
	MODEL_ASSERT(k.of[FIRST].nb_to_send + k.of[SECOND].nb_to_send == 0);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "a bucket moves by a table",
			.nb_threads = 4,
			.threads = {first, second, nic, mover},
			.memory = &k,
			.size = sizeof(k),
			.init = init,
			.check = check});
}
