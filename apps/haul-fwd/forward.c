/* SPDX-License-Identifier: BSD-3-Clause */
#include "forward.h"

#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/port_config.h>

#include "cores.h"
#include "frame_options.h"
#include "generate.h"
#include "generator.h"
#include "modes/csum.h"
#include "modes/options.h"
#include "ports.h"
#include "prompt_options.h"
#include "record.h"
#include "run.h"
#include "service.h"
#include "topology.h"

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

bool fwd_has_flows(void)
{
	return may_send() || generate_has_flows();
}

const struct haul_app_option fwd_options[] = {
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

/* What handlers get: haul_rx.arg. */
static struct fwd_port both_ports[2][HAUL_APP_PORTS_MAX];
static struct fwd fwd;
static struct rte_ether_addr peer_macs[HAUL_APP_PORTS_MAX];
static struct frame_options frames;

/* Sets the destination address of each port: from --eth-peer, or the default of testpmd. Returns an
 * exit code. */
static int parse_peers(const struct haul_app *app)
{
	unsigned i;

	for (i = 0; i < app->nb_ports; i++)
		peer_macs[i] = (struct rte_ether_addr){{0x02, 0, 0, 0, 0, (uint8_t)i}};
	for (i = 0; i < peers.n; i++) {
		const char *text = peers.items[i];
		struct rte_ether_addr mac;
		char *end;
		unsigned long port = strtoul(text, &end, 10);

		if (end == text || *end != ',' || rte_ether_unformat_addr(end + 1, &mac) != 0)
			return haul_app_wrong(app->program,
				"--eth-peer %s: give the number of a port, a comma and a MAC "
				"address, such as 0,02:00:00:00:00:01",
				text);
		if (port >= app->nb_ports)
			return haul_app_wrong(app->program,
				"--eth-peer %s: there is no port %lu: %u given by --port, numbered "
				"from 0",
				text, port, app->nb_ports);
		peer_macs[port] = mac;
	}
	return HAUL_APP_DONE;
}

/* Returns an exit code. */
static int parse_generator(struct haul_app *app, struct haul_app_hooks *hooks, struct fwd_run run)
{
	if (run.mode != FWD_GENERATE)
		return frame_options_parse(
			&frames, app->program, run.mode == FWD_TXONLY ? flows : 0);
	if (run.coroutine)
		return haul_app_wrong(
			app->program, "--mode generate: it has no --handler coroutine");
	hooks->counters = generate_counters;
	return generate_parsed(app, app->program, flows);
}

int fwd_parsed(struct haul_app *app, struct haul_io_opts *io, struct haul_app_hooks *hooks)
{
	const struct fwd_run run = fwd_run_parsed();
	int rc = fwd_cores_parsed(app);

	if (rc == HAUL_APP_DONE)
		rc = fwd_ports_parsed(app);
	hooks->frame = fwd_ports_frame();
	if (rc == HAUL_APP_DONE)
		rc = fwd_topology_parsed(app, io);
	if (rc != HAUL_APP_DONE)
		return rc;
	rc = fwd_modes_parsed(app, hooks, run);
	if (rc == HAUL_APP_DONE)
		rc = parse_generator(app, hooks, run);
	fwd_mode_set(io, run);
	if (rc == HAUL_APP_DONE)
		rc = parse_peers(app);
	if (rc == HAUL_APP_DONE)
		rc = fwd_record_parsed(app, run.mode == FWD_TXONLY || run.mode == FWD_GENERATE);
	return rc;
}

/* From the options; no pollers run. */
static void set_up_ports(struct haul_app *app)
{
	struct fwd_port *ports = both_ports[0];
	unsigned i;

	fwd_versions_init(&fwd.ports, both_ports[0], both_ports[1], sizeof(both_ports[0]));
	for (i = 0; i < app->nb_ports; i++) {
		struct rte_ether_addr from = haul_port_mac(app->ports[i]);
		unsigned peer = fwd_topology_peer(i);

		ports[i].mac = from;
		ports[i].peer_mac = peer_macs[i];
		ports[i].peer = peer;
		ports[i].macs[0] = peer_macs[peer];
		ports[i].macs[1] = haul_port_mac(app->ports[peer]);
		frame_shape_init(&ports[i].shape, &frames, &from, &peer_macs[i], (uint16_t)size,
			(uint32_t)flows);
	}
}

void fwd_mac_changed(struct haul_app *app, unsigned port)
{
	struct fwd_port *ports = fwd_versions_copy(&fwd.ports);

	ports[port].mac = ports[port].shape.headers.eth.src_addr = haul_port_mac(app->ports[port]);
	for (unsigned i = 0; i < app->nb_ports; i++)
		if (ports[i].peer == port)
			ports[i].macs[1] = ports[port].mac;
	fwd_versions_show(&fwd.ports);
}

void fwd_attached(struct haul_app *app, unsigned port)
{
	fwd_mac_changed(app, port);
	fwd_csum_set_offloads(port, haul_port_config(app->ports[port])->tx_offloads);
	if (fwd.mode && fwd.has_begun && fwd.mode->attached)
		fwd.mode->attached(&fwd, port);
}

int fwd_opened(struct haul_app *app)
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
	haul_app_say(app->program, "cannot start the generators: %s", strerror(-err));
	return HAUL_APP_FAILED;
}

int fwd_started(struct haul_app *app)
{
	return haul_app_is_paused(app) ? HAUL_APP_DONE : start_generators(app, tx_first);
}

bool fwd_may_end(struct haul_app *app)
{
	fwd_service_cut();
	return fwd.run.mode != FWD_GENERATE || haul_app_is_paused(app) || generate_may_end(app);
}

void fwd_report(struct haul_app *app, FILE *out, bool final)
{
	if (fwd.run.mode != FWD_GENERATE)
		return;
	if (final)
		generate_report(out);
	else
		generate_report_period(out);
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

unsigned fwd_size(void)
{
	return (unsigned)size;
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
	if (parse_peers(app) == HAUL_APP_DONE)
		return true;
	peers.n--;
	return false;
}

void fwd_add_mode(struct haul_app *app, struct haul_app_json *object)
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
		fwd_add_mode(app, object);
	haul_app_json_figures(app, object);
	haul_app_json_end(object, out);
}

/* No handler runs on any carrier any more. */
void fwd_end_mode(struct haul_app *app, unsigned carrier)
{
	fwd_mode_end(&fwd);
}

void fwd_closed(void)
{
	fwd_mode_end(&fwd);
	generate_closed();
	fwd_modes_closed();
	free(fwd.carriers);
}

struct fwd *fwd_forwarder(void)
{
	return &fwd;
}
