/* SPDX-License-Identifier: BSD-3-Clause */
#include "statistics.h"

#include <inttypes.h>

#include "../forward.h"
#include "../run.h"
#include "../topology.h"
#include "recording.h"

#define BORDER "----------------------"
#define ALL "+++++++++++++++"
#define QUEUES_MAX 64 /* of a port, with statistics of their own */

static struct haul_io_stats began[HAUL_APP_PORTS_MAX];
static struct haul_queue_stats queues_began[HAUL_APP_PORTS_MAX][QUEUES_MAX];

struct flow {
	uint64_t rx, rx_dropped, tx, tx_dropped;
};

static uint64_t tx_dropped(const struct haul_io_stats *st)
{
	return st->dropped[HAUL_DROP_TX_FULL] + st->dropped[HAUL_DROP_TX_REFUSED] +
		st->dropped[HAUL_DROP_STOPPING] + st->tx_errors;
}

static struct flow flow_of(const struct haul_io_stats *st)
{
	return (struct flow){st->rx_packets, st->rx_missed, st->tx_packets, tx_dropped(st)};
}

static struct flow since_start(const struct haul_app *app, unsigned port)
{
	struct haul_io_stats now;
	struct flow a, b;

	haul_io_get_stats(app->io, port, HAUL_ALL, &now);
	a = flow_of(&now);
	b = flow_of(&began[port]);
	return (struct flow){
		a.rx - b.rx, a.rx_dropped - b.rx_dropped, a.tx - b.tx, a.tx_dropped - b.tx_dropped};
}

void fwd_statistics_begin(const struct haul_app *app)
{
	for (unsigned i = 0; i < app->nb_ports; i++) {
		haul_io_get_stats(app->io, i, HAUL_ALL, &began[i]);
		for (unsigned q = 0; q < QUEUES_MAX; q++)
			(void)haul_io_get_queue_stats(app->io, i, q, &queues_began[i][q]);
	}
	fwd_recording_begin(app);
}

static void print_flow(FILE *out, const struct flow *f)
{
	fprintf(out,
		"  RX-packets: %-14" PRIu64 " RX-dropped: %-14" PRIu64 "RX-total: %" PRIu64 "\n",
		f->rx, f->rx_dropped, f->rx + f->rx_dropped);
	fprintf(out,
		"  TX-packets: %-14" PRIu64 " TX-dropped: %-14" PRIu64 "TX-total: %" PRIu64 "\n",
		f->tx, f->tx_dropped, f->tx + f->tx_dropped);
}

unsigned fwd_streams(const struct haul_app *app, unsigned carrier,
	void (*fn)(const struct fwd_stream *stream, FILE *out), FILE *out)
{
	struct haul_queue_stats st;
	unsigned n = 0;
	bool any = true; /* queues of this number */

	for (unsigned q = 0; any; q++) {
		any = false;
		for (unsigned i = 0; i < app->nb_ports; i++) {
			if (!fwd_topology_forwards(i) || !haul_io_is_attached(app->io, i) ||
				!haul_io_get_queue_stats(app->io, i, q, &st))
				continue;
			any = true;
			if (carrier != HAUL_ALL && st.carrier != carrier)
				continue;
			n++;
			if (fn)
				fn(&(struct fwd_stream){app, i, q, fwd_topology_peer(i), st.carrier,
					   st},
					out);
		}
	}
	return n;
}

/* What a transmit queue drops is of no stream: several may end there. */
static void print_stream(const struct fwd_stream *s, FILE *out)
{
	const struct haul_queue_stats *before = &queues_began[s->port][s->queue];
	uint64_t rx, dropped;

	if (s->queue >= QUEUES_MAX)
		return;
	rx = s->stats.rx_packets - before->rx_packets;
	dropped = s->stats.dropped - before->dropped;
	if (rx == 0)
		return;
	fprintf(out,
		"\n  ------- Forward Stats for RX Port=%2u/Queue=%2u -> TX Port=%2u/Queue=%2u "
		"-------\n",
		s->port, s->queue, s->to, s->carrier);
	fprintf(out,
		"  RX-packets: %-14" PRIu64 " TX-packets: %-14" PRIu64 " TX-dropped: %-14" PRIu64
		"\n",
		rx, rx - dropped, dropped);
}

void fwd_statistics_print(const struct fwd_call *call)
{
	struct flow all = {0};
	char mode[16];

	if (fwd_streams(call->app, HAUL_ALL, NULL, NULL) > fwd_topology_ports())
		fwd_streams(call->app, HAUL_ALL, print_stream, call->out);
	for (unsigned i = 0; i < call->app->nb_ports; i++) {
		struct flow f = since_start(call->app, i);

		if (!fwd_topology_forwards(i))
			continue;
		fprintf(call->out, "\n  " BORDER " Forward statistics for port %-2u " BORDER "\n",
			i);
		print_flow(call->out, &f);
		fwd_recording_print_bursts(call->app, i, call->out);
		fprintf(call->out, "  " BORDER "--------------------------------" BORDER "\n");
		all.rx += f.rx;
		all.rx_dropped += f.rx_dropped;
		all.tx += f.tx;
		all.tx_dropped += f.tx_dropped;
	}
	fprintf(call->out, "\n  " ALL " Accumulated forward statistics for all ports" ALL "\n");
	print_flow(call->out, &all);
	fprintf(call->out, "  " ALL ALL ALL ALL ALL "+\n");
	/* A source receives nothing. */
	fwd_recording_print_cycles(call->app, fwd_run_name(mode, fwd_forwarder()->run),
		all.rx > 0 ? all.rx : all.tx, call->out);
}
