/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows of a host under libFuzzer: an input is a sequence of steps: flows are opened and closed,
 * others begin flows to a listener, frames come to one of two carriers, time passes. Frames are the
 * input's own bytes, or packets for flows and ICMP errors about them, with some bytes changed, and
 * most with right checksums.
 *
 * Whatever comes: a flow receives what was sent from its other end to it, and no more; its errors
 * are of messages that quote a packet of its own; what is answered is answered once, from an
 * address of the host, and with no more bytes than were asked with, but for the address in an
 * advertisement; packets for flows that nobody has changed arrive or are counted. Each mbuf is
 * freed once.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <haul-dpdk/flow.h>

#include "frames.h"
#include "host/config.h"
#include "host/flow.h"
#include "host/flows.h"
#include "one_thread.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FLOWS = 8, LISTENED = 7, INPUT_MAX = 300, FRAME_MAX = 256, ERRORS_MAX = 64 };

static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1}, their_mac[6] = {2, 0, 0, 0, 0, 2};
static const uint8_t own4[4] = {10, 0, 0, 1}, own6[16] = {0xfd, [15] = 1};

/* An open flow, or none. */
struct open_flow {
	struct haul_flow *flow;
	bool ip6, is_echo;
	struct haul_addr remote;
	uint16_t remote_port, local_port;
};

static struct haul_host host;
static struct hauli_host_port port;

static struct {
	const uint8_t *at, *end; /* of the input */
	struct open_flow flows[FLOWS];
	unsigned sent; /* answers to the frame */
	struct hauli_flow_key errors[ERRORS_MAX]; /* that messages have quoted */
	unsigned nb_errors;
} run;

static uint8_t next(void)
{
	return run.at < run.end ? *run.at++ : 0;
}

static bool is_same(const struct haul_addr *addr, const uint8_t *bytes)
{
	return memcmp(addr->bytes, bytes, addr->version == 4 ? 4 : 16) == 0;
}

static const uint8_t *own(bool ip6)
{
	return ip6 ? own6 : own4;
}

/* A frame to the host with right sums. */
static bool is_to_host(struct view *v, const uint8_t *frame, size_t n)
{
	return look_at(v, frame, n) && memcmp(frame, mac, 6) == 0 &&
		memcmp(v->dst, own(v->ip6), v->ip6 ? 16 : 4) == 0 &&
		(v->ip6 ||
			((get16(v->ip + 6) & 0x3fff) == 0 &&
				fold(add_up(0, v->ip, v->header)) == 0xffff));
}

/* The frame is from the other end of the flow to it; its payload is at *payload. */
static bool is_for(const struct open_flow *f, const uint8_t *frame, size_t n,
	const uint8_t **payload, size_t *length)
{
	struct view v;

	if (!is_to_host(&v, frame, n) || v.ip6 != f->ip6 || !is_same(&f->remote, v.src) ||
		v.length < 8)
		return false;
	if (f->is_echo) {
		*payload = v.upper;
		*length = v.length;
		return v.proto == (v.ip6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP) &&
			v.upper[0] == (v.ip6 ? 129 : 0) && get16(v.upper + 4) == f->local_port &&
			upper_sum(&v) == 0xffff;
	}
	*length = get16(v.upper + 4);
	if (v.proto != IPPROTO_UDP || *length < 8 || *length > v.length)
		return false;
	v.length = *length;
	*payload = v.upper + 8;
	*length -= 8;
	return get16(v.upper) == f->remote_port && get16(v.upper + 2) == f->local_port &&
		(upper_sum(&v) == 0xffff || (!v.ip6 && get16(v.upper + 6) == 0));
}

/* The key of the packet that an ICMP error quotes. */
static bool quotes(const uint8_t *frame, size_t n, struct hauli_flow_key *key)
{
	const uint8_t *ip, *upper;
	struct view v;
	uint8_t proto;
	size_t header;
	bool udp;

	if (!is_to_host(&v, frame, n) || v.length < 8 + 28 || upper_sum(&v) != 0xffff ||
		v.proto != (v.ip6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP))
		return false;
	if (v.ip6 ? v.upper[0] < 1 || v.upper[0] > 4
		  : v.upper[0] != 3 && v.upper[0] != 11 && v.upper[0] != 12)
		return false;
	ip = v.upper + 8;
	header = v.ip6 ? 40 : (ip[0] & 15U) * 4;
	if (ip[0] >> 4 != (v.ip6 ? 6 : 4) || header < 20 || v.length < 8 + header + 8 ||
		(!v.ip6 && get16(ip + 6) & 0x1fff))
		return false;
	upper = ip + header;
	proto = ip[v.ip6 ? 6 : 9];
	udp = proto == IPPROTO_UDP;
	if (!udp &&
		(proto != (v.ip6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP) || upper[0] != (v.ip6 ? 128 : 8)))
		return false;
	hauli_flow_key_set(key, v.ip6, proto, ip + (v.ip6 ? 8 : 12),
		(uint16_t)get16(udp ? upper : upper + 4), ip + (v.ip6 ? 24 : 16),
		udp ? (uint16_t)get16(upper + 2) : 0);
	return true;
}

void one_sends(struct rte_mbuf *pkt)
{
	const struct one_pkt *p = (const struct one_pkt *)pkt;
	const uint8_t *frame = rte_pktmbuf_mtod(pkt, const uint8_t *);
	size_t n = rte_pktmbuf_data_len(pkt);
	size_t l3 = get16(frame + 12) == 0x8100 ? ETHER + 4 : ETHER;
	bool advertises = false;
	struct view v;

	run.sent++;
	REQUIRE(pkt->nb_segs == 1 && memcmp(frame + 6, mac, 6) == 0);
	if (get16(frame + l3 - 2) == 0x0806) {
		REQUIRE(get16(frame + l3 + 6) == 2 && !memcmp(frame + l3 + 8, mac, 6));
		REQUIRE(memcmp(frame + l3 + 14, own4, 4) == 0);
	} else {
		REQUIRE(look_at(&v, frame, n) && !memcmp(v.src, own(v.ip6), v.ip6 ? 16 : 4));
		REQUIRE(upper_sum(&v) == 0xffff);
		advertises = v.proto == IPPROTO_ICMPV6 && v.upper[0] == 136;
		REQUIRE(advertises ? memcmp(v.upper + 8, own6, 16) == 0
				   : v.upper[0] == (v.ip6 ? 129 : 0));
	}
	REQUIRE(n <= p->size + (advertises ? 8 : 0));
	REQUIRE(advertises || !(frame[0] & 1));
	rte_pktmbuf_free(pkt);
}

/* Flows. */

static void open_flow(void)
{
	uint8_t what = next(), how = next();
	struct haul_flow_opts opts = {.mailbox = 1 + (how & 3), .idle_ns = how & 4 ? HAUL_S : 0};
	struct open_flow f = {.ip6 = what & 1, .is_echo = what & 2};
	unsigned i = 0;

	while (i < FLOWS && run.flows[i].flow)
		i++;
	if (i == FLOWS)
		return;
	f.remote = f.ip6 ? haul_addr_from(6, own6) : haul_addr_from(4, own4);
	f.remote.bytes[f.ip6 ? 15 : 3] = 2 + (what >> 2 & 1);
	if (what & 8)
		f.remote.bytes[1] = 1; /* behind the gateway */
	f.remote_port = f.is_echo ? 0 : what & 16 ? 53 : 54;
	one_carrier = how >> 3 & 1;
	if (hauli_flow_open(&f.flow, &host,
		    !f.is_echo      ? IPPROTO_UDP
			    : f.ip6 ? IPPROTO_ICMPV6
				    : IPPROTO_ICMP,
		    &f.remote, f.remote_port, &opts) != 0)
		return;
	f.local_port = haul_flow_port(f.flow);
	REQUIRE(f.local_port % ONE_CARRIERS == one_carrier);
	run.flows[i] = f;
}

/* The function of the listener. */
static void accept_flow(struct haul_flow *flow, void *arg)
{
	const struct hauli_flow_key *key = &flow->link.key;
	unsigned i = 0;

	while (i < FLOWS && run.flows[i].flow)
		i++;
	if (i == FLOWS) {
		haul_flow_close(flow);
		return;
	}
	run.flows[i] = (struct open_flow){.flow = flow,
		.ip6 = hauli_flow_is_ip6(key),
		.remote = haul_addr_from(hauli_flow_is_ip6(key) ? 6 : 4, hauli_flow_remote(key)),
		.remote_port = hauli_flow_remote_port(key),
		.local_port = LISTENED};
	REQUIRE(haul_flow_port(flow) == LISTENED);
}

static void close_flow(void)
{
	struct open_flow *f = &run.flows[next() % FLOWS];

	one_carrier = next() & 1;
	if (f->flow)
		haul_flow_close(f->flow);
	f->flow = NULL;
}

static bool was_quoted(const struct open_flow *f)
{
	unsigned i = 0;

	while (i < run.nb_errors && !hauli_flow_key_equal(&run.errors[i], &f->flow->link.key))
		i++;
	return i < run.nb_errors || run.nb_errors == ERRORS_MAX;
}

/* Returns haul_flow_recv()'s result. */
static int receive(const struct open_flow *f)
{
	const uint8_t *payload = NULL;
	struct rte_mbuf *pkt;
	size_t length = 0;
	int err = haul_flow_recv(f->flow, &pkt, 0);

	if (err == -EAGAIN || err == -EPIPE)
		return err;
	if (err) {
		REQUIRE(was_quoted(f));
		return err;
	}
	REQUIRE(is_for(f, ((struct one_pkt *)pkt)->came, ((struct one_pkt *)pkt)->size, &payload,
		&length));
	REQUIRE(rte_pktmbuf_data_len(pkt) == length && rte_pktmbuf_pkt_len(pkt) == length);
	REQUIRE(length == 0 ||
		memcmp(rte_pktmbuf_mtod(pkt, const uint8_t *), payload, length) == 0);
	rte_pktmbuf_free(pkt);
	return 0;
}

/* Frames. */

/* True: the host has taken it. how: 1 the second carrier, 2 room behind the frame. */
static bool arrive(const uint8_t *frame, size_t n, uint8_t how)
{
	struct rte_mbuf *pkt = one_make_pkt(frame, n, how & 2 ? 64 : 0);
	struct haul_rx rx = {.carrier = how & 1, .queue = how & 1};
	struct hauli_flow_key key;
	bool taken;

	one_carrier = how & 1;
	run.sent = 0;
	if (run.nb_errors < ERRORS_MAX && quotes(frame, n, &key))
		run.errors[run.nb_errors++] = key;
	taken = haul_host_takes(&host, &rx, pkt);
	REQUIRE(run.sent <= taken);
	if (!taken)
		rte_pktmbuf_free(pkt);
	return taken;
}

static void raw_frame(void)
{
	uint8_t how = next(), frame[FRAME_MAX];
	size_t n = next();

	for (size_t i = 0; i < n; i++)
		frame[i] = next();
	if (how & 4)
		fix(frame, n);
	arrive(frame, n, how);
}

/* An IP header for n bytes behind it, and where these are. */
static uint8_t *put_ip(
	uint8_t *at, bool ip6, uint8_t proto, const void *src, const void *dst, unsigned n)
{
	memset(at, 0, 40);
	at[0] = ip6 ? 0x60 : 0x45;
	put16(at + (ip6 ? 4 : 2), ip6 ? n : 20 + n);
	at[ip6 ? 7 : 8] = 64;
	at[ip6 ? 6 : 9] = proto;
	memcpy(at + (ip6 ? 8 : 12), src, ip6 ? 16 : 4);
	memcpy(at + (ip6 ? 24 : 16), dst, ip6 ? 16 : 4);
	return at + (ip6 ? 40 : 20);
}

/* The 8 bytes of UDP or of an echo, with n more behind them. */
static uint8_t *put_upper(uint8_t *at, const struct open_flow *f, bool is_ours, unsigned n)
{
	memset(at, 0, 8);
	if (f->is_echo) {
		at[0] = f->ip6 ? (is_ours ? 128 : 129) : (is_ours ? 8 : 0);
		put16(at + 4, f->local_port);
	} else {
		put16(at, is_ours ? f->local_port : f->remote_port);
		put16(at + 2, is_ours ? f->remote_port : f->local_port);
		put16(at + 4, 8 + n);
	}
	return at + 8;
}

/* A packet for the flow or, of a kind, an error about it; n bytes of payload. */
static size_t make(uint8_t *frame, const struct open_flow *f, uint8_t kind, unsigned n)
{
	static const uint8_t errors[2][4] = {{3, 11, 12, 3}, {1, 2, 3, 4}};
	uint8_t icmp = f->ip6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP, *at = frame + ETHER;
	uint8_t proto = f->is_echo ? icmp : IPPROTO_UDP;
	uint8_t router[16];

	memcpy(frame, mac, 6);
	memcpy(frame + 6, their_mac, 6);
	put16(at - 2, f->ip6 ? 0x86dd : 0x0800);
	if (kind & 1) {
		memcpy(router, own(f->ip6), f->ip6 ? 16 : 4);
		router[f->ip6 ? 15 : 3] = 254;
		at = put_ip(at, f->ip6, icmp, router, own(f->ip6), 8 + (f->ip6 ? 40 : 20) + 8 + n);
		memset(at, 0, 8);
		at[0] = errors[f->ip6][kind >> 1 & 3];
		at[1] = kind >> 3 & 7;
		at = put_ip(at + 8, f->ip6, proto, own(f->ip6), f->remote.bytes, 8 + n);
		at = put_upper(at, f, true, n);
	} else {
		at = put_ip(at, f->ip6, proto, f->remote.bytes, own(f->ip6), 8 + n);
		at = put_upper(at, f, false, n);
	}
	memset(at, (int)n, n);
	return (size_t)(at + n - frame);
}

/* An unchanged packet for an open flow is taken, and comes into the mailbox or is counted. */
static void must_arrive(const struct open_flow *f, const uint8_t *frame, size_t n, uint8_t how)
{
	struct haul_flow_stats before, after;
	struct hauli_flow_key key;
	uint64_t there;

	one_run(0);
	one_run(1);
	haul_flow_get_stats(&host, HAUL_ALL, &before);
	REQUIRE(arrive(frame, n, how));
	one_run(0);
	one_run(1);
	haul_flow_get_stats(&host, HAUL_ALL, &after);
	there = after.received - before.received + after.full - before.full;
	if (quotes(frame, n, &key))
		REQUIRE(after.errors == before.errors + 1 && there == 0);
	else if (f->flow->ended)
		REQUIRE(after.strangers == before.strangers + 1 && there == 0);
	else
		REQUIRE(there == 1);
}

/* A client of the listener. */
static void choose_client(struct open_flow *f)
{
	uint8_t who = next();

	*f = (struct open_flow){
		.ip6 = who & 1, .remote_port = 1024 + (who >> 1), .local_port = LISTENED};
	f->remote = f->ip6 ? haul_addr_from(6, own6) : haul_addr_from(4, own4);
	f->remote.bytes[f->ip6 ? 15 : 3] = 9;
}

/* For a flow, or to the listener. */
static void frame_for_flow(void)
{
	uint8_t which = next() % (FLOWS + 4);
	struct open_flow client, *f = &client;
	uint8_t how, kind, frame[FRAME_MAX];
	unsigned changes;
	size_t n;

	if (which < FLOWS)
		f = &run.flows[which];
	else
		choose_client(&client);
	how = next();
	kind = which < FLOWS ? next() : 0;
	changes = how >> 4 & 3;
	if (which < FLOWS && !f->flow)
		return;
	n = make(frame, f, kind, next() % 64);
	for (unsigned i = 0; i < changes; i++) {
		unsigned at = next();

		frame[at % n] ^= next();
	}
	if (changes == 0 || how & 4)
		fix(frame, n);
	if (changes > 0 && how & 8)
		n -= next() % n;
	if (changes == 0 && which < FLOWS)
		must_arrive(f, frame, n, how);
	else
		arrive(frame, n, how);
}

static void step(void)
{
	switch (next() % 8) {
	case 0:
	case 1:
		open_flow();
		break;
	case 2:
		close_flow();
		break;
	case 3: {
		const struct open_flow *f = &run.flows[next() % FLOWS];

		if (f->flow)
			(void)receive(f);
		break;
	}
	case 4:
		one_now += (uint64_t)next() * 10 * HAUL_MS;
		one_run(0);
		break;
	case 5:
		one_run(1);
		break;
	case 6:
		raw_frame();
		break;
	default:
		frame_for_flow();
	}
}

static void prepare(void)
{
	const struct hauli_neigh_opts opts = {
		.neighbours_max = 16, .waiters_max = 4, .tries = 2, .seed = 1};
	char err[128];

	host.opts = (struct haul_host_opts){
		.nb_ports = 1, .addresses_max = 2, .routes_max = 2, .announcements = 1};
	host.ports = &port;
	host.owns = calloc(2, sizeof(host.owns[0]));
	host.added = calloc(2, sizeof(host.added[0]));
	host.announcements = calloc(2, sizeof(host.announcements[0]));
	pthread_mutex_init(&host.lock, NULL);
	memcpy(port.mac, mac, 6);
	port.mtu = 1500;
	REQUIRE(hauli_neigh_create(&port.neighbours, &opts) == 0);
	REQUIRE(hauli_host_publish(&host) == 0);
	REQUIRE(haul_host_add_address(&host, 0, "10.0.0.1/24", err, sizeof(err)) == 0);
	REQUIRE(haul_host_add_address(&host, 0, "fd00::1/64", err, sizeof(err)) == 0);
	REQUIRE(haul_host_add_route(&host, "0.0.0.0/0", "10.0.0.254", 0, err, sizeof(err)) == 0);
	REQUIRE(haul_host_add_route(&host, "::/0", "fd00::fe", 0, err, sizeof(err)) == 0);
	REQUIRE(hauli_flows_start(&host, &one_io) == 0);
	hauli_ptr_published_set(&host.io, &one_io);
	REQUIRE(haul_flow_listen(&host, LISTENED, accept_flow, NULL,
			&(struct haul_listen_opts){.flows_max = 4, .flow.mailbox = 2}) == 0);
}

static void finish(void)
{
	struct haul_flow_stats st;

	one_run(0); /* what was handed over begins, too */
	one_run(1);
	for (unsigned i = 0; i < FLOWS; i++) {
		const struct open_flow *f = &run.flows[i];

		one_carrier = i & 1;
		while (f->flow && receive(f) != -EAGAIN && !f->flow->ended)
			continue;
		if (f->flow)
			haul_flow_close(f->flow);
	}
	one_now += 60 * HAUL_S;
	one_run(0);
	one_run(1);
	haul_flow_get_stats(&host, HAUL_ALL, &st);
	REQUIRE(st.open == 0 && one_pkts == 0);
	for (unsigned i = 0; i < FLOWS; i++)
		REQUIRE(!hauli_flows_have(&host, run.flows[i].local_port) ||
			run.flows[i].local_port == LISTENED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > INPUT_MAX)
		return 0;
	if (!host.flows)
		prepare();
	memset(&run, 0, sizeof(run));
	run.at = data;
	run.end = data + size;
	one_random = 0;
	for (unsigned i = 0; i < ONE_CARRIERS; i++)
		host.flows->carriers[i].secret.left = 0;
	hauli_neigh_close(port.neighbours);
	hauli_neigh_open(port.neighbours);
	while (run.at < run.end)
		step();
	finish();
	return 0;
}
