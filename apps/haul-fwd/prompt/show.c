/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that show what is forwarded, and how. */
#include <inttypes.h>
#include <string.h>

#include <haul-dpdk/port_config.h>
#include <haul-dpdk/port_info.h>

#include "../forward.h"
#include "../modes/txonly.h"
#include "../run.h"
#include "../testpmd_args.h"
#include "../topology.h"
#include "command.h"
#include "statistics.h"

/* False: the carrier has no poller, or is spared. */
static bool forwards(const struct haul_app *app, unsigned carrier)
{
	return haul_io_txq(app->io, 0, carrier) && haul_io_is_used(app->io, carrier);
}

static unsigned count_forwarding(const struct haul_app *app)
{
	unsigned n = 0;

	for (unsigned c = 0; c < app->plan->carriers; c++)
		n += forwards(app, c);
	return n;
}

static void print_stream(const struct fwd_stream *s, FILE *out)
{
	const struct rte_ether_addr to = fwd_peer_mac(s->to);
	const int node = s->app->plan->places[s->carrier].node;
	const bool specs = !fwd_testpmd_is_meant();
	char mac[RTE_ETHER_ADDR_FMT_SIZE];

	rte_ether_format_addr(mac, sizeof(mac), &to);
	fprintf(out, "  RX P=%u/Q=%u (socket %d%s%s) -> TX P=%u/Q=%u (socket %d%s%s) peer=%s\n",
		s->port, s->queue, RTE_MAX(node, 0), specs ? ", " : "",
		specs ? haul_port_spec(s->app->ports[s->port]) : "", s->to, s->carrier,
		RTE_MAX(node, 0), specs ? ", " : "",
		specs ? haul_port_spec(s->app->ports[s->to]) : "", mac);
}

void fwd_print_forwarding(const struct fwd_call *call)
{
	const struct haul_app *app = call->app;
	const struct fwd_run next = fwd_run_next();
	char name[16];

	fprintf(call->out,
		"%s packet forwarding%s - ports=%u - cores=%u - streams=%u - NUMA support enabled, "
		"MP allocation mode: native%s\n",
		fwd_run_name(name, next), next.retries ? " with retry" : "", fwd_topology_ports(),
		count_forwarding(app), fwd_streams(app, HAUL_ALL, NULL, NULL),
		fwd_testpmd_is_meant()   ? ""
			: next.coroutine ? " - handler=coroutine"
					 : " - handler=burst");
	if (next.retries)
		fprintf(call->out, "TX retry num: %u, delay between TX retries: %uus\n",
			next.retries, next.retry_us);
	for (unsigned c = 0; c < app->plan->carriers; c++) {
		const struct haul_place *place = &app->plan->places[c];
		unsigned n = fwd_streams(app, c, NULL, NULL);

		if (n == 0)
			continue;
		fprintf(call->out, "Logical Core %d (socket %d) forwards packets on %u streams:\n",
			place->cpu, RTE_MAX(place->node, 0), n);
		fwd_streams(app, c, print_stream, call->out);
	}
	fputc('\n', call->out);
}

static bool show_cores(const struct fwd_call *call)
{
	const struct haul_plan *plan = call->app->plan;

	fprintf(call->out, "List of forwarding lcores: ");
	for (unsigned c = 0; c < plan->carriers; c++)
		if (forwards(call->app, c))
			fprintf(call->out, " %d", plan->places[c].cpu);
	fputc('\n', call->out);
	return true;
}

static void print_thresholds(FILE *out, const char *side, struct rte_eth_thresh t)
{
	fprintf(out, "      %s threshold registers: pthresh=%d hthresh=%d  wthresh=%d\n", side,
		t.pthresh, t.hthresh, t.wthresh);
}

/* As testpmd, of the first one. */
static void print_queue(const struct haul_port *port, bool rx, FILE *out)
{
	const struct haul_port_config *config = haul_port_config(port);
	uint64_t offloads = rx ? config->rx_offloads : config->tx_offloads;

	struct haul_queue_info info = {.offloads = 0};

	(void)haul_port_get_queue_info(port, 0, rx, &info);
	fprintf(out, "    %s queue: 0\n", rx ? "RX" : "TX");
	if (rx) {
		fprintf(out, "      RX desc=%u - RX free threshold=%u\n", info.rx.nb_desc,
			info.rx.conf.rx_free_thresh);
		print_thresholds(out, "RX", info.rx.conf.rx_thresh);
		fprintf(out, "      RX Offloads=0x%" PRIx64 "\n", offloads | info.offloads);
		return;
	}
	fprintf(out, "      TX desc=%u - TX free threshold=%u\n", info.tx.nb_desc,
		info.tx.conf.tx_free_thresh);
	print_thresholds(out, "TX", info.tx.conf.tx_thresh);
	fprintf(out, "      TX offloads=0x%" PRIx64 " - TX RS bit threshold=%u\n",
		offloads | info.offloads, info.tx.conf.tx_rs_thresh);
}

void fwd_print_rxtx(const struct fwd_call *call)
{
	const struct haul_io_opts *io = haul_app_io_opts(call->app);
	char name[16];

	fprintf(call->out, "  %s packet forwarding packets/burst=%u%s%s\n",
		fwd_run_name(name, fwd_run_next()), io->burst,
		fwd_testpmd_is_meant() ? "" : " poller=",
		fwd_testpmd_is_meant() ? "" : haul_poll_name(io->policy.how));
	fprintf(call->out, "  nb forwarding cores=%u - nb forwarding ports=%u\n",
		count_forwarding(call->app), fwd_topology_ports());
	for (unsigned i = 0; i < call->app->nb_ports; i++) {
		const struct haul_port *port = call->app->ports[i];

		if (!haul_io_is_attached(call->app->io, i))
			continue;
		fprintf(call->out, "  port %u: RX queue number: %u Tx queue number: %u\n", i,
			haul_port_queues(port), haul_port_queues(port));
		fprintf(call->out, "    Rx offloads=0x%" PRIx64 " Tx offloads=0x%" PRIx64 "\n",
			haul_port_config(port)->rx_offloads, haul_port_config(port)->tx_offloads);
		print_queue(port, true, call->out);
		print_queue(port, false, call->out);
	}
}

static bool show_rxtx(const struct fwd_call *call)
{
	fwd_print_rxtx(call);
	return true;
}

static bool show_forwarding(const struct fwd_call *call)
{
	fwd_print_forwarding(call);
	return true;
}

static bool show_txpkts(const struct fwd_call *call)
{
	const uint16_t *sizes;
	unsigned n = fwd_txonly_segments(&sizes);

	fprintf(call->out, "Number of segments: %u\nSegment sizes: ", n ? n : 1);
	for (unsigned i = 0; i < n; i++)
		fprintf(call->out, "%s%u", i ? "," : "", sizes[i]);
	if (n == 0)
		fprintf(call->out, "%u", fwd_size());
	fprintf(call->out, "\nSplit packet: %s\n", fwd_txonly_is_random() ? "rand" : "off");
	return true;
}

/* Buckets side by side that have the same carrier. */
struct range {
	unsigned first, last, carrier;
	unsigned hottest;
	uint64_t packets, most; /* of all, of the hottest */
};

static void print_range(FILE *out, const struct range *r)
{
	fprintf(out, "  buckets %u-%u: carrier %u, %" PRIu64 " packets", r->first, r->last,
		r->carrier, r->packets);
	if (r->most > 0)
		fprintf(out, ", %" PRIu64 " in bucket %u", r->most, r->hottest);
	fputc('\n', out);
}

/* Of a port whose packets are spread by software. */
static void show_spread(const struct fwd_call *call, unsigned port, unsigned n)
{
	struct range r = {0};
	struct haul_bucket_stats st;
	bool any = false;

	for (unsigned b = 0; b < n; b++) {
		if (!haul_io_get_bucket_stats(call->app->io, port, b, &st))
			continue;
		if (any && (st.carrier != r.carrier || b % HAUL_IO_BUCKETS == 0)) {
			print_range(call->out, &r);
			any = false;
		}
		if (!any)
			r = (struct range){.first = b, .carrier = st.carrier};
		any = true;
		r.last = b;
		r.packets += st.rx_packets;
		if (st.rx_packets > r.most) {
			r.most = st.rx_packets;
			r.hottest = b;
		}
	}
	if (any)
		print_range(call->out, &r);
}

/* Entries of a redirection table that name the queue: "0,3,6-9". */
static void show_entries(const struct fwd_call *call, unsigned port, unsigned queue, unsigned n)
{
	struct haul_queue_stats polled = {0};
	struct haul_bucket_stats st;
	unsigned first = n; /* of those side by side */
	const char *comma = "";

	(void)haul_io_get_queue_stats(call->app->io, port, queue, &polled);
	fprintf(call->out, "  queue %u, carrier %u: buckets ", queue, polled.carrier);
	for (unsigned b = 0; b <= n; b++) {
		if (b < n && haul_io_get_bucket_stats(call->app->io, port, b, &st) &&
			st.queue == queue) {
			first = first < b ? first : b;
			continue;
		}
		if (first < b) {
			fprintf(call->out, "%s%u", comma, first);
			if (b - first > 1)
				fprintf(call->out, "-%u", b - 1);
			comma = ",";
		}
		first = n;
	}
	fprintf(call->out, "%s\n", comma[0] ? "" : "none");
}

static bool show_buckets_of(const struct fwd_call *call, unsigned port)
{
	unsigned n = haul_io_buckets(call->app->io, port);
	unsigned queues = haul_port_queues(call->app->ports[port]);
	struct haul_bucket_stats st;
	bool by_device = haul_io_get_bucket_stats(call->app->io, port, 0, &st) && !st.counted;

	if (n == 0) {
		fprintf(call->out,
			"port %u: its packets are not spread, and its device has no redirection "
			"table in use\n",
			port);
		return false;
	}
	if (!by_device)
		show_spread(call, port, n);
	for (unsigned q = 0; by_device && q < queues; q++)
		show_entries(call, port, q, n);
	return true;
}

static bool show_buckets(const struct fwd_call *call)
{
	return fwd_each_port(call, call->words[2].text, show_buckets_of);
}

static bool show_statistics(const struct fwd_call *call)
{
	fwd_statistics_print(call);
	return true;
}

static bool clear_statistics(const struct fwd_call *call)
{
	fwd_statistics_begin(call->app);
	return true;
}

const struct fwd_command fwd_commands_show[] = {
	{"show fwd stats all", show_statistics, "Show the statistics since start."},
	{"clear fwd stats all", clear_statistics, "Count from 0."},
	{"show config fwd", show_forwarding, "Show which port forwards to which."},
	{"show config cores", show_cores, "Show the CPUs of the carriers in use."},
	{"show config txpkts", show_txpkts, "Show the lengths of generated frames."},
	{"show config rxtx", show_rxtx, "Show how pollers receive."},
	{"show buckets PORT", show_buckets, "Show which carriers have which buckets of flows."},
	{0},
};
