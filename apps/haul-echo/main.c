/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * haul-echo: answers ARP, IPv6 neighbour discovery, ping and UDP on any port that DPDK can open. A
 * coroutine handles each packet, and may sleep while others run.
 *
 * To write a program of your own, copy this one and change answer(): it gets one packet and handles
 * it in plain blocking C.
 */
#include <string.h>

#include <haul-dpdk/io.h>
#include <haul/net.h>

#include "addresses.h"
#include "common/engine.h"
#include "common/output.h"
#include "replies.h"

/* Our addresses on each port. Constant once packets arrive. */
static struct haul_net_if ifs[APP_PORTS_MAX];

static uint64_t delay;

/* Unsupported frames to a group (LLDP, STP, ...) count as not for us, not as losses. */
static bool is_to_group(const struct rte_mbuf *mbuf)
{
	return mbuf->data_len >= RTE_ETHER_ADDR_LEN &&
		rte_is_multicast_ether_addr(rte_pktmbuf_mtod(mbuf, struct rte_ether_addr *));
}

static enum haul_drop reason(enum haul_verdict v, const struct rte_mbuf *mbuf)
{
	switch (v) {
	case HAUL_NET_MALFORMED:
		return HAUL_DROP_MALFORMED;
	case HAUL_NET_NOT_FOR_US:
		return HAUL_DROP_NOT_FOR_US;
	default:
		return is_to_group(mbuf) ? HAUL_DROP_NOT_FOR_US : HAUL_DROP_UNSUPPORTED;
	}
}

/* The body of a packet's coroutine. */
static void answer(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct haul_pkt pkt;
	enum haul_verdict v = haul_net_parse(&pkt, mbuf);

	if (v == HAUL_NET_OK)
		v = haul_net_answer(&ifs[rx->port], &pkt);
	if (v != HAUL_NET_OK) {
		haul_drop(rx, &mbuf, 1, reason(v, mbuf));
		return;
	}

	/* The packet is now its reply. These two calls suspend only this coroutine, and fail if the
	 * program ends meanwhile. */
	if ((delay && haul_sleep(delay)) || haul_send(rx->reply, mbuf)) {
		haul_drop(rx, &mbuf, 1, HAUL_DROP_STOPPING);
		return;
	}
	replies_count(rx->port, pkt.proto);
}

/* Called when the pollers run. Scripts wait for this line. */
static int say_ready(struct app_engine *e, void *arg)
{
	for (unsigned i = 0; i < e->nb_ports; i++)
		addresses_say_ready(e, i, &ifs[i]);
	return APP_EXIT_DONE;
}

/* Called after the options are parsed. Returns an exit code. */
static int run(struct app_engine *e)
{
	static const struct app_hooks hooks = {
		.started = say_ready,
		.table = replies_table,
		.json = replies_json,
	};
	struct haul_io_opts io;
	int rc = addresses_set(e, ifs);

	if (rc == APP_EXIT_DONE)
		rc = app_engine_open(e);
	if (rc != APP_EXIT_DONE)
		return rc;
	for (unsigned i = 0; i < e->nb_ports; i++) {
		struct rte_ether_addr mac = haul_port_mac(e->ports[i]);

		memcpy(ifs[i].mac, mac.addr_bytes, sizeof(ifs[i].mac));
	}
	if (!replies_init(e->plan->carriers)) {
		app_say(e->program, "no memory for counters");
		return APP_EXIT_FAILED;
	}
	io = app_engine_io_opts(e);
	io.on_packet = answer;
	return app_engine_run(e, &io, &hooks);
}

static const struct app_option options[] = {
	{"--delay", "TIME", APP_ARG_TIME, &delay, .max = 3600 * HAUL_S, .zero = "none",
		.help = "sleep for TIME, such as 5ms, in each handler before it replies"},
	{NULL},
};

static const char examples[] = "  haul-echo --port tap:echo0 --ip 10.9.9.2/24 --ip6 fd09::2/64 &\n"
			       "  ip address add 10.9.9.1/24 dev echo0\n"
			       "  ip address add fd09::1/64 dev echo0\n"
			       "  ping 10.9.9.2; ping fd09::2            # answered by coroutines\n"
			       "  echo hello | nc -u -w 1 10.9.9.2 7     # any UDP port echoes\n";

int main(int argc, char **argv)
{
	struct app_engine engine;
	const struct app_option *const tables[] = {address_options, options, engine.options, NULL};
	const struct app_program program = {
		.name = "haul-echo",
		.purpose = "Answers ARP, IPv6 neighbour discovery, ping and UDP. Each packet is "
			   "handled\n"
			   "by a coroutine of its own.",
		.examples = examples,
		.ports = haul_port_print_specs,
		.tables = tables,
	};
	int rc;

	app_output_begin();
	app_engine_init(&engine, &program);
	rc = app_args_parse(&program, argc, argv);
	if (rc < 0)
		rc = run(&engine);
	rc = app_engine_close(&engine, rc);
	replies_fini();
	addresses_free();
	return app_output_end(&program, rc);
}
