/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port is taken out, and comes back, while packets of the others flow.
 *
 * A coroutine on each carrier takes the port's queues from those that are polled, and gives the
 * carrier's transmit queue burst calls that take nothing: so what is there, and what comes later,
 * is refused (offer.h). It runs on the thread of the poller, which calls no PMD meanwhile. Packets
 * that handlers have are theirs, so nothing is waited for. The joins order the carriers' last calls
 * of the PMD before the device is closed.
 *
 * An RPS target keeps its queue, in which the proxy puts nothing any more, and hands over what it
 * sends to the proxy, which refuses it.
 *
 * A port comes back by the same steps in the other order: the device is opened while no carrier
 * uses the port, and then a coroutine on each carrier takes its burst calls and queues. The joins
 * order the opening before the carriers' first calls.
 *
 * If a carrier does not answer, in either direction, the others go back: a port is in or out for
 * all of them, since moves of queues and buckets count on it.
 *
 * Idle ports, and queues that are stopped, are taken out and come back in the same way, but while
 * no poller runs, and their device stays open.
 *
 * A port that had no device from the start ("empty:"), or gets another one (haul_port_set_spec()),
 * comes in the same way.
 *
 * Tests: tests/net/io_detach.c, io_soak.c, fwd_lost.py.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "io/capture.h"
#include "io/create.h"
#include "io/detach.h"
#include "io/entries.h"
#include "io/move.h"
#include "io/on_carrier.h"
#include "io/poller_kinds.h"
#include "port/detach.h"
#include "port/port.h"

static bool is_polled(const struct hauli_poller *p, const struct hauli_rxq *r)
{
	for (struct hauli_rxq **active = p->active; *active; active++)
		if (*active == r)
			return true;
	return false;
}

struct detach {
	struct haul_io *io;
	struct hauli_poller *poller;
	unsigned port;
};

/* On the carrier, or while no poller runs. A second call changes nothing. */
static void *detach_here(void *arg)
{
	struct detach *d = arg;
	struct hauli_poller *p = d->poller;
	struct hauli_tx *tx = &p->txs[d->port];

	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++) {
		if (r->rx.port != d->port || r->target)
			continue;
		if (is_polled(p, r))
			hauli_rxq_leave(d->io, p, r);
		r->burst = hauli_burst_none();
	}
	if (!tx->port)
		return NULL;
	tx->detached = tx->no_source = true;
	tx->burst = hauli_burst_none();
	if (d->io->capture)
		hauli_capture_replace(d->io->capture, p, d->port, hauli_burst_none());
	return NULL;
}

/* That a poller polls, of a port that has a device. */
static bool is_to_be_polled(const struct detach *d, const struct hauli_rxq *r)
{
	return hauli_io_owner(d->io, d->port, r->rx.queue) == haul_carrier_id(d->poller->carrier) &&
		!hauli_io_is_quiet(d->io, d->port, r->rx.queue);
}

static bool is_to_send(const struct hauli_tx *tx)
{
	return !hauli_queue_own(tx->port, tx->queue, false).stopped;
}

/* On the carrier, or while no poller runs. */
static void *attach_here(void *arg)
{
	struct detach *d = arg;
	struct hauli_poller *p = d->poller;
	struct hauli_tx *tx = &p->txs[d->port];

	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		if (r->rx.port == d->port && !r->target)
			hauli_rxq_connect(r);
	if (tx->port) {
		tx->detached = !is_to_send(tx);
		tx->no_source = tx->detached || d->io->idle[d->port];
		tx->burst = tx->detached ? hauli_burst_none() : p->rxqs[d->port].burst;
		if (d->io->capture)
			hauli_capture_resume(d->io->capture, p, d->port);
	}
	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		if (r->rx.port == d->port && !r->target && is_to_be_polled(d, r))
			hauli_rxq_enter(d->io, p, r);
	return NULL;
}

static bool is_as_wished(const struct detach *d)
{
	const struct hauli_poller *p = d->poller;
	const struct hauli_tx *tx = &p->txs[d->port];

	for (const struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		if (r->rx.port == d->port && !r->target && is_polled(p, r) != is_to_be_polled(d, r))
			return false;
	return !tx->port ||
		(tx->detached == !is_to_send(tx) &&
			tx->no_source == (tx->detached || d->io->idle[d->port]));
}

void hauli_io_choose_queues(struct haul_io *io)
{
	for (unsigned i = 0; i < io->opts.nb_ports; i++)
		for (unsigned c = 0; c < io->nb_pollers && hauli_io_has_port(io, i); c++) {
			struct detach d = {io, io->pollers[c], i};

			if (is_as_wished(&d))
				continue;
			detach_here(&d);
			attach_here(&d);
		}
}

void hauli_io_begin_without(struct haul_io *io)
{
	for (unsigned port = 0; port < io->opts.nb_ports; port++) {
		if (!io->ports[port]->detached)
			continue;
		for (unsigned i = 0; i < io->nb_pollers; i++)
			detach_here(&(struct detach){io, io->pollers[i], port});
		hauli_u32_published_set(&io->detached[port], 1);
	}
}

static int on_carriers(struct haul_io *io, unsigned port, haul_fn *fn, uint64_t timeout_ns,
	unsigned *done, char *why, size_t len)
{
	int err = 0;

	for (*done = 0; *done < io->nb_pollers && !err; *done += !err) {
		struct detach d = {io, io->pollers[*done], port};

		if (io->stage == HAULI_IO_STOPPED)
			fn(&d);
		else
			err = hauli_on_carrier(d.poller, "detach", fn, &d, timeout_ns);
		if (err)
			hauli_on_carrier_tell(d.poller, err, why, len);
	}
	return err;
}

/* On all carriers; or, if one does not answer, on none: undo goes back. */
static int on_all(struct haul_io *io, unsigned port, haul_fn *fn, haul_fn *undo,
	uint64_t timeout_ns, char *why, size_t len)
{
	unsigned done;
	int err = on_carriers(io, port, fn, timeout_ns, &done, why, len);

	while (err && done-- > 0) {
		struct detach d = {io, io->pollers[done], port};

		hauli_on_carrier_at_last(d.poller, "detach", undo, &d);
	}
	return err;
}

static int detach(struct haul_io *io, unsigned port, uint64_t timeout_ns, char *why, size_t len)
{
	int err = on_all(io, port, detach_here, attach_here, timeout_ns, why, len);

	if (err)
		return err;
	hauli_u32_published_set(&io->detached[port], 1);
	if (io->stage != HAULI_IO_STOPPED)
		io->ports[port]->polled--;
	if (io->ports[port]->polled == 0)
		hauli_port_detach(io->ports[port]);
	return 0;
}

/* That pollers can do with the device what they do with its queues. */
static int check_policies(const struct haul_io *io, unsigned port, char *errbuf, size_t errlen)
{
	int err = 0;

	for (unsigned i = 0; i < io->nb_pollers; i++) {
		const struct hauli_poller *p = io->pollers[i];

		for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end && !err; r++) {
			struct haul_poll_policy policy = hauli_rxq_policy(r);

			if (r->rx.port == port && !r->target)
				err = hauli_poller_kind_check(
					&io->opts, r->port, &policy, errbuf, errlen);
		}
	}
	return err;
}

/* Unless another struct haul_io polls the port. */
static int reopen(struct haul_io *io, unsigned port, char *why, size_t len)
{
	struct haul_port *p = io->ports[port];
	int err = p->detached ? hauli_port_reopen(p, why, len) : 0;

	if (err)
		return err;
	err = check_policies(io, port, why, len);
	if (err && p->polled == 0)
		hauli_port_detach(p);
	return err;
}

/* The device may be of another kind. No carrier uses the queues. */
static void choose_calls(struct haul_io *io, unsigned port)
{
	for (unsigned i = 0; i < io->nb_pollers; i++) {
		struct hauli_poller *p = io->pollers[i];

		for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
			if (r->rx.port == port && !r->target)
				hauli_rxq_choose(io, r);
	}
}

static int attach_device(
	struct haul_io *io, unsigned port, uint64_t timeout_ns, char *why, size_t len)
{
	struct haul_port *p = io->ports[port];
	unsigned answered;
	int err = 0;

	/* before the device is opened */
	if (io->stage != HAULI_IO_STOPPED)
		err = on_carriers(io, port, hauli_answers, timeout_ns, &answered, why, len);
	if (!err)
		err = reopen(io, port, why, len);
	if (err)
		return err;
	choose_calls(io, port);
	if (hauli_entries_restore(io, port))
		err = on_all(io, port, attach_here, detach_here, timeout_ns, why, len);
	else
		err = -ENOMEM, snprintf(why, len, "no memory");
	if (!err) {
		if (io->stage != HAULI_IO_STOPPED)
			p->polled++;
		hauli_u32_published_set(&io->detached[port], 0);
		return 0;
	}
	if (p->polled == 0)
		hauli_port_detach(p);
	return err;
}

static int attach(struct haul_io *io, unsigned port, uint64_t timeout_ns, char *why, size_t len)
{
	int err = attach_device(io, port, timeout_ns, why, len);

	(err ? hauli_port_drop_spec : hauli_port_keep_spec)(io->ports[port]);
	return err;
}

typedef int change_fn(
	struct haul_io *io, unsigned port, uint64_t timeout_ns, char *why, size_t len);

/* From one of the two states to the other; 0 if it is there. */
static int change(struct haul_io *io, const char *caller, change_fn *fn, unsigned port,
	uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	char why[512] = "";
	int err = 0;

	if (port >= io->opts.nb_ports)
		err = -EINVAL, snprintf(why, sizeof(why), "there is no port %u", port);
	else if (haul_carrier_self())
		err = -EPERM,
		snprintf(why, sizeof(why), "called on a carrier; call it in another thread");
	else if (io->stage != HAULI_IO_RUNS && io->stage != HAULI_IO_STOPPED)
		err = -ECANCELED,
		snprintf(why, sizeof(why), "the pollers have not ended; call haul_io_stop() again");
	if (!err) {
		pthread_mutex_lock(&io->moving);
		if (hauli_io_has_port(io, port) == (fn == detach))
			err = fn(io, port, timeout_ns, why, sizeof(why));
		pthread_mutex_unlock(&io->moving);
	}
	if (err)
		snprintf(errbuf, errlen, "%s: %s", caller, why);
	return err;
}

int haul_io_detach_port(
	struct haul_io *io, unsigned port, uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	return change(io, __func__, detach, port, timeout_ns, errbuf, errlen);
}

int haul_io_attach_port(
	struct haul_io *io, unsigned port, uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	return change(io, __func__, attach, port, timeout_ns, errbuf, errlen);
}

bool haul_io_is_attached(const struct haul_io *io, unsigned port)
{
	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	return port < io->opts.nb_ports && hauli_io_has_port(io, port);
}
