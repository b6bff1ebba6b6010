/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A receive queue moves from one carrier to another while packets flow.
 *
 * Each carrier has a struct hauli_rxq for each queue that it may ever poll, with counters that only
 * its thread writes; `active` lists those that it polls now. So a move changes no counter of
 * another thread, handlers keep the struct haul_rx that they were called with, and sums go over all
 * structs. At each moment at most one carrier has a queue in its list:
 *
 *	mover                  first carrier                  second carrier
 *	spawn, join ---------> leave(): takes it out of
 *	                       the list; waits until its
 *	                       packets are through
 *	       <-------------- returns
 *	spawn, join ------------------------------------------> enter(): puts it into the list
 *
 * The joins order all that the first carrier did with the queue and its PMD before what the second
 * one does. A packet that arrives in between waits in the queue.
 *
 * The order of a flow. Packets are through when
 *	the cycle that may be under way has ended. Its poller may be suspended in the middle, while
 *	a handler that it has begun waits, and holds the rest of a burst (design/0020). Two ends of
 *	cycles suffice: the first may be that of the cycle, the second one flushes.
 *	what these cycles left in the run queue has begun: it is before the mover's coroutine there.
 *	no handler of the queue is left here: none begins any more, so their number only falls.
 *	the transmit queues are empty.
 * The first two need no limit of time, as nothing in them waits for others. For the rest the move
 * waits HAUL_IO_MOVE_MAX, and HAULI_MOVE_CYCLES cycles: a handler that waits for longer gives up
 * its position, as all that wait do (HAUL_ORDER_FLOW).
 *
 * A carrier that a handler keeps busy begins nothing: after the time-out the queue stays where it
 * is. If the second carrier gets stuck between its answer and enter(), the queue goes back. Then,
 * and while leave() waits for its cycles, the mover waits for the first carrier without a limit:
 * nobody else may have the queue.
 *
 * The poller is a coroutine of the same thread, suspended somewhere: in a cycle, or between park
 * and wait. In a cycle it reads `active` anew for each queue. It may so pass over a queue in this
 * cycle, or poll one twice, but finds only queues of the list, since all places behind them are
 * NULL. Between park and wait the arrival of leave() has unparked it, so it does not wait, and its
 * next wait arms the queues of that time.
 *
 * Tests: tests/net/io_move.c, io_stuck.c, io_soak.c, fwd_move.py.
 */
#include "io/move.h"

#include <errno.h>
#include <stdio.h>

#include "base/assert.h"
#include "io/create.h"
#include "io/idle.h"
#include "io/on_carrier.h"
#include "io/through.h"

struct move {
	struct haul_io *io;
	unsigned port, queue;
	struct haul_poll_policy policy; /* of the queue, which it keeps */
	uint64_t timeout_ns; /* for each carrier to begin */
	char why[160]; /* the last error */
};

static void take_out(struct hauli_poller *p, const struct hauli_rxq *r)
{
	struct hauli_rxq **at = p->active;

	while (*at != r)
		at++;
	for (; *at; at++)
		at[0] = at[1];
	p->told -= hauli_counter_read(&r->packets);
}

static void put_in(struct hauli_poller *p, struct hauli_rxq *r)
{
	struct hauli_rxq **at = p->active;

	while (*at)
		at++;
	*at = r;
	p->told += hauli_counter_read(&r->packets);
}

static bool is_through(const struct hauli_poller *p, const struct hauli_rxq *r)
{
	return !p->pending && (!r->on_packet || hauli_rxq_in_flight(r) == 0);
}

void hauli_rxq_pause(struct hauli_poller *p, struct hauli_rxq *r)
{
	take_out(p, r);
	/* with the cycle that may be under way */
	hauli_stopwatch_stop(&r->polls, hauli_counter_read(&p->cycles) + 1);
	hauli_io_wait_disarm(&r->source);
	hauli_io_wait_remove(&p->idle.wait, &r->source);
	hauli_idle_recompute(p);
}

void hauli_rxq_go_on(struct hauli_poller *p, struct hauli_rxq *r)
{
	/* The signals for packets that are there already are gone. */
	if (r->port->kind->nudge)
		r->port->kind->nudge(r->port, r->rx.queue);
	if (p->idle.wait.epoll >= 0)
		hauli_io_wait_add(&p->idle.wait, &r->source);
	hauli_stopwatch_start(&r->polls, hauli_counter_read(&p->cycles));
	put_in(p, r);
	hauli_idle_recompute(p);
}

void hauli_rxq_leave(const struct haul_io *io, struct hauli_poller *p, struct hauli_rxq *r)
{
	hauli_rxq_pause(p, r);
	hauli_io_share_limit(io, p, r->rx.port);
}

/* On the carrier that has the queue. */
static void *leave(void *arg)
{
	struct move *m = arg;
	struct haul_io *io = m->io;
	struct hauli_poller *p = io->pollers[haul_carrier_id(haul_carrier_self())];
	struct hauli_rxq *r = hauli_io_rxq(io, p, m->port, m->queue);
	uint64_t cycle = hauli_counter_read(&p->cycles);
	struct hauli_move_limit limit;

	m->policy = r->policy;
	hauli_rxq_leave(io, p, r);
	hauli_wait_for_cycles(p, cycle + 2);
	limit = hauli_move_limit(p);
	while (!is_through(p, r) && !hauli_move_limit_is_over(p, &limit))
		haul_yield();
	return NULL;
}

void hauli_rxq_enter(const struct haul_io *io, struct hauli_poller *p, struct hauli_rxq *r)
{
	haul_port_queue_adopt(r->port, r->rx.queue);
	hauli_rxq_go_on(p, r);
	hauli_io_share_limit(io, p, r->rx.port);
}

/* On the carrier that gets it. */
static void *enter(void *arg)
{
	struct move *m = arg;
	struct haul_io *io = m->io;
	unsigned carrier = haul_carrier_id(haul_carrier_self());
	struct hauli_poller *p = io->pollers[carrier];
	struct hauli_rxq *r = hauli_io_rxq(io, p, m->port, m->queue);

	hauli_rxq_set_policy(r, &m->policy);
	hauli_rxq_enter(io, p, r);
	hauli_u32_published_set(&io->owners[m->port][m->queue], carrier);
	return NULL;
}

static int run_on(unsigned carrier, haul_fn *fn, struct move *m)
{
	return hauli_move_on(m->io, carrier, fn, m, m->timeout_ns, m->why, sizeof(m->why));
}

/* One mover at a time. */
static int move(struct move *m, unsigned carrier)
{
	struct haul_io *io = m->io;
	unsigned from = hauli_u32_published_get(&io->owners[m->port][m->queue]);
	int err;

	if (from == carrier)
		return 0;
	if (!hauli_io_has_port(io, m->port) || hauli_io_is_quiet(io, m->port, m->queue)) {
		hauli_u32_published_set(&io->owners[m->port][m->queue], carrier);
		return 0;
	}
	/* before the queue has no poller */
	err = run_on(carrier, hauli_answers, m);
	if (err)
		return err;
	err = run_on(from, leave, m);
	if (err)
		return err;
	err = run_on(carrier, enter, m);
	if (err) /* back: it is stuck now, or the runtime is being stopped, or there is no memory */
		hauli_on_carrier_at_last(io->pollers[from], "move", enter, m);
	return err;
}

static int check(const struct haul_io *io, unsigned port, unsigned queue, unsigned carrier,
	char *errbuf, size_t errlen)
{
	if (port >= io->opts.nb_ports)
		snprintf(errbuf, errlen, "haul_io_move_queue: there is no port %u", port);
	else if (queue >= haul_port_queues(io->ports[port]))
		snprintf(
			errbuf, errlen, "haul_io_move_queue: port %u has no queue %u", port, queue);
	else if (carrier >= io->nb_pollers)
		snprintf(errbuf, errlen, "haul_io_move_queue: carrier %u has no poller", carrier);
	else if (!io->owners[port])
		snprintf(errbuf, errlen,
			"haul_io_move_queue: port %u has fewer queues than there are pollers, "
			"which get its packets by spreading; open it with more queues, or move "
			"buckets",
			port);
	else
		return 0;
	return -EINVAL;
}

int hauli_move_queue(struct haul_io *io, unsigned port, unsigned queue, unsigned carrier,
	uint64_t timeout_ns, char *why, size_t len)
{
	struct move m = {.io = io, .port = port, .queue = queue, .timeout_ns = timeout_ns};
	int err = move(&m, carrier);

	if (err)
		snprintf(why, len, "%s", m.why);
	return err;
}

int hauli_move_one(struct haul_io *io, const char *caller, hauli_move_fn *move_to, unsigned port,
	unsigned what, unsigned carrier, uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	char why[160];
	int err;

	if (haul_carrier_self()) {
		snprintf(errbuf, errlen, "%s: called on a carrier; call it in another thread",
			caller);
		return -EPERM;
	}
	pthread_mutex_lock(&io->moving);
	if (hauli_u32_published_get(&io->pollers[carrier]->spared)) {
		snprintf(why, sizeof(why), "carrier %u is not in use; see haul_io_use()", carrier);
		err = -EINVAL;
	} else {
		err = move_to(io, port, what, carrier, timeout_ns, why, sizeof(why));
	}
	pthread_mutex_unlock(&io->moving);
	if (err)
		snprintf(errbuf, errlen, "%s: %s", caller, why);
	return err;
}

int haul_io_move_queue(struct haul_io *io, unsigned port, unsigned queue, unsigned carrier,
	uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	int err;

	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	err = check(io, port, queue, carrier, errbuf, errlen);
	return err ? err
		   : hauli_move_one(io, __func__, hauli_move_queue, port, queue, carrier,
			     timeout_ns, errbuf, errlen);
}
