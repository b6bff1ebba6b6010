/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-echo with fragments: datagrams and pings of any size come back. */
#include <stdio.h>
#include <string.h>

#include <haul-app/app.h>
#include <haul-dpdk/fragment.h>
#include <haul/net.h>

static const char *ip4 = "10.77.0.1/24", *ip6 = "fd77::1/64";
static struct haul_net_if nif;
static struct haul_reassembly *table;

static const struct haul_app_option options[] = {
	{"--ip", "ADDR/LEN", HAUL_APP_TEXT, &ip4, .help = "IPv4 address to answer for"},
	{"--ip6", "ADDR/LEN", HAUL_APP_TEXT, &ip6, .help = "IPv6 address to answer for"},
	{0},
};

enum { ANSWERED };
static const struct haul_app_counter counters[] = {{.name = "answered"}, {0}};

static void send_all(struct haul_rx *rx, struct haul_pkt *pkt)
{
	struct rte_mbuf *frags[HAUL_FRAGMENTS_MAX];
	int n = haul_fragment(pkt, 1500, pkt->mbuf->pool, frags);

	if (n < 0)
		haul_drop(rx, &pkt->mbuf, 1, HAUL_DROP_UNSUPPORTED);
	for (int i = 0; i < n; i++)
		haul_send_or_drop(rx, rx->reply, frags[i]);
	haul_app_count(ANSWERED, n > 0);
}

static void answer(struct haul_rx *rx, struct rte_mbuf *m)
{
	struct haul_pkt pkt;
	enum haul_verdict v = haul_reassemble(table, &nif, rx->port, &m);

	if (v == HAUL_NET_OK && !m)
		return;
	if (v == HAUL_NET_OK)
		v = haul_net_parse(&pkt, m);
	if (v == HAUL_NET_OK)
		v = haul_net_answer(&nif, &pkt);
	if (v == HAUL_NET_OK)
		send_all(rx, &pkt);
	else
		haul_drop_verdict(rx, m, v);
}

static int opened(struct haul_app *app)
{
	struct rte_ether_addr mac = haul_port_mac(app->ports[0]);

	memcpy(nif.mac, mac.addr_bytes, sizeof(nif.mac));
	if (haul_net_set_ip4(&nif, ip4) || haul_net_set_ip6(&nif, ip6))
		return haul_app_wrong(app->program, "--ip %s, --ip6 %s: not addresses", ip4, ip6);
	return haul_reassembly_create(&table, NULL) ? HAUL_APP_FAILED : HAUL_APP_DONE;
}

/* As haul-echo's, for echo.py. */
static int started(struct haul_app *app)
{
	const uint8_t *m = nif.mac;

	fprintf(stderr, "frag_echo: ready: port 0 (0), %02x:%02x:%02x:%02x:%02x:%02x, %s\n", m[0],
		m[1], m[2], m[3], m[4], m[5], ip4);
	return HAUL_APP_DONE;
}

/* Pollers have stopped. Buffers that a table held on to would be missing. */
static void carrier_ends(struct haul_app *app, unsigned carrier)
{
	if (carrier == 0)
		haul_reassembly_destroy(table);
}

int main(int argc, char **argv)
{
	static const struct haul_app_program program = {
		.name = "frag_echo", .purpose = "Answers in fragments.", .options = {options}};
	static const struct haul_app_hooks hooks = {
		.on_packet = answer,
		.counters = counters,
		.opened = opened,
		.started = started,
		.carrier_ends = carrier_ends,
	};

	return haul_app_main(&program, &hooks, argc, argv);
}
