/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port is taken out while packets of the others flow.
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
 * Tests: tests/net/io_detach.c, io_soak.c, fwd_lost.py.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "io/capture.h"
#include "io/move.h"
#include "io/on_carrier.h"
#include "port/detach.h"

static uint16_t take_none(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	return 0;
}

static struct hauli_burst no_burst(void)
{
	static void *nothing[1];
	static const struct rte_eth_fp_ops ops = {.rx_pkt_burst = take_none,
		.tx_pkt_burst = take_none,
		.rxq = {.data = nothing, .clbk = nothing},
		.txq = {.data = nothing, .clbk = nothing}};

	return (struct hauli_burst){&ops, 0, 0};
}

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
		r->burst = no_burst();
	}
	if (!tx->port)
		return NULL;
	tx->detached = true;
	tx->burst = no_burst();
	if (d->io->capture)
		hauli_capture_replace(d->io->capture, p, d->port, no_burst());
	return NULL;
}

static int detach(struct haul_io *io, unsigned port, uint64_t timeout_ns, char *why, size_t len)
{
	for (unsigned i = 0; i < io->nb_pollers; i++) {
		struct detach d = {io, io->pollers[i], port};
		int err = 0;

		if (io->stage == HAULI_IO_STOPPED)
			detach_here(&d);
		else
			err = hauli_on_carrier(d.poller, "detach", detach_here, &d, timeout_ns);
		if (err) {
			hauli_on_carrier_tell(d.poller, err, why, len);
			return err;
		}
	}
	hauli_u32_published_set(&io->detached[port], 1);
	if (io->stage != HAULI_IO_STOPPED)
		io->ports[port]->polled--;
	if (io->ports[port]->polled == 0)
		hauli_port_detach(io->ports[port]);
	return 0;
}

int haul_io_detach_port(
	struct haul_io *io, unsigned port, uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	char why[160] = "";
	int err = 0;

	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
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
		if (hauli_io_has_port(io, port))
			err = detach(io, port, timeout_ns, why, sizeof(why));
		pthread_mutex_unlock(&io->moving);
	}
	if (err)
		snprintf(errbuf, errlen, "haul_io_detach_port: %s", why);
	return err;
}

bool haul_io_is_attached(const struct haul_io *io, unsigned port)
{
	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	return port < io->opts.nb_ports && hauli_io_has_port(io, port);
}
