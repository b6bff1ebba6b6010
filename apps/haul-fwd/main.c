/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-fwd: forwards packets between ports, as dpdk-testpmd does, on carriers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/engine.h"
#include "common/output.h"
#include "common/report.h"
#include "generator.h"
#include "mode.h"

static unsigned mode;
static unsigned coroutine;
static uint64_t size = FRAME_MIN;
static uint64_t flows = 64;
static uint64_t tx_first;
static struct app_texts peers;

static const struct app_option options[] = {
	{"--mode", FWD_MODE_NAMES, APP_ARG_CHOICE, &mode,
		.help = "what happens to received frames:\n"
			"io: sent unchanged\n"
			"mac: sent from the address of the sending port to its peer's\n"
			"macswap: sent with source and destination address exchanged\n"
			"rxonly: dropped\n"
			"txonly: none are received; frames are generated and sent"},
	{"--handler", "burst|coroutine", APP_ARG_CHOICE, &coroutine,
		.help = "handle packets by a function call per burst, or by a coroutine\n"
			"per packet"},
	{"--eth-peer", "N,MAC", APP_ARG_TEXTS, &peers,
		.help = "destination address of frames sent by port N, for mac and\n"
			"txonly; repeat the option for more ports"},
	{"--size", "BYTES", APP_ARG_NUMBER, &size, FRAME_MIN, FRAME_MAX, NULL,
		"length of generated frames, without FCS"},
	{"--flows", "N", APP_ARG_NUMBER, &flows, 1, FRAME_FLOWS_MAX, NULL,
		"number of UDP source ports of generated frames, used in turn"},
	{"--tx-first", "BURSTS", APP_ARG_NUMBER, &tx_first, 0, 1 << 20, "0",
		"number of bursts that each carrier sends on each port at the\n"
		"start, for ports that return what was sent, such as ring:"},
	{0},
};

static struct app_engine engine;
static const struct app_option *const tables[] = {engine.options, options, NULL};

static const struct app_program program = {
	.name = "haul-fwd",
	.tables = tables,
	.ports = haul_port_print_specs,
	.purpose = "Forwards packets between paired ports (0 and 1, 2 and 3, ...; a last port "
		   "without\n"
		   "a pair is its own peer), with one poller per carrier.",
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
		"      generate traffic from carriers on CPUs 0, 2 and 3\n",
};

/* Sets the destination address of each port: from --eth-peer, or the default of testpmd. Returns
 * APP_EXIT_DONE, or an exit code after printing an error. */
static int parse_peers(struct rte_ether_addr *to, unsigned nb_ports)
{
	unsigned i;

	for (i = 0; i < nb_ports; i++)
		to[i] = (struct rte_ether_addr){{0x02, 0, 0, 0, 0, (uint8_t)i}};
	for (i = 0; i < peers.n; i++) {
		const char *text = peers.items[i];
		struct rte_ether_addr mac;
		char *end;
		unsigned long port = strtoul(text, &end, 10);

		if (end == text || *end != ',' || rte_ether_unformat_addr(end + 1, &mac) != 0)
			return app_args_wrong(&program,
				"--eth-peer %s: give the number of a port, a comma and a MAC "
				"address, "
				"such as 0,02:00:00:00:00:01",
				text);
		if (port >= nb_ports)
			return app_args_wrong(&program,
				"--eth-peer %s: there is no port %lu: %u given by --port, numbered "
				"from 0",
				text, port, nb_ports);
		to[port] = mac;
	}
	return APP_EXIT_DONE;
}

/* The same pairs as haul_rx.peer (haul-dpdk/io.h). */
static unsigned peer_of(unsigned port, unsigned nb_ports)
{
	return (port ^ 1) < nb_ports ? port ^ 1 : port;
}

static void set_up(struct fwd *fwd, const struct app_engine *e, const struct rte_ether_addr *to)
{
	unsigned i, peer;

	fwd->pool = e->pool;
	for (i = 0; i < e->nb_ports; i++) {
		struct rte_ether_addr from = haul_port_mac(e->ports[i]);

		peer = peer_of(i, e->nb_ports);
		fwd->ports[i].macs[0] = to[peer];
		fwd->ports[i].macs[1] = haul_port_mac(e->ports[peer]);
		frame_shape_init(
			&fwd->ports[i].shape, &from, &to[i], (uint16_t)size, (uint32_t)flows);
	}
}

/* Starts the coroutines that send without having received. */
static int start_generators(struct app_engine *e, void *arg)
{
	int err = 0;

	if (tx_first > 0)
		err = generator_start(arg, e->rt, e->io, e->nb_ports, tx_first * e->burst);
	if (!err && mode == FWD_TXONLY && coroutine)
		err = generator_start(arg, e->rt, e->io, e->nb_ports, 0);
	if (!err)
		return APP_EXIT_DONE;
	app_say(&program, "cannot start the generators: %s", strerror(-err));
	return APP_EXIT_FAILED;
}

static void add_mode(struct app_engine *e, json_t *object, void *arg)
{
	app_report_choice(object, "mode", FWD_MODE_NAMES, mode);
	json_object_set_new(object, "handler", json_string(coroutine ? "coroutine" : "burst"));
}

static int run(struct app_engine *e)
{
	struct rte_ether_addr to[APP_PORTS_MAX];
	struct fwd_port ports[APP_PORTS_MAX];
	struct fwd fwd = {.ports = ports};
	const struct haul_coro_opts coro = {.name = "packet"};
	const struct app_hooks hooks = {
		.started = start_generators,
		.json = add_mode,
		.arg = &fwd,
	};
	struct haul_io_opts io;
	int rc;

	e->bursts = !coroutine;
	rc = parse_peers(to, RTE_MIN(e->specs.n, (unsigned)APP_PORTS_MAX));
	if (rc == APP_EXIT_DONE)
		rc = app_engine_open(e);
	if (rc != APP_EXIT_DONE)
		return app_engine_close(e, rc);
	fwd.carriers = aligned_alloc(
		_Alignof(struct fwd_carrier), e->plan->carriers * sizeof(fwd.carriers[0]));
	if (!fwd.carriers)
		abort();
	memset(fwd.carriers, 0, e->plan->carriers * sizeof(fwd.carriers[0]));
	set_up(&fwd, e, to);
	io = app_engine_io_opts(e);
	io.coro = &coro;
	io.arg = &fwd;
	fwd_mode_set(&io, (enum fwd_mode)mode, coroutine);
	rc = app_engine_run(e, &io, &hooks);
	rc = app_engine_close(e, rc);
	free(fwd.carriers);
	free(peers.items);
	return rc;
}

int main(int argc, char **argv)
{
	int rc;

	app_output_begin();
	app_engine_init(&engine, &program);
	rc = app_args_parse(&program, argc, argv);
	return app_output_end(&program, rc >= 0 ? rc : run(&engine));
}
