/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers datagrams and pings by packets of its own, with checksums of its own or the PMD's. */
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_icmp.h>
#include <rte_udp.h>

#include <haul-app/app.h>
#include <haul/build.h>
#include <haul/net.h>

static const char *ip4 = "10.77.0.1/24", *ip6 = "fd77::1/64";
static bool offload;
static struct haul_net_if nif;
static struct haul_port_config config;

static const struct haul_app_option options[] = {
	{"--ip", "ADDR/LEN", HAUL_APP_TEXT, &ip4, .help = "IPv4 address to answer for"},
	{"--ip6", "ADDR/LEN", HAUL_APP_TEXT, &ip6, .help = "IPv6 address to answer for"},
	{"--offload", NULL, HAUL_APP_FLAG, &offload, .help = "leave checksums to the PMD"},
	{0},
};

enum { BUILT };
static const struct haul_app_counter counters[] = {{.name = "built"}, {0}};

static uint16_t host16(rte_be16_t n)
{
	return rte_be_to_cpu_16(n);
}

/* A new packet with the payload of a datagram or a ping. */
static int build(struct haul_pkt *out, struct rte_mbuf *m, const struct haul_pkt *in)
{
	struct haul_head head = {.src = haul_pkt_dst(in),
		.dst = haul_pkt_src(in),
		.may_fragment = true,
		.mtu = 1500};

	memcpy(head.src_mac, nif.mac, 6);
	memcpy(head.dst_mac, &in->eth->src_addr, 6);
	memcpy(rte_pktmbuf_append(m, in->payload_len), in->payload, in->payload_len);
	if (in->proto == HAUL_PROTO_UDP)
		return haul_build_udp(out, m, &head, host16(in->udp->dst_port),
			host16(in->udp->src_port), config.tx_offloads);
	return haul_build_echo(out, m, &head, HAUL_ECHO_REPLY, host16(in->icmp->icmp_ident),
		host16(in->icmp->icmp_seq_nb), config.tx_offloads);
}

static void answer(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct haul_pkt pkt, out;
	enum haul_verdict v = haul_net_parse(&pkt, mbuf);
	struct rte_mbuf *m;

	if (v == HAUL_NET_OK)
		v = haul_net_for_us(&nif, &pkt);
	if (v == HAUL_NET_OK && (pkt.proto == HAUL_PROTO_ARP || pkt.proto == HAUL_PROTO_ND)) {
		v = haul_net_answer(&nif, &pkt);
	} else if (v == HAUL_NET_OK) {
		m = rte_pktmbuf_alloc(mbuf->pool);
		if (!m || build(&out, m, &pkt)) {
			rte_pktmbuf_free(m);
			v = HAUL_NET_UNSUPPORTED;
		} else {
			haul_drop(rx, &mbuf, 1, HAUL_DROP_CONSUMED);
			haul_app_count(BUILT, 1);
			mbuf = m;
		}
	}
	if (v == HAUL_NET_OK)
		haul_send_or_drop(rx, rx->reply, mbuf);
	else
		haul_drop_verdict(rx, mbuf, v);
}

static int parsed(struct haul_app *app, struct haul_io_opts *io)
{
	app->port_config = &config;
	if (offload)
		config.tx_offloads = RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM;
	return HAUL_APP_DONE;
}

static int opened(struct haul_app *app)
{
	struct rte_ether_addr mac = haul_port_mac(app->ports[0]);

	memcpy(nif.mac, mac.addr_bytes, sizeof(nif.mac));
	if (haul_net_set_ip4(&nif, ip4) || haul_net_set_ip6(&nif, ip6))
		return haul_app_wrong(app->program, "--ip %s, --ip6 %s: not addresses", ip4, ip6);
	return HAUL_APP_DONE;
}

/* As haul-echo's, for echo.py. */
static int started(struct haul_app *app)
{
	fprintf(stderr, "build_echo: ready: port 0\n");
	return HAUL_APP_DONE;
}

int main(int argc, char **argv)
{
	static const struct haul_app_program program = {
		.name = "build_echo", .purpose = "Answers with new packets.", .options = {options}};
	static const struct haul_app_hooks hooks = {
		.on_packet = answer,
		.counters = counters,
		.parsed = parsed,
		.opened = opened,
		.started = started,
	};

	return haul_app_main(&program, &hooks, argc, argv);
}
