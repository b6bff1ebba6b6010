/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting and stopping the pollers of a program's packets. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "io/capture.h"
#include "io/create.h"
#include "io/detach.h"
#include "io/drain.h"
#include "io/entries.h"
#include "io/idle.h"
#include "io/ledger.h"
#include "io/lost.h"
#include "io/notice.h"
#include "io/packet.h"
#include "io/poll.h"
#include "io/poller_kinds.h"
#include "io/start.h"

static bool any_is_null(struct haul_port *const *ports, unsigned n)
{
	for (unsigned i = 0; ports && i < n; i++)
		if (!ports[i])
			return true;
	return !ports;
}

static bool any_peer_is_wrong(const unsigned *peers, unsigned n)
{
	for (unsigned i = 0; peers && i < n; i++)
		if (peers[i] >= n)
			return true;
	return false;
}

int hauli_io_check(struct haul_io_opts *opts, const char *caller, char *errbuf, size_t errlen)
{
	const char *wrong = NULL;
	int err = 0;

	if (opts->nb_ports == 0)
		wrong = "no port is given; give at least one";
	else if (any_is_null(opts->ports, opts->nb_ports))
		wrong = "a port is NULL; give what haul_port_open() has given";
	else if (any_peer_is_wrong(opts->peers, opts->nb_ports))
		wrong = "a peer is no index of a port; give 0 to nb_ports - 1 for each port";
	else if ((unsigned)opts->send_order > HAUL_ORDER_ANY)
		wrong = "there is no such order; give HAUL_ORDER_FLOW or HAUL_ORDER_ANY";
	else if (opts->coro && opts->coro->order_key > HAUL_ORDER_KEYS)
		wrong = "coro->order_key is more than 254; give 0 to 254";
	else if ((unsigned)opts->spread > HAUL_SPREAD_OFF)
		wrong = "there is no such spread; give one of enum haul_io_spread";
	else if (!opts->pool)
		wrong = "no pool is given; give the one that the ports were opened with";
	else if (opts->overload.target_ns > HAUL_S || opts->overload.interval_ns > HAUL_S)
		wrong = "overload: a time is more than a second";
	else if (opts->burst > HAULI_BURST_MAX)
		wrong = "burst is more than 512; give 1 to 512";
	else if (opts->on_burst && opts->on_packet)
		wrong = "give one of on_burst and on_packet, not both";
	else if (!opts->on_burst && !opts->on_packet && !opts->source)
		wrong = "no handler is given; give on_burst, on_packet or source";
	if (wrong) {
		snprintf(errbuf, errlen, "%s: %s", caller, wrong);
		return -EINVAL;
	}
	for (unsigned i = 0; i < opts->nb_ports && !err; i++)
		if (!opts->ports[i]->detached)
			err = hauli_poller_kind_check(
				opts, opts->ports[i], &opts->policy, errbuf, errlen);
	return err;
}

static bool is_started(const struct haul_port *port)
{
	for (unsigned i = 0; i < port->nb_vdevs && !port->detached; i++)
		if (!port->vdevs[i].started)
			return false;
	return true;
}

int hauli_io_check_ports(
	const struct haul_io_opts *opts, const char *caller, char *errbuf, size_t errlen)
{
	for (unsigned i = 0; i < opts->nb_ports; i++) {
		if (is_started(opts->ports[i]))
			continue;
		snprintf(errbuf, errlen,
			"%s: port '%s' is not started; call haul_port_start() first", caller,
			haul_port_spec(opts->ports[i]));
		return -EINVAL;
	}
	return 0;
}

static int register_poller(struct hauli_poller *p, haul_fn *body)
{
	const struct haul_poller_opts opts = {.name = "poller", .wakeup = hauli_idle_wakeup};

	return haul_poller_register(p->carrier, &p->coroutine, body, p, &opts);
}

static void begin_to_end(struct haul_io *io)
{
	for (unsigned i = 0; i < io->nb_pollers; i++) {
		struct hauli_poller *p = io->pollers[i];

		if (!p->coroutine)
			continue;
		haul_cancel(p->coroutine);
		hauli_ending_begin(&p->ending, p->coroutine);
	}
	io->stage = HAULI_IO_ENDS;
}

/* True if all pollers have ended by then; NULL: waits until they have. */
static bool have_ended(struct haul_io *io, const struct timespec *until)
{
	bool all = true;

	for (unsigned i = 0; i < io->nb_pollers; i++) {
		struct hauli_poller *p = io->pollers[i];

		if (p->coroutine && hauli_ending_wait(&p->ending, until))
			p->coroutine = NULL;
		all &= !p->coroutine;
	}
	return all;
}

/* Keeps the runtime and the ports from ending before the pollers. */
static void hold(struct haul_io *io)
{
	hauli_runtime_hold(io->rt);
	for (unsigned i = 0; i < io->nb_pollers; i++)
		hauli_glue_spare(io->pollers[i]->carrier, !haul_io_is_used(io, i));
	for (unsigned i = 0; i < io->opts.nb_ports; i++)
		io->ports[i]->polled += hauli_io_has_port(io, i);
}

static void let_go(struct haul_io *io)
{
	for (unsigned i = 0; i < io->nb_pollers; i++)
		hauli_glue_spare(io->pollers[i]->carrier, false);
	hauli_runtime_let_go(io->rt);
	for (unsigned i = 0; i < io->opts.nb_ports; i++)
		io->ports[i]->polled -= hauli_io_has_port(io, i);
}

int hauli_io_launch(struct haul_io *io, const char *caller, char *errbuf, size_t errlen)
{
	int err = hauli_io_open_waits(io, caller, errbuf, errlen);
	unsigned i;

	if (!err && !hauli_entries_read(io)) {
		snprintf(errbuf, errlen, "%s: no memory", caller);
		err = -ENOMEM;
	}

	for (i = 0; i < io->nb_pollers && !err; i++) {
		err = register_poller(io->pollers[i], hauli_poll);
		if (!err)
			continue;
		snprintf(errbuf, errlen, "%s: no poller on carrier %u: %s", caller, i,
			err == -EBUSY ? "it has one already; end that one first" : strerror(-err));
		begin_to_end(io);
		(void)have_ended(io, NULL);
	}
	if (err) {
		hauli_io_close_waits(io);
		io->stage = HAULI_IO_STOPPED;
		return err;
	}
	io->stage = HAULI_IO_RUNS;
	hold(io);
	return 0;
}

void hauli_io_let_begin(struct haul_io *io)
{
	for (unsigned i = 0; i < io->nb_pollers; i++)
		hauli_u32_published_set(&io->pollers[i]->may_begin, 1);
}

int haul_io_start(struct haul_io **out, struct haul_runtime *rt, const struct haul_io_opts *opts,
	char *errbuf, size_t errlen)
{
	struct haul_io_opts chosen;
	struct haul_io *io;
	int err;

	HAUL_MISUSE_IF(!out || !rt || !opts, "io, the runtime or the options are NULL");
	if (haul_carrier_self()) {
		snprintf(errbuf, errlen,
			"haul_io_start: called on a carrier; call it in another thread");
		return -EPERM;
	}
	chosen = *opts;
	err = hauli_io_check(&chosen, "haul_io_start", errbuf, errlen);
	if (!err && !opts->stopped)
		err = hauli_io_check_ports(&chosen, "haul_io_start", errbuf, errlen);
	if (err)
		return err;
	err = hauli_packet_init(opts->times);
	if (!err)
		err = hauli_io_create(&io, rt, &chosen);
	if (err) {
		snprintf(errbuf, errlen, "haul_io_start: no memory for %u ports: %s",
			opts->nb_ports, strerror(-err));
		return err;
	}
	io->stage = HAULI_IO_STOPPED;
	hauli_io_begin_without(io);
	hauli_io_choose_queues(io);
	if (opts->capture)
		err = haul_capture_start(opts->capture, io, errbuf, errlen);
	if (!err && !opts->stopped)
		err = hauli_io_launch(io, "haul_io_start", errbuf, errlen);
	if (err) {
		hauli_capture_end(io);
		hauli_io_destroy(io);
		return err;
	}
	hauli_io_note(io);
	*out = io; /* handlers may read it */
	hauli_io_let_begin(io);
	return 0;
}

struct haul_txq *haul_io_txq(const struct haul_io *io, unsigned port, unsigned carrier)
{
	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	return carrier < io->nb_pollers && port < io->opts.nb_ports
		? &io->pollers[carrier]->txs[port].q
		: NULL;
}

const char *haul_io_notice(const struct haul_io *io)
{
	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	return io->notice;
}

bool haul_io_is_healthy(struct haul_io *io, const char **why)
{
	unsigned i;

	HAUL_MISUSE_IF(!io || !why, HAULI_NO_IO);
	for (i = 0; i < io->opts.nb_ports; i++) {
		*why = hauli_io_has_port(io, i) ? haul_port_fault(io->ports[i]) : "";
		if ((*why)[0])
			return false;
	}
	for (i = 0; i < io->nb_pollers; i++) {
		if (hauli_counter_read(&io->pollers[i]->ended) == 0)
			continue;
		snprintf(io->why, sizeof(io->why),
			"the poller of carrier %u has ended: the runtime is being stopped", i);
		*why = io->why;
		return false;
	}
	return true;
}

static bool check_ledgers_of(
	const struct haul_io *io, const struct hauli_poller *p, char *errbuf, size_t errlen)
{
	char where[128];

	for (const struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++) {
		unsigned i = r->rx.port;
		int len = snprintf(where, sizeof(where), "port %u (%s), carrier %u", i,
			haul_port_spec(io->ports[i]), r->rx.carrier);

		if (r->rx.queue != r->rx.carrier && len < (int)sizeof(where))
			snprintf(where + len, sizeof(where) - (size_t)len, ", queue %u",
				r->rx.queue);
		if (!hauli_ledger_check_rx(r, where, errbuf, errlen) ||
			!hauli_ledger_check_tx(&p->txs[i], where, errbuf, errlen))
			return false;
	}
	return true;
}

/* Checks the ledger of each queue; errbuf gets the first mismatch. */
static int check_ledgers(struct haul_io *io, char *errbuf, size_t errlen)
{
	for (unsigned c = 0; c < io->nb_pollers; c++)
		if (!check_ledgers_of(io, io->pollers[c], errbuf, errlen))
			return -EIO;
	return 0;
}

/* The largest run delay of carriers whose pollers have not ended, since the last call. */
static uint64_t delay_of_pollers(struct haul_io *io)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < io->nb_pollers; i++) {
		struct hauli_poller *p = io->pollers[i];
		uint64_t delay = p->coroutine ? hauli_delay_since(p->carrier, &p->delay_waited) : 0;

		most = delay > most ? delay : most;
	}
	return most;
}

static bool have_ended_in_time(struct haul_io *io, struct hauli_limit *limit)
{
	uint64_t slice;

	delay_of_pollers(io);
	while ((slice = hauli_limit_slice(limit)) > 0) {
		struct timespec until = hauli_monotonic_in(slice);

		if (have_ended(io, &until))
			return true;
		hauli_limit_spend(limit, slice, delay_of_pollers(io));
	}
	return false;
}

static void begin_to_drain(struct haul_io *io)
{
	for (unsigned i = 0; i < io->nb_pollers; i++) {
		struct hauli_poller *p = io->pollers[i];

		/* Without memory for the drain, the ledger shows the remaining packets. */
		if (register_poller(p, hauli_drain) == 0)
			hauli_ending_begin(&p->ending, p->coroutine);
		else
			p->coroutine = NULL;
	}
	io->stage = HAULI_IO_DRAINS;
}

static int tell_silent(const struct haul_io *io, char *errbuf, size_t errlen)
{
	size_t len = 0;

	for (unsigned i = 0; i < io->nb_pollers && len < errlen; i++) {
		char line[160];

		if (!io->pollers[i]->coroutine)
			continue;
		hauli_tell_silent(io->pollers[i]->carrier, line, sizeof(line));
		len += (size_t)snprintf(errbuf + len, errlen - len, "%s%s", len ? "; " : "", line);
	}
	return -ETIMEDOUT;
}

/* Time for carriers to answer after the handlers' time. */
#define ANSWER_NS (200 * HAUL_MS)

static struct hauli_limit limit_of(uint64_t timeout_ns, uint64_t more)
{
	return hauli_limit(timeout_ns > HAUL_FOREVER - more ? HAUL_FOREVER : timeout_ns + more);
}

static void set_cancel_at(struct hauli_poller *p, uint64_t began, uint64_t timeout_ns)
{
	p->cancel_at = timeout_ns > HAUL_FOREVER - began ? HAUL_FOREVER : began + timeout_ns;
	p->delay_seen = (struct hauli_delay){0};
	hauli_delay_since(p->carrier, &p->delay_seen);
}

int haul_io_stop(struct haul_io *io, uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	struct hauli_limit limit = limit_of(timeout_ns, HAULI_GRACE_NS + ANSWER_NS);

	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	if (haul_carrier_self()) {
		snprintf(errbuf, errlen,
			"haul_io_stop: called on a carrier, which it would wait for; call it from "
			"another thread");
		return -EDEADLK;
	}
	if (hauli_runtimes_are_copies()) {
		snprintf(errbuf, errlen,
			"haul_io_stop: called in a child of fork(), which has no carriers");
		return -EPERM;
	}
	if (io->stage == HAULI_IO_RUNS) {
		for (unsigned i = 0; i < io->nb_pollers; i++)
			set_cancel_at(io->pollers[i], haul_now(), timeout_ns);
		begin_to_end(io);
	}
	if (io->stage == HAULI_IO_ENDS) {
		if (!have_ended_in_time(io, &limit))
			return tell_silent(io, errbuf, errlen);
		begin_to_drain(io);
	}
	if (io->stage == HAULI_IO_DRAINS) {
		if (!have_ended_in_time(io, &limit)) {
			limit = hauli_limit(HAULI_LINGER_NS + ANSWER_NS);
			if (!have_ended_in_time(io, &limit))
				return tell_silent(io, errbuf, errlen);
		}
		hauli_io_close_waits(io);
		let_go(io);
		io->stage = HAULI_IO_STOPPED;
	}
	return check_ledgers(io, errbuf, errlen);
}

int haul_io_free(struct haul_io *io, char *errbuf, size_t errlen)
{
	int err;

	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	if (io->stage != HAULI_IO_STOPPED) {
		snprintf(errbuf, errlen,
			"haul_io_free: its pollers have not ended; call haul_io_stop() first");
		return -EBUSY;
	}
	err = hauli_lost_check(io->opts.pool, errbuf, errlen);
	hauli_capture_end(io);
	hauli_io_destroy(io);
	return err;
}
