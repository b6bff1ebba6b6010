/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * haul-echo: answers ARP, IPv6 neighbour discovery, ping and UDP on any port that DPDK can open. A
 * coroutine handles each packet, and may sleep while others run. apps/examples has shorter programs
 * to copy.
 */
#include <string.h>

#include <haul-app/app.h>
#include <haul/net.h>

#include "addresses.h"

/* Our addresses on each port. Constant once packets arrive. */
static struct haul_net_if ifs[HAUL_APP_PORTS_MAX];

static uint64_t delay;

/* Replies by protocol, in the order of enum haul_proto from HAUL_PROTO_ARP on. */
static const struct haul_app_counter counters[] = {
	{"replies_arp"},
	{"replies_nd"},
	{"replies_icmp"},
	{"replies_icmp6"},
	{"replies_udp"},
	{NULL},
};
_Static_assert(sizeof(counters) / sizeof(counters[0]) == HAUL_PROTOS - HAUL_PROTO_ARP + 1,
	"a counter for each protocol that has replies");

/* The body of a packet's coroutine. */
static void answer(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct haul_pkt pkt;
	enum haul_verdict v = haul_net_parse(&pkt, mbuf);

	if (v == HAUL_NET_OK)
		v = haul_net_answer(&ifs[rx->port], &pkt);
	if (v != HAUL_NET_OK) {
		haul_drop_verdict(rx, mbuf, v);
		return;
	}

	/* The packet is now its reply. These two calls suspend only this coroutine, and fail if the
	 * program ends meanwhile. */
	if ((delay && haul_sleep(delay)) || haul_send(rx->reply, mbuf)) {
		haul_drop(rx, &mbuf, 1, HAUL_DROP_STOPPING);
		return;
	}
	haul_app_count(pkt.proto - HAUL_PROTO_ARP, 1);
}

static int set_addresses(struct haul_app *app, struct haul_io_opts *io)
{
	return addresses_set(app, ifs);
}

static int set_macs(struct haul_app *app)
{
	for (unsigned i = 0; i < app->nb_ports; i++) {
		struct rte_ether_addr mac = haul_port_mac(app->ports[i]);

		memcpy(ifs[i].mac, mac.addr_bytes, sizeof(ifs[i].mac));
	}
	return HAUL_APP_DONE;
}

/* Scripts wait for this line. */
static int say_ready(struct haul_app *app)
{
	for (unsigned i = 0; i < app->nb_ports; i++)
		addresses_say_ready(app, i, &ifs[i]);
	return HAUL_APP_DONE;
}

static const struct haul_app_option options[] = {
	{"--delay", "TIME", HAUL_APP_TIME, &delay, .max = 3600 * HAUL_S, .zero = "none",
		.help = "sleep for TIME, such as 5ms, in each handler before it replies"},
	{NULL},
};

static const char examples[] =
	"  haul-echo --port tap:echo0 --ip 10.9.9.2/24 --ip6 fd09::2/64 &\n"
	"  until ip address add 10.9.9.1/24 dev echo0 2>/dev/null; do sleep 0.1; done\n"
	"  ip address add fd09::1/64 dev echo0 nodad\n"
	"  ping -c 2 10.9.9.2; ping -c 2 fd09::2\n"
	"  exec 3<>/dev/udp/10.9.9.2/7; echo hello >&3; head -n 1 <&3   # in bash\n";

int main(int argc, char **argv)
{
	static const struct haul_app_program program = {
		.name = "haul-echo",
		.purpose = "Answers ARP, IPv6 neighbour discovery, ping and UDP. Each packet is "
			   "handled\n"
			   "by a coroutine of its own.",
		.examples = examples,
		.options = {address_options, options},
	};
	static const struct haul_app_hooks hooks = {
		.on_packet = answer,
		.counters = counters,
		.parsed = set_addresses,
		.opened = set_macs,
		.started = say_ready,
	};

	return haul_app_main(&program, &hooks, argc, argv);
}
