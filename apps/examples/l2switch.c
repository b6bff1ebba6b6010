/* SPDX-License-Identifier: BSD-3-Clause */
/* l2switch: an Ethernet switch that learns, in a table of atomic words that carriers share. */
#include <stdatomic.h>
#include <string.h>

#include <haul-app/app.h>

#define SLOTS 65536 /* addresses of the same slot replace each other */
#define NOWHERE HAUL_APP_PORTS_MAX

static uint64_t max_age = 300 * HAUL_S;
static const struct haul_app_option options[] = {
	{"--max-age", "TIME", HAUL_APP_TIME, &max_age, .min = HAUL_S, .max = 3600 * HAUL_S,
		.help = "forget addresses that have sent nothing for this long"},
	{0},
};
enum { SENT, LOST, FLOODED, LEARNED };
static const struct haul_app_counter counters[] = {
	{.name = "sent"}, {.name = "lost"}, {.name = "flooded"}, {.name = "learned"}, {0}};

static struct entry {
	_Atomic uint64_t mac_port; /* 48 bits of address, 16 of port: nobody reads half of it */
	_Atomic uint64_t seen; /* haul_now(), to a second */
} table[SLOTS];

static uint64_t number_of(const struct rte_ether_addr *mac)
{
	uint64_t number = 0;

	memcpy(&number, mac, sizeof(*mac));
	return number; /* less than 2^48 */
}

static struct entry *entry_of(uint64_t mac)
{
	return &table[mac * UINT64_C(0x9e3779b97f4a7c15) >> 48];
}

/* Writes only what has changed, so that carriers mostly share the cache line. */
static void learn(uint64_t mac, uint64_t port, uint64_t now)
{
	struct entry *e = entry_of(mac);
	uint64_t mac_port = mac | port << 48;

	if (now > atomic_load_explicit(&e->seen, memory_order_relaxed) + HAUL_S)
		atomic_store_explicit(&e->seen, now, memory_order_relaxed);
	if (atomic_load_explicit(&e->mac_port, memory_order_relaxed) == mac_port)
		return;
	atomic_store_explicit(&e->mac_port, mac_port, memory_order_relaxed);
	haul_app_count(LEARNED, 1);
}

static unsigned port_of(uint64_t mac, uint64_t now)
{
	struct entry *e = entry_of(mac);
	uint64_t mac_port = atomic_load_explicit(&e->mac_port, memory_order_relaxed);
	uint64_t seen = atomic_load_explicit(&e->seen, memory_order_relaxed);

	return mac_port << 16 == mac << 16 && now <= seen + max_age ? (unsigned)(mac_port >> 48)
								    : NOWHERE;
}

/* The carrier's poller sends what is in the queue in bursts. */
static void send(struct haul_rx *rx, unsigned port, struct rte_mbuf *pkt)
{
	const struct haul_app *app = rx->arg;
	bool sent = pkt && haul_try_send(haul_io_txq(app->io, port, rx->carrier), pkt) == 0;

	if (!sent)
		rte_pktmbuf_free(pkt); /* NULL, or the queue is full */
	haul_app_count(sent ? SENT : LOST, 1);
}

static void flood(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	const struct haul_app *app = rx->arg;

	for (unsigned port = 0; port < app->nb_ports; port++)
		if (port != rx->port)
			send(rx, port, rte_pktmbuf_copy(pkt, app->pool, 0, UINT32_MAX));
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
	haul_app_count(FLOODED, 1);
}

static void forward(struct haul_rx *rx, struct rte_mbuf *pkt, uint64_t now)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkt, struct rte_ether_hdr *);
	unsigned to;

	if (pkt->data_len < sizeof(*eth) || rte_is_multicast_ether_addr(&eth->src_addr)) {
		haul_drop(rx, &pkt, 1, HAUL_DROP_MALFORMED);
		return;
	}
	learn(number_of(&eth->src_addr), rx->port, now);
	to = port_of(number_of(&eth->dst_addr), now);
	if (to == rx->port)
		haul_drop(rx, &pkt, 1, HAUL_DROP_OWN); /* "same_port" */
	else if (to == NOWHERE)
		flood(rx, pkt);
	else
		send(rx, to, pkt);
}

static void switch_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	uint64_t now = haul_now();

	for (uint16_t i = 0; i < n; i++)
		forward(rx, pkts[i], now);
}

int main(int argc, char **argv)
{
	static const struct haul_app_program program = {
		.name = "l2switch", .purpose = "Switches Ethernet.", .options = {options}};
	static const struct haul_app_hooks hooks = {
		.on_burst = switch_burst, .counters = counters, .drop_names = {"same_port"}};

	return haul_app_main(&program, &hooks, argc, argv);
}
