/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-fwd: forwards packets between ports, as dpdk-testpmd does, on carriers. */
#include <stdlib.h>
#include <string.h>

#include <haul-app/app.h>

#include "cores.h"
#include "forward.h"
#include "frame_options.h"
#include "generate.h"
#include "generator.h"
#include "mode.h"
#include "modes/options.h"
#include "ports.h"
#include "prompt.h"
#include "prompt_options.h"
#include "record.h"
#include "run.h"
#include "service.h"
#include "testpmd_names.h"

static uint64_t size = FRAME_MIN;
static uint64_t flows = 64;
static uint64_t tx_first;
static struct haul_app_texts peers;

static bool forwards(void)
{
	return fwd_run_next().mode != FWD_GENERATE;
}

static bool may_send(void)
{
	return forwards() && (tx_first > 0 || fwd_may_run(FWD_TXONLY));
}

static bool has_peers(void)
{
	static const enum fwd_mode modes[] = {
		FWD_MAC, FWD_CSUM, FWD_L3FWD, FWD_FLOWGEN, FWD_TXONLY, FWD_GENERATE};

	return may_send() || fwd_may_run_one(modes, RTE_DIM(modes));
}

/* Frames of txonly have the lengths of --txpkts, those of --tx-first have not. */
static bool has_size(void)
{
	bool in_segments = fwd_mode_args.txpkts && tx_first == 0 && !fwd_prompt_is_used();

	return (may_send() && !in_segments) || fwd_may_run(FWD_FLOWGEN);
}

static bool starts_with_bursts(void)
{
	return forwards() && fwd_prompt_starts();
}

/* haul spreads only if pollers call no source. */
static bool may_spread(void)
{
	return !fwd_mode_has_source(fwd_run_next()) && (forwards() || generate_only_receives());
}

bool fwd_has_flows(void)
{
	return may_send() || generate_has_flows();
}

static const struct haul_app_option options[] = {
	{"--eth-peer", "N,MAC", HAUL_APP_TEXTS, &peers,
		.help = "destination address of frames sent by port N; repeat the option for more "
			"ports",
		.needs = "--mode mac, csum, l3fwd, flowgen, txonly or generate, or --tx-first",
		.has_effect = has_peers},
	{"--size", "BYTES", HAUL_APP_NUMBER, &size, FRAME_MIN, FRAME_MAX, NULL,
		"length of generated frames, without FCS",
		.needs = "--mode txonly without --txpkts, --mode flowgen, or --tx-first",
		.has_effect = has_size},
	{"--flows", "N", HAUL_APP_NUMBER, &flows, 1, FRAME_FLOWS_MAX, NULL,
		"number of UDP source ports of generated frames, used in turn",
		.needs = "--mode txonly or generate, or --tx-first", .has_effect = fwd_has_flows},
	{"--tx-first", "BURSTS", HAUL_APP_NUMBER, &tx_first, 0, FWD_TX_FIRST_MAX, "0",
		"number of bursts that each carrier sends on each port at the start, "
		"for ports that return what was sent, such as ring:",
		.needs = "another mode than generate; with --interactive, also --auto-start",
		.has_effect = starts_with_bursts},
	{0},
};

/* Of options of haul-app. */
static const struct haul_app_need needs[] = {
	{"--period", "reports, without --interactive", fwd_prompt_reports},
	{"--screen", "reports, without --interactive", fwd_prompt_reports},
	{"--spread",
		"another mode than generate with a rate, txonly in bursts, flowgen, and noisy with "
		"a flush time",
		may_spread},
	{0},
};

static const struct haul_app_program program = {
	.name = "haul-fwd",
	.options = {fwd_run_options, options, fwd_ports_options, fwd_cores_options,
		fwd_mode_options, frame_option_table, generate_option_table, fwd_prompt_options},
	.aliases = fwd_testpmd_names,
	.needs = needs,
	.takes_commands = fwd_prompt_is_used,
	.purpose = "Forwards packets between ports, from each to its peer (0 and 1, 2 and 3, ...,\n"
		   "unless --port-topology says otherwise), with one poller per carrier.",
	.examples =
		"  haul-fwd --port null: --port null: --duration 5\n"
		"      measure the upper limit of forwarding, without a NIC\n"
		"  haul-fwd --port afpacket:eth0 --port afpacket:eth1 --handler coroutine\n"
		"      forward between two kernel interfaces, with a coroutine for each packet\n"
		"  haul-fwd --port tap:t0 --mode macswap --carriers 2\n"
		"      return to the kernel what it sends to a new interface t0\n"
		"  haul-fwd --port pcap:rx=in.pcap,tx=out.pcap --mode mac --duration 1 --json\n"
		"      copy from a file to a file, and print statistics for scripts\n"
		"  haul-fwd --port pci:0000:01:00.0 --mode txonly --size 1518 --carriers 0,2-3\n"
		"      generate traffic from carriers on CPUs 0, 2 and 3\n"
		"  haul-fwd --port afpacket:eth0 --mode generate --rate 100k --arrivals poisson\n"
		"      measure latencies and losses of packets that come back\n",
};

/* What handlers get: haul_rx.arg. */
static struct fwd_port ports[HAUL_APP_PORTS_MAX];
static struct fwd fwd = {.ports = ports};
static struct rte_ether_addr peer_macs[HAUL_APP_PORTS_MAX];
static struct frame_options frames;

/* Sets the destination address of each port: from --eth-peer, or the default of testpmd. Returns an
 * exit code. */
static int parse_peers(unsigned nb_ports)
{
	unsigned i;

	for (i = 0; i < nb_ports; i++)
		peer_macs[i] = (struct rte_ether_addr){{0x02, 0, 0, 0, 0, (uint8_t)i}};
	for (i = 0; i < peers.n; i++) {
		const char *text = peers.items[i];
		struct rte_ether_addr mac;
		char *end;
		unsigned long port = strtoul(text, &end, 10);

		if (end == text || *end != ',' || rte_ether_unformat_addr(end + 1, &mac) != 0)
			return haul_app_wrong(&program,
				"--eth-peer %s: give the number of a port, a comma and a MAC "
				"address, such as 0,02:00:00:00:00:01",
				text);
		if (port >= nb_ports)
			return haul_app_wrong(&program,
				"--eth-peer %s: there is no port %lu: %u given by --port, numbered "
				"from 0",
				text, port, nb_ports);
		peer_macs[port] = mac;
	}
	return HAUL_APP_DONE;
}

static struct haul_app_hooks hooks;

/* Returns an exit code. */
static int parse_generator(struct haul_app *app, struct fwd_run run)
{
	if (run.mode != FWD_GENERATE)
		return frame_options_parse(&frames, &program, run.mode == FWD_TXONLY ? flows : 0);
	if (run.coroutine)
		return haul_app_wrong(&program, "--mode generate: it has no --handler coroutine");
	hooks.counters = generate_counters;
	return generate_parsed(app, &program, flows);
}

static int choose_mode(struct haul_app *app, struct haul_io_opts *io)
{
	const struct fwd_run run = fwd_run_parsed();
	int rc = fwd_cores_parsed(app);

	if (rc == HAUL_APP_DONE)
		rc = fwd_ports_parsed(app, io);
	if (rc != HAUL_APP_DONE)
		return rc;
	rc = fwd_modes_parsed(app, &hooks, run);
	if (rc == HAUL_APP_DONE)
		rc = parse_generator(app, run);
	fwd_mode_set(io, run);
	if (rc == HAUL_APP_DONE)
		rc = parse_peers(app->nb_ports);
	if (rc == HAUL_APP_DONE)
		rc = fwd_record_parsed(app, run.mode == FWD_TXONLY || run.mode == FWD_GENERATE);
	return rc == HAUL_APP_DONE ? fwd_prompt_parsed(app) : rc;
}

/* From the options; no pollers run. */
static void set_up_ports(struct haul_app *app)
{
	unsigned i;

	for (i = 0; i < app->nb_ports; i++) {
		struct rte_ether_addr from = haul_port_mac(app->ports[i]);
		unsigned peer = fwd_ports_peer(i);

		ports[i].mac = from;
		ports[i].peer_mac = peer_macs[i];
		ports[i].peer = peer;
		ports[i].macs[0] = peer_macs[peer];
		ports[i].macs[1] = haul_port_mac(app->ports[peer]);
		frame_shape_init(&ports[i].shape, &frames, &from, &peer_macs[i], (uint16_t)size,
			(uint32_t)flows);
	}
}

static int set_up(struct haul_app *app)
{
	size_t carriers_size = app->plan->carriers * sizeof(fwd.carriers[0]);
	int rc = fwd_ports_check(app);

	if (rc != HAUL_APP_DONE)
		return rc;
	fwd.carriers = aligned_alloc(_Alignof(struct fwd_carrier), carriers_size);
	if (!fwd.carriers)
		abort();
	memset(fwd.carriers, 0, carriers_size);
	fwd.pool = app->pool;
	fwd.app = app;
	set_up_ports(app);
	rc = fwd_mode_begin(&fwd, fwd_run_at_start());
	return rc == HAUL_APP_DONE ? fwd_record_opened(app) : rc;
}

/* Starts the coroutines that send without having received. */
static int start_generators(struct haul_app *app, uint64_t bursts)
{
	int err = 0;

	if (fwd.run.mode == FWD_GENERATE)
		return generate_started(app);
	if (bursts > 0)
		err = generator_start(&fwd, app, bursts * app->burst);
	if (!err && fwd.run.mode == FWD_TXONLY && fwd.run.coroutine)
		err = generator_start(&fwd, app, 0);
	if (!err)
		return HAUL_APP_DONE;
	haul_app_say(&program, "cannot start the generators: %s", strerror(-err));
	return HAUL_APP_FAILED;
}

static bool may_end(struct haul_app *app)
{
	fwd_service_cut();
	return fwd.run.mode != FWD_GENERATE || haul_app_is_paused(app) || generate_may_end(app);
}

static void report(struct haul_app *app, FILE *out, bool final)
{
	if (fwd.run.mode != FWD_GENERATE)
		return;
	if (final)
		generate_report(out);
	else
		generate_report_period(out);
}

static int begin(struct haul_app *app)
{
	int rc = haul_app_is_paused(app) ? HAUL_APP_DONE : start_generators(app, tx_first);

	return rc == HAUL_APP_DONE ? fwd_prompt_started(app) : rc;
}

int fwd_start(struct haul_app *app, uint64_t bursts)
{
	struct haul_io_opts io = *haul_app_io_opts(app);
	const struct fwd_run run = fwd_run_next();
	int rc;

	fwd_mode_end(&fwd);
	fwd_mode_set(&io, run);
	set_up_ports(app);
	rc = fwd_mode_begin(&fwd, run);
	if (rc == HAUL_APP_DONE)
		rc = haul_app_resume(app, &io);
	return rc == HAUL_APP_DONE ? start_generators(app, bursts) : rc;
}

uint64_t fwd_tx_first(void)
{
	return tx_first;
}

int fwd_stop(struct haul_app *app)
{
	fwd_service_cut();
	if (fwd.run.mode == FWD_GENERATE && !haul_app_is_paused(app))
		generate_drain(app);
	return haul_app_pause(app);
}

struct rte_ether_addr fwd_peer_mac(unsigned port)
{
	return peer_macs[port];
}

bool fwd_peers_are_right(struct haul_app *app)
{
	if (parse_peers(app->nb_ports) == HAUL_APP_DONE)
		return true;
	peers.n--;
	return false;
}

static void add_mode(struct haul_app *app, struct haul_app_json *object)
{
	char name[16];

	haul_app_json_text(object, "mode", fwd_run_name(name, fwd.run));
	haul_app_json_text(object, "handler", fwd.run.coroutine ? "coroutine" : "burst");
	if (fwd.run.mode == FWD_GENERATE)
		generate_json(object);
}

void fwd_print_json(struct haul_app *app, FILE *out)
{
	struct haul_app_json *object = haul_app_json_begin();

	if (fwd.run.mode != FWD_GENERATE || haul_app_is_paused(app))
		add_mode(app, object);
	haul_app_json_figures(app, object);
	haul_app_json_end(object, out);
}

/* No handler runs on any carrier any more. */
static void end_mode(struct haul_app *app, unsigned carrier)
{
	fwd_mode_end(&fwd);
}

static void tear_down(struct haul_app *app)
{
	fwd_prompt_closed();
	fwd_mode_end(&fwd);
	generate_closed();
	fwd_modes_closed();
	free(fwd.carriers);
}

int main(int argc, char **argv)
{
	hooks = (struct haul_app_hooks){
		.arg = &fwd,
		.parsed = choose_mode,
		.opened = set_up,
		.started = begin,
		.may_end = may_end,
		.report = report,
		.json = add_mode,
		.carrier_ends = end_mode,
		.closed = tear_down,
	};

	return fwd_record_write(&program, haul_app_main(&program, &hooks, argc, argv));
}
