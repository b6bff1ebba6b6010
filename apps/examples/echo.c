/* SPDX-License-Identifier: BSD-3-Clause */
/* echo: answers ARP, ping and UDP for one address. A coroutine handles each packet. */
#include <string.h>

#include <haul-app/app.h>
#include <haul/net.h>

static const char *address = "10.77.0.1/24";
static struct haul_net_if nifs[HAUL_APP_PORTS_MAX]; /* our addresses on each port */

static const struct haul_app_option options[] = {
	{"--ip", "ADDR/LEN", HAUL_APP_TEXT, &address, .help = "IPv4 address to answer for"},
	{0},
};

enum { ANSWERED };
static const struct haul_app_counter counters[] = {{.name = "answered"}, {0}};

static void answer(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct haul_pkt pkt;
	enum haul_verdict v = haul_net_parse(&pkt, mbuf);

	if (v == HAUL_NET_OK)
		v = haul_net_answer(&nifs[rx->port], &pkt); /* the packet is now the reply */
	if (v != HAUL_NET_OK)
		haul_drop_verdict(rx, mbuf, v);
	else if (haul_send(rx->reply, mbuf) != 0) /* waits while the queue is full */
		haul_drop(rx, &mbuf, 1, HAUL_DROP_STOPPING);
	else
		haul_app_count(ANSWERED, 1);
}

static int opened(struct haul_app *app)
{
	for (unsigned i = 0; i < app->nb_ports; i++) {
		struct rte_ether_addr mac = haul_port_mac(app->ports[i]);

		memcpy(nifs[i].mac, mac.addr_bytes, sizeof(nifs[i].mac));
		if (haul_net_set_ip4(&nifs[i], address) != 0)
			return haul_app_wrong(app->program, "--ip %s: not an address", address);
	}
	return HAUL_APP_DONE;
}

int main(int argc, char **argv)
{
	static const struct haul_app_program program = {
		.name = "echo", .purpose = "Answers ARP, ping and UDP.", .options = {options}};
	static const struct haul_app_hooks hooks = {
		.on_packet = answer, .counters = counters, .opened = opened};

	return haul_app_main(&program, &hooks, argc, argv);
}
