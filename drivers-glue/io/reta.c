/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bucket of flows moves from one carrier to another by the redirection table of the device, while
 * packets flow: its entry of the table names another queue, one that the second carrier polls.
 *
 *	mover                 first carrier                    second carrier
 *	spawn, join --------> receive_all(): it begins
 *	                      what it receives
 *	spawn, join -----------------------------------------> pause(): the second queue leaves the
 *	the entry names                                        list
 *	the second queue;
 *	waits HAULI_RETA_NS
 *	spawn, join --------> get_through(): waits until
 *	                      what the first queue had
 *	                      is through
 *	spawn, join -----------------------------------------> go_on(): it polls the queue again
 *
 * Packets of the bucket that come after the change wait in the second queue, with those of its
 * other buckets. So nothing is buffered, no packet is looked at, and a move costs pollers nothing
 * but the pause of a queue. Both queues are FIFOs, and the joins order all that the first carrier
 * did with its queue before what the second one does.
 *
 * The order of a flow. The device has put all packets that it gave to the first queue into it when
 * the update has returned and HAULI_RETA_NS are over: this is what haul assumes of it, as no
 * counter tells. Packets of the bucket that were there are through when
 *	a poll since then has found the queue empty; or the carrier has received twice as many
 *	packets as the queue has room for, as with too much load it never is empty, and a device may
 *	hold as many in front of a queue that is full.
 *	what it has received is through (through.h).
 *	each proxy that sends for the carrier, on any port, has passed on what it had.
 * The wait of the first step is for the carrier's own work only. It has no limit of time, unless
 * the carrier begins no packets, as too many of its handlers wait: then the move fails. The first
 * receive_all() finds that out, as a rule, while nothing has changed, and shortens the pause.
 *
 * If the first carrier does not get through, because of that or because it does not begin
 * get_through() in the caller's time, the entry names the first queue again. This is the one case
 * without order: the second carrier handles what came in between before what the first one has left
 * to begin. To wait on would keep the flows of the second queue from their carrier.
 *
 * The second carrier has to begin go_on(), so there the mover waits without a limit, as when a
 * queue moves (move.c).
 *
 * What the entries name is read once, and known from then on: nobody else may change the table
 * while pollers run. While they are stopped a move changes the entry only, and what waits in the
 * first queue stays there.
 *
 * Model: tests/model/reta.c. Tests: tests/net/io_reta.c, io_soak.c.
 */
#include "io/reta.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

#include "io/create.h"
#include "io/entries.h"
#include "io/on_carrier.h"
#include "io/through.h"
#include "port/fill_time.h"
#include "port/reta.h"

/* From the update of a table until the device has put into queues what it had received before. */
#define HAULI_RETA_NS (50 * HAUL_US)
/* The room of a queue whose PMD does not tell it: few have more. */
#define ROOM_MAX 4096

struct move {
	struct haul_io *io;
	unsigned port, entry;
	unsigned first, second; /* queues */
	unsigned from, to; /* their carriers */
	uint64_t timeout_ns; /* for each carrier to begin */
	int err; /* of the steps on carriers */
	char why[160]; /* the last error */
};

/* What the first queue had at some moment. */
struct had {
	uint64_t found_empty; /* polls, at that moment */
	uint64_t packets; /* received, once as many have been as it may have had */
};

/* Polls that found nothing. */
static uint64_t found_empty(const struct hauli_rxq *r)
{
	return hauli_counter_read(&r->empty) - hauli_counter_read(&r->held);
}

static bool has_left(const struct hauli_rxq *r, const void *arg)
{
	const struct had *had = arg;

	return found_empty(r) == had->found_empty && hauli_counter_read(&r->packets) < had->packets;
}

/* A queue without a handler has nothing to be handled in order. */
static bool is_received(const struct hauli_poller *p, const struct hauli_rxq *r)
{
	return p->on_burst || r->on_packet;
}

/* On the first carrier: until it has received what the queue has now. */
static void *receive_all(void *arg)
{
	struct move *m = arg;
	const struct hauli_poller *p = m->io->pollers[m->from];
	const struct hauli_rxq *r = hauli_io_rxq(m->io, p, m->port, m->first);
	unsigned room = hauli_queue_room(r->port, m->first);
	const struct had had = {found_empty(r),
		hauli_counter_read(&r->packets) + 2 * (uint64_t)(room ? room : ROOM_MAX)};

	if (is_received(p, r))
		m->err = hauli_take_all(p, r, has_left, &had, m->why, sizeof(m->why));
	return NULL;
}

static void *get_through(void *arg)
{
	struct move *m = arg;

	(void)receive_all(m);
	if (!m->err)
		hauli_get_through(m->io->pollers[m->from]);
	return NULL;
}

/* On the second carrier. */
static void *pause_queue(void *arg)
{
	struct move *m = arg;
	struct hauli_poller *p = m->io->pollers[m->to];

	hauli_rxq_pause(p, hauli_io_rxq(m->io, p, m->port, m->second));
	return NULL;
}

static void *go_on(void *arg)
{
	struct move *m = arg;
	struct hauli_poller *p = m->io->pollers[m->to];

	hauli_rxq_go_on(p, hauli_io_rxq(m->io, p, m->port, m->second));
	return NULL;
}

static int run_on(struct move *m, unsigned carrier, haul_fn *fn)
{
	int err = hauli_move_on(m->io, carrier, fn, m, m->timeout_ns, m->why, sizeof(m->why));

	return err ? err : m->err;
}

static int set_entry(struct move *m, unsigned queue)
{
	const unsigned n = hauli_entries_count(m->io, m->port);
	const struct timespec while_on_the_way = {.tv_nsec = HAULI_RETA_NS};
	int err = hauli_reta_set(m->io->ports[m->port], m->entry, queue, n, m->why, sizeof(m->why));

	if (err)
		return err;
	hauli_entry_set(m->io, m->port, m->entry, queue);
	(void)nanosleep(&while_on_the_way, NULL);
	return 0;
}

/* The second queue is not polled meanwhile. */
static int change(struct move *m)
{
	char why[sizeof(m->why)];
	int err = set_entry(m, m->second);

	if (err)
		return err;
	err = run_on(m, m->from, get_through);
	if (!err)
		err = hauli_pass_all_on(m->io, m->from, m->timeout_ns, m->why, sizeof(m->why));
	if (err) { /* back, and the reason is that of the first error */
		snprintf(why, sizeof(why), "%s", m->why);
		(void)set_entry(m, m->first);
		snprintf(m->why, sizeof(m->why), "%s", why);
	}
	return err;
}

/* One mover at a time. */
static int move(struct move *m)
{
	int err;

	if (!hauli_io_has_port(m->io, m->port)) {
		hauli_entry_set(m->io, m->port, m->entry, m->second);
		return 0;
	}
	err = run_on(m, m->to, hauli_answers);
	if (!err)
		err = run_on(m, m->from, receive_all);
	if (!err)
		err = run_on(m, m->to, pause_queue);
	if (err)
		return err;
	err = change(m);
	hauli_on_carrier_at_last(m->io->pollers[m->to], "move", go_on, m);
	return err;
}

static unsigned count_entries(const struct haul_io *io, unsigned port, unsigned queue)
{
	unsigned n = 0;

	for (unsigned i = 0; i < hauli_entries_count(io, port); i++)
		n += hauli_entry_queue(io, port, i) == queue;
	return n;
}

/* The queue of a carrier that the fewest entries name; UINT_MAX: it has none. */
static unsigned best_queue(const struct haul_io *io, unsigned port, unsigned carrier)
{
	unsigned best = UINT_MAX, least = UINT_MAX;

	for (unsigned q = 0; q < haul_port_queues(io->ports[port]); q++) {
		unsigned n = count_entries(io, port, q);

		if (hauli_u32_published_get(&io->owners[port][q]) != carrier || n >= least)
			continue;
		best = q;
		least = n;
	}
	return best;
}

int hauli_move_entry(struct haul_io *io, unsigned port, unsigned entry, unsigned carrier,
	uint64_t timeout_ns, char *why, size_t len)
{
	struct move m = {.io = io,
		.port = port,
		.entry = entry,
		.first = hauli_entry_queue(io, port, entry),
		.second = best_queue(io, port, carrier),
		.to = carrier,
		.timeout_ns = timeout_ns};
	int err;

	m.from = hauli_u32_published_get(&io->owners[port][m.first]);
	if (m.from == carrier)
		return 0;
	if (m.second == UINT_MAX) {
		snprintf(why, len, "carrier %u polls no queue of port %u; move one to it first",
			carrier, port);
		return -EINVAL;
	}
	err = move(&m);
	if (err)
		snprintf(why, len, "%s", m.why);
	return err;
}
