/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting stopped pollers again. What pollers and handlers count stays where it is, so that sums
 * continue and the ledgers cover all runs; what they do is set anew from the options.
 */
#include "io/resume.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "io/create.h"
#include "io/detach.h"
#include "io/on_carrier.h"
#include "io/start.h"
#include "io/stats.h"

static bool has_targets(const struct haul_io *io)
{
	for (unsigned i = 0; i < io->nb_pollers; i++)
		if (io->pollers[i]->is_proxy)
			return true;
	return false;
}

uint64_t hauli_io_in_flight(const struct haul_io *io)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < io->nb_pollers; i++)
		for (const struct hauli_rxq *r = io->pollers[i]->rxqs; r < io->pollers[i]->rxqs_end;
			r++)
			n += hauli_rxq_in_flight(r);
	return n;
}

static int check(struct haul_io *io, struct haul_io_opts *opts, char *errbuf, size_t errlen)
{
	int err = -EINVAL;

	if (haul_carrier_self())
		err = -EPERM,
		snprintf(errbuf, errlen,
			"haul_io_resume: called on a carrier; call it in another thread");
	else if (io->stage != HAULI_IO_STOPPED)
		err = -EBUSY,
		snprintf(errbuf, errlen,
			"haul_io_resume: the pollers run; call haul_io_stop() first");
	else if (hauli_io_in_flight(io) > 0)
		err = -EBUSY,
		snprintf(errbuf, errlen, "haul_io_resume: handlers of the last run have not ended");
	else if (opts->source && has_targets(io))
		snprintf(errbuf, errlen,
			"haul_io_resume: carriers without a queue, which get packets by spreading, "
			"cannot call a source; start with spread off");
	else
		err = hauli_io_check(opts, "haul_io_resume", errbuf, errlen);
	if (!err)
		err = hauli_io_check_ports(opts, "haul_io_resume", errbuf, errlen);
	return err;
}

/* Burst handlers do not count started and ended. Sets both to the packets so far, so that the
 * counts are right if on_packet follows. */
static void level(struct hauli_rxq *r)
{
	uint64_t started = hauli_counter_read(&r->packets) - hauli_counter_read(&r->not_started);
	uint64_t more = started - hauli_counter_read(&r->started);

	hauli_counter_add(&r->started, more);
	hauli_counter_add(&r->ended, more);
}

static void prepare(struct hauli_poller *p)
{
	p->coroutine = NULL;
	hauli_counter_add(&p->ended, -hauli_counter_read(&p->ended));
	hauli_u32_published_set(&p->drained, 0);
	hauli_u32_published_set(&p->may_begin, 0);
	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		level(r);
}

/* A coroutine of the carrier, the only thread that uses its transmit queues. */
static void *open_txqs(void *arg)
{
	struct hauli_poller *p = arg;

	for (unsigned i = 0; i < p->nb_ports; i++)
		hauli_txq_open(&p->txs[i].q);
	return NULL;
}

static int open_all(struct haul_io *io, char *errbuf, size_t errlen)
{
	int err = 0;

	for (unsigned i = 0; i < io->nb_pollers && !err; i++) {
		err = hauli_on_carrier(
			io->pollers[i], "resume", open_txqs, io->pollers[i], HAUL_FOREVER);
		if (err)
			snprintf(errbuf, errlen, "haul_io_resume: carrier %u: %s", i,
				strerror(-err));
	}
	return err;
}

int haul_io_resume(
	struct haul_io *io, const struct haul_io_opts *change, char *errbuf, size_t errlen)
{
	struct haul_coro_opts coro;
	struct haul_io_opts opts;
	int err;

	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	coro = io->coro;
	if (coro.order_key == HAULI_ORDER_KEY_ASK)
		coro.order_key = 0; /* it follows from send_order */
	opts = change ? *change : io->opts;
	opts.ports = io->ports;
	opts.nb_ports = io->opts.nb_ports;
	opts.pool = io->opts.pool;
	opts.packet_rate = io->opts.packet_rate;
	opts.send_order = io->opts.send_order;
	opts.spread = io->opts.spread;
	opts.times = io->opts.times;
	opts.overload = io->opts.overload;
	if (!change)
		opts.coro = &coro;
	err = check(io, &opts, errbuf, errlen);
	if (err)
		return err;
	if (!hauli_stats_count_bytes(io, opts.count_bytes)) {
		snprintf(errbuf, errlen, "haul_io_resume: no memory");
		return -ENOMEM;
	}
	hauli_io_configure(io, &opts);
	hauli_io_choose_queues(io);
	for (unsigned i = 0; i < io->nb_pollers; i++)
		prepare(io->pollers[i]);
	err = open_all(io, errbuf, errlen);
	if (!err)
		err = hauli_io_launch(io, "haul_io_resume", errbuf, errlen);
	if (!err)
		hauli_io_let_begin(io);
	return err;
}
