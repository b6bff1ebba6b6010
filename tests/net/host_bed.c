/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_bed.h"

#include <rte_arp.h>
#include <rte_ether.h>
#include <rte_icmp.h>
#include <rte_ip.h>

#include <haul/build.h>
#include <haul/haul.h>

#include "io/state.h"
#include "support/suite.h"

struct haul_test *bed;
struct haul_host *bed_host;
char line[256];
const char *wrong;
static uint64_t left_before[2]; /* of is_left(), by port */

const uint8_t peer_mac[6] = {2, 0, 0, 0, 0, 7}, other_mac[6] = {2, 0, 0, 0, 0, 8};

struct haul_reassembly *bed_fragments;

static void on_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (bed_fragments && haul_host_reassemble(bed_host, bed_fragments, rx, &pkt))
		return;
	if (!haul_host_takes(bed_host, rx, pkt))
		haul_drop(rx, &pkt, 1, HAUL_DROP_OWN);
}

static void on_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		on_packet(rx, pkts[i]);
}

/* Odd tests have a burst handler. */
void start(const struct haul_host_opts *opts, int number)
{
	const struct haul_io_opts io = {
		.on_packet = number & 1 ? NULL : on_packet,
		.on_burst = number & 1 ? on_burst : NULL,
		.drop_names = {"handler"},
	};
	const struct haul_test_opts test = {.ports = 2, .carriers = CARRIERS};
	struct haul_host_opts with = opts ? *opts : (struct haul_host_opts){0};

	with.nb_ports = 2;
	wrong = NULL;
	memset(left_before, 0, sizeof(left_before));
	ck_assert_msg(haul_host_create(&bed_host, &with, line, sizeof(line)) == 0, "%s", line);
	ck_assert_msg(haul_test_start(&bed, &io, &test, line, sizeof(line)) == 0, "%s", line);
}

void run(void (*body)(void *), void *arg)
{
	ck_assert_int_eq(haul_test_run(bed, body, arg), 0);
	haul_host_stop(bed_host);
	ck_assert_msg(haul_test_stop(bed, HAUL_FOREVER, line, sizeof(line)) == 0, "%s", line);
	haul_host_free(bed_host);
	ck_assert_pstr_eq(wrong, NULL);
}

/* Addresses on both ports, and no announcements in the way. */
bool begin(void)
{
	struct haul_test_frame frame;

	if (haul_host_add_address(bed_host, 0, "10.0.0.1/24", line, sizeof(line)) ||
		haul_host_add_address(bed_host, 0, "fd00::1/64", line, sizeof(line)) ||
		haul_host_add_address(bed_host, 1, "10.1.0.1/24", line, sizeof(line)) ||
		haul_host_start(bed_host, haul_test_io(bed), line, sizeof(line))) {
		fprintf(stderr, "%s\n", line);
		return false;
	}
	while (haul_test_take(bed, HAUL_ANY, &frame, haul_in(3 * HAUL_S)) == 0)
		rte_pktmbuf_free(frame.pkt);
	return true;
}

bool pass(uint64_t ns)
{
	return haul_sleep(ns) == 0;
}

struct haul_addr addr(const char *text)
{
	struct haul_addr a = {0};

	haul_addr_parse(&a, text);
	return a;
}

void own_mac(unsigned port, uint8_t mac[6])
{
	struct rte_ether_addr a = haul_port_mac(haul_test_io(bed)->ports[port]);

	memcpy(mac, &a, 6);
}

/* Feeds what a builder makes of a head. */
static bool feed(unsigned port,
	int (*build)(struct haul_pkt *, struct rte_mbuf *, const struct haul_head *),
	const struct haul_head *head)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(haul_test_pool(bed));
	struct haul_pkt pkt;

	return m && build(&pkt, m, head) == 0 && haul_test_feed_pkt(bed, port, HAUL_ANY, m) == 0;
}

/* An answer of a neighbour to the host: an ARP reply, or an advertisement. */
bool feed_answer(unsigned port, const char *from, const uint8_t mac[6], const char *to)
{
	struct haul_head head = {.src = addr(from), .dst = addr(to)};
	struct rte_mbuf *m = rte_pktmbuf_alloc(haul_test_pool(bed));
	struct haul_net_if nif = {.ip4_prefix = 24};
	struct haul_pkt pkt;

	/* The host's question, turned into its answer. */
	own_mac(port, head.src_mac);
	head.src = addr(to);
	head.dst = addr(from);
	memcpy(nif.mac, mac, 6);
	memcpy(head.src.version == 4 ? nif.ip4 : nif.ip6, head.dst.bytes,
		head.src.version == 4 ? 4 : 16);
	if (!m || (head.src.version == 4 ? haul_arp_request : haul_nd_solicit)(&pkt, m, &head) ||
		haul_net_parse(&pkt, m) || haul_net_answer(&nif, &pkt))
		return false;
	return haul_test_feed_pkt(bed, port, HAUL_ANY, m) == 0;
}

/* Takes the next frame of a port; false: there is none until then. */
bool next(unsigned port, struct said *s, uint64_t deadline)
{
	struct haul_test_frame frame;
	struct haul_pkt pkt;

	memset(s, 0, sizeof(*s));
	if (haul_test_take(bed, port, &frame, deadline))
		return false;
	s->at = frame.at;
	if (haul_net_parse(&pkt, frame.pkt) == HAUL_NET_OK) {
		s->proto = pkt.proto;
		memcpy(s->to, &pkt.eth->dst_addr, 6);
		s->src = haul_pkt_src(&pkt);
		s->target = haul_pkt_dst(&pkt);
		if (pkt.proto == HAUL_PROTO_ARP) {
			s->type = pkt.arp->arp_opcode >> 8;
			s->src = haul_addr_from(4, &pkt.arp->arp_data.arp_sip);
			s->target = haul_addr_from(4, &pkt.arp->arp_data.arp_tip);
		} else {
			s->type = pkt.icmp->icmp_type;
			if (pkt.ip_version == 6 && (s->type == 135 || s->type == 136))
				s->target = haul_addr_from(6, pkt.payload);
		}
	}
	rte_pktmbuf_free(frame.pkt);
	return true;
}

bool is(const struct haul_addr *a, const char *text)
{
	struct haul_addr b = addr(text);

	return haul_addr_equal(a, &b);
}

bool is_to_all(const struct said *s)
{
	return (s->to[0] & 1) == 1;
}

/* A question of the host about an address. */
bool is_question(const struct said *s, const char *about)
{
	return is(&s->target, about) &&
		((s->proto == HAUL_PROTO_ARP && s->type == RTE_ARP_OP_REQUEST) ||
			s->proto == HAUL_PROTO_ND);
}

struct haul_host_stats stats(unsigned port)
{
	struct haul_host_stats st;

	haul_host_get_stats(bed_host, port, &st);
	return st;
}

enum haul_neighbour_state state(unsigned port, const char *of)
{
	struct haul_addr a = addr(of);
	uint8_t mac[6];

	return haul_host_look(bed_host, port, &a, mac);
}

static void *look_up(void *arg)
{
	struct lookup *l = arg;
	struct haul_addr a = addr(l->of);

	l->err = haul_host_neighbour(bed_host, l->port, &a, l->mac, l->deadline);
	l->ended = haul_now();
	return NULL;
}

bool begin_lookup(struct lookup *l, unsigned carrier)
{
	return haul_spawn_on(haul_carrier(haul_test_runtime(bed), carrier), &l->co, look_up, l,
		       NULL) == 0;
}

/* An echo request to the host. */
bool feed_echo(unsigned port, const char *to, const uint8_t *mac, uint16_t vlan)
{
	struct haul_addr dst = addr(to);
	struct haul_head head = {.src = addr(dst.version == 4 ? "192.0.2.9" : "2001:db8::9"),
		.dst = dst,
		.vlan = vlan};
	struct rte_mbuf *m = rte_pktmbuf_alloc(haul_test_pool(bed));
	struct haul_pkt pkt;

	own_mac(port, head.dst_mac);
	if (mac)
		memcpy(head.dst_mac, mac, 6);
	memcpy(head.src_mac, peer_mac, 6);
	memcpy(rte_pktmbuf_append(m, 20), "abcdefghijklmnopqrst", 20);
	return haul_build_echo(&pkt, m, &head, HAUL_ECHO_REQUEST, 77, 1, 0) == 0 &&
		haul_test_feed_pkt(bed, port, HAUL_ANY, m) == 0;
}

/* A question of a neighbour. */
bool feed_question(unsigned port, const char *from, const uint8_t mac[6], const char *about)
{
	struct haul_head head = {.src = addr(from), .dst = addr(about)};

	memcpy(head.src_mac, mac, 6);
	return feed(port, head.src.version == 4 ? haul_arp_request : haul_nd_solicit, &head);
}

bool feed_announcement(unsigned port, const char *of, const uint8_t mac[6])
{
	struct haul_head head = {.src = addr(of), .dst = addr(of)};

	memcpy(head.src_mac, mac, 6);
	return feed(port, head.src.version == 4 ? haul_arp_announce : haul_nd_announce, &head) &&
		pass(HAUL_MS);
}

static uint64_t given_to_handler(unsigned port)
{
	struct haul_io_stats st;

	haul_io_get_stats(haul_test_io(bed), port, HAUL_ALL, &st);
	return st.dropped[HAUL_DROP_OWN];
}

/* True if the frame that was fed just now is the only one that the handler has got since the last
 * call, and was not answered. */
bool is_left(bool fed, unsigned port)
{
	struct said s;
	bool left;

	if (!fed || next(HAUL_ANY, &s, haul_in(HAUL_MS)))
		return false;
	left = given_to_handler(port) == left_before[port] + 1;
	left_before[port] = given_to_handler(port);
	return left;
}
