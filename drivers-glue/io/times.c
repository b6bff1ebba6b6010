/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/times.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <rte_mbuf_dyn.h>

#include "base/assert.h"
#include "port/kind.h"

/* The PMDs' receive timestamp. */
static int arrival_at = -1;
static uint64_t arrival_flag;

/* Stamps of CLOCK_REALTIME below this are in microseconds, above it in nanoseconds. */
#define MICROSECONDS UINT64_C(100000000000000000)

static size_t size_of(const struct haul_io *io)
{
	return io->opts.nb_ports * sizeof(struct hauli_times);
}

/* Capture files have the time of their capture. */
static bool has_arrival(const struct haul_port *port)
{
	return port->kind->stamps && port->iface[0];
}

static void connect_port(struct haul_io *io, unsigned port, unsigned carrier)
{
	struct hauli_times *t = io->times[port * io->nb_carriers + carrier];
	struct hauli_poller *p;

	t->has_arrival = arrival_at >= 0 && has_arrival(io->ports[port]);
	if (carrier >= io->nb_pollers)
		return;
	p = io->pollers[carrier];
	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		if (r->rx.port == port)
			r->times = t;
	p->txs[port].times = t;
	hauli_txq_stamps(&p->txs[port].q);
}

void hauli_times_connect(struct haul_io *io)
{
	for (unsigned i = 0; io->times && i < io->opts.nb_ports; i++)
		for (unsigned c = 0; c < io->nb_carriers; c++)
			connect_port(io, i, c);
}

static void set_up(struct haul_io *io, struct hauli_times *t, unsigned port, unsigned carrier)
{
	unsigned n = io->nb_carriers;

	t->ns_per_tick = hauli_ns_per_tick();
	t->of_carriers = &io->times[port * n];
	io->times[port * n + carrier] = t;
}

/* Also for carriers without a poller: stolen handlers may end there. Pages come from the NUMA node
 * of the thread that first writes to them: the carrier. */
bool hauli_times_create(struct haul_io *io)
{
	unsigned n = io->nb_carriers;

	if (!io->opts.times)
		return true;
	(void)rte_mbuf_dyn_rx_timestamp_register(&arrival_at, &arrival_flag);
	io->times = calloc(n * io->opts.nb_ports, sizeof(io->times[0]));
	if (!io->times)
		return false;
	for (unsigned c = 0; c < n; c++) {
		struct hauli_times *all = mmap(NULL, size_of(io), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (all == MAP_FAILED)
			return false;
		for (unsigned i = 0; i < io->opts.nb_ports; i++)
			set_up(io, &all[i], i, c);
	}
	hauli_times_connect(io);
	return true;
}

void hauli_times_free(struct haul_io *io)
{
	for (unsigned c = 0; io->times && c < io->nb_carriers; c++)
		if (io->times[c])
			munmap(io->times[c], size_of(io));
	free(io->times);
}

void haul_record(struct haul_rx *rx, enum haul_stage stage, uint64_t ns, uint64_t n)
{
	struct hauli_rxq *r = hauli_rxq_of(rx);

	HAUL_CHECK(rx && haul_carrier_self());
	HAUL_MISUSE_IF((unsigned)stage >= HAUL_STAGES, "there is no such stage: %u", stage);
	if (r->times)
		haul_hist_add(&hauli_times_here(r)->stages[stage], ns, n);
}

static __attribute__((noinline)) void add_arrivals(
	struct hauli_times *t, struct rte_mbuf **pkts, uint16_t n)
{
	struct timespec ts;
	uint64_t now;

	clock_gettime(CLOCK_REALTIME, &ts);
	now = (uint64_t)ts.tv_sec * HAUL_S + (uint64_t)ts.tv_nsec;
	for (uint16_t i = 0; i < n; i++) {
		uint64_t at = *RTE_MBUF_DYNFIELD(pkts[i], arrival_at, rte_mbuf_timestamp_t *);

		if (!(pkts[i]->ol_flags & arrival_flag))
			continue;
		if (at < MICROSECONDS)
			at *= HAUL_US;
		haul_hist_add(&t->stages[HAUL_STAGE_ARRIVAL], hauli_times_since(at, now), 1);
	}
}

void hauli_times_burst(struct hauli_rxq *r, haul_burst_fn *on_burst, struct rte_mbuf **pkts,
	uint16_t n, uint64_t dequeued)
{
	struct hauli_times *t = r->times;
	uint64_t began;

	if (t->has_arrival)
		add_arrivals(t, pkts, n);
	began = hauli_ticks();
	hauli_times_add(t, HAUL_STAGE_START, hauli_times_since(dequeued, began), n);
	on_burst(&r->rx, pkts, n);
	hauli_times_add(t, HAUL_STAGE_HANDLER, hauli_times_since(began, hauli_ticks()), n);
}

void hauli_times_dequeued(
	struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n, uint64_t dequeued)
{
	for (uint16_t i = 0; i < n; i++)
		*hauli_pkt_stamp(pkts[i]) = dequeued;
	if (r->times->has_arrival)
		add_arrivals(r->times, pkts, n);
}

void hauli_times_offer(struct hauli_times *t, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		t->offered[i] = *hauli_pkt_stamp(pkts[i]);
}

void hauli_times_taken(struct hauli_times *t, uint16_t n)
{
	uint64_t now = hauli_ticks();

	for (unsigned i = 0; i < n; i++)
		hauli_times_add(t, HAUL_STAGE_TRANSMIT, hauli_times_since(t->offered[i], now), 1);
}

const char *haul_stage_name(enum haul_stage stage)
{
	static const char *const names[HAUL_STAGES] = {
		[HAUL_STAGE_ARRIVAL] = "arrival",
		[HAUL_STAGE_START] = "start",
		[HAUL_STAGE_HANDLER] = "handler",
		[HAUL_STAGE_TRANSMIT] = "transmit",
	};

	return (unsigned)stage < HAUL_STAGES ? names[stage] : "?";
}

void haul_io_get_times(const struct haul_io *io, unsigned port, unsigned carrier,
	enum haul_stage stage, struct haul_hist *h)
{
	HAUL_MISUSE_IF(!io || !h, HAULI_NO_IO);
	HAUL_MISUSE_IF(port >= io->opts.nb_ports, "there is no port %u: %u were given", port,
		io->opts.nb_ports);
	HAUL_MISUSE_IF((unsigned)stage >= HAUL_STAGES, "there is no such stage: %u", stage);
	memset(h, 0, sizeof(*h));
	for (unsigned c = 0; io->times && c < io->nb_carriers; c++)
		if (carrier == HAUL_ALL || c == carrier)
			haul_hist_merge(h, &io->times[port * io->nb_carriers + c]->stages[stage]);
}
