/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that show what is forwarded, and how. */
#include <inttypes.h>
#include <string.h>

#include "../forward.h"
#include "../modes/txonly.h"
#include "../ports.h"
#include "../run.h"
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

void fwd_print_forwarding(const struct fwd_call *call)
{
	const struct haul_app *app = call->app;
	const struct fwd_run next = fwd_run_next();
	char name[16], mac[RTE_ETHER_ADDR_FMT_SIZE];
	unsigned streams = 0;

	for (unsigned i = 0; i < app->nb_ports; i++)
		for (unsigned c = 0; c < app->plan->carriers; c++)
			streams += haul_io_is_used(app->io, c) && haul_io_txq(app->io, i, c);
	fprintf(call->out,
		"%s packet forwarding%s - ports=%u - cores=%u - streams=%u - handler=%s\n",
		fwd_run_name(name, next), next.retries ? " with retry" : "", app->nb_ports,
		count_forwarding(app), streams, next.coroutine ? "coroutine" : "burst");
	if (next.retries)
		fprintf(call->out, "TX retry num: %u, delay between TX retries: %uus\n",
			next.retries, next.retry_us);
	for (unsigned i = 0; i < app->nb_ports; i++) {
		const struct rte_ether_addr to = fwd_peer_mac(fwd_ports_peer(i));

		rte_ether_format_addr(mac, sizeof(mac), &to);
		fprintf(call->out, "  RX P=%u (%s) -> TX P=%u (%s) peer=%s\n", i,
			haul_port_spec(app->ports[i]), fwd_ports_peer(i),
			haul_port_spec(app->ports[fwd_ports_peer(i)]), mac);
	}
}

static bool show_forwarding(const struct fwd_call *call)
{
	fwd_print_forwarding(call);
	return true;
}

static bool show_cores(const struct fwd_call *call)
{
	const struct haul_plan *plan = call->app->plan;

	fprintf(call->out, "List of forwarding lcores:");
	for (unsigned c = 0; c < plan->carriers; c++)
		if (forwards(call->app, c))
			fprintf(call->out, " %d", plan->places[c].cpu);
	fputc('\n', call->out);
	return true;
}

static bool show_rxtx(const struct fwd_call *call)
{
	const struct haul_io_opts *io = haul_app_io_opts(call->app);
	char name[16];

	fprintf(call->out, "  %s packet forwarding packets/burst=%u poller=%s\n",
		fwd_run_name(name, fwd_run_next()), io->burst, haul_poll_name(io->policy.how));
	fprintf(call->out, "  nb forwarding cores=%u - nb forwarding ports=%u\n",
		count_forwarding(call->app), call->app->nb_ports);
	for (unsigned i = 0; i < call->app->nb_ports; i++)
		fprintf(call->out, "  port %u: RX queue number: %u Tx queue number: %u\n", i,
			haul_port_queues(call->app->ports[i]),
			haul_port_queues(call->app->ports[i]));
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
