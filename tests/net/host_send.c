/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program sends by a host on ports of a test, and the routes that it takes. */
#include "host_bed.h"

#include <rte_icmp.h>
#include <rte_ip.h>

#include "base/random.h"
#include "host/neighbour.h"
#include "support/suite.h"

/* A datagram of the host. */
static int send_udp(const char *to, size_t len, uint64_t deadline)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(haul_test_pool(bed));
	struct haul_addr a = addr(to);
	int err;

	if (!m)
		return -ENOMEM;
	memset(rte_pktmbuf_append(m, (uint16_t)len), 'x', len);
	err = haul_host_send_udp(bed_host, m, &a, 1000, 2000, deadline);
	if (err && (m->pkt_len != len || *rte_pktmbuf_mtod(m, char *) != 'x'))
		err = -EFAULT;
	if (err)
		rte_pktmbuf_free(m);
	return err;
}

static bool sent(unsigned port, const char *from, const char *to, const uint8_t mac[6], size_t len)
{
	struct haul_test_frame frame;
	struct haul_pkt pkt;
	struct haul_addr src, dst;
	uint8_t own[6];
	bool right;

	if (haul_test_take(bed, port, &frame, haul_in(HAUL_MS)))
		return false;
	own_mac(port, own);
	right = haul_net_parse(&pkt, frame.pkt) == HAUL_NET_OK && pkt.proto == HAUL_PROTO_UDP;
	if (right) {
		src = haul_pkt_src(&pkt);
		dst = haul_pkt_dst(&pkt);
		right = is(&src, from) && is(&dst, to) && pkt.payload_len == len &&
			!memcmp(&pkt.eth->dst_addr, mac, 6) && !memcmp(&pkt.eth->src_addr, own, 6);
	}
	rte_pktmbuf_free(frame.pkt);
	return right;
}

struct sending {
	const char *to;
	uint64_t deadline;
	int err;
	struct haul_coro *co;
};

static void *send_one(void *arg)
{
	struct sending *s = arg;

	s->err = send_udp(s->to, 100, s->deadline);
	return NULL;
}

static void host_sends(void *arg)
{
	struct sending one = {.to = "198.51.100.1", .deadline = haul_in(10 * HAUL_S)};
	struct said s;

	(void)arg;
	FAIL_UNLESS(begin());
	FAIL_UNLESS(send_udp("198.51.100.1", 10, 0) == -ENETUNREACH);
	FAIL_UNLESS(!haul_host_add_route(bed_host, "0.0.0.0/0", "10.1.0.9", 1, line, sizeof(line)));
	FAIL_UNLESS(send_udp("198.51.100.1", 10, 0) == -EAGAIN);
	FAIL_UNLESS(next(1, &s, haul_in(HAUL_MS)) && is_question(&s, "10.1.0.9"));
	FAIL_UNLESS(haul_spawn_on(haul_carrier(haul_test_runtime(bed), 2), &one.co, send_one, &one,
			    NULL) == 0);
	FAIL_UNLESS(pass(HAUL_MS));
	FAIL_UNLESS(feed_answer(1, "10.1.0.9", peer_mac, "10.1.0.1"));
	FAIL_UNLESS(haul_join(one.co, NULL, HAUL_FOREVER) == 0 && one.err == 0);
	FAIL_UNLESS(sent(1, "10.1.0.1", "198.51.100.1", peer_mac, 100));
	FAIL_UNLESS(send_udp("198.51.100.1", 0, 0) == 0);
	FAIL_UNLESS(sent(1, "10.1.0.1", "198.51.100.1", peer_mac, 0));
	FAIL_UNLESS(send_udp("198.51.100.1", 1472, 0) == 0);
	FAIL_UNLESS(sent(1, "10.1.0.1", "198.51.100.1", peer_mac, 1472));
	FAIL_UNLESS(send_udp("198.51.100.1", 1473, 0) == 0);
	FAIL_UNLESS(send_udp("10.0.0.255", 10, 0) == -EINVAL);
	FAIL_UNLESS(send_udp("10.0.0.1", 10, 0) == -EINVAL);
	FAIL_UNLESS(send_udp("224.0.0.1", 10, 0) == -EINVAL);
	FAIL_UNLESS(send_udp("fd00:1::1", 10, 0) == -ENETUNREACH);
	/* Nobody answers, and the deadline is that of a scope. */
	{
		HAUL_SCOPE(scope, haul_in(100 * HAUL_MS), HAUL_SCOPE_ALL);

		FAIL_UNLESS(send_udp("fd00::7", 10, HAUL_FOREVER) == -ETIMEDOUT);
	}
	FAIL_UNLESS(send_udp("fd00::7", 10, HAUL_FOREVER) == -EHOSTUNREACH);
	FAIL_UNLESS(!haul_host_remove_address(bed_host, 1, "10.1.0.1/24", line, sizeof(line)));
	FAIL_UNLESS(send_udp("198.51.100.1", 10, 0) == -EADDRNOTAVAIL);
	haul_host_stop(bed_host);
	FAIL_UNLESS(send_udp("10.0.0.7", 10, 0) == -ECANCELED);
}

START_TEST(datagrams)
{
	start(NULL, _i);
	run(host_sends, NULL);
}
END_TEST

/* Another host says that it has an address, which haul builds no such packet for. */
static bool advertise(const char *of)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(haul_test_pool(bed));
	struct haul_head head = {.src = addr("fd00::8"), .dst = addr("fd00::8")};
	struct haul_addr target = addr(of);
	struct haul_pkt pkt;

	memcpy(head.src_mac, other_mac, 6);
	if (!m || haul_nd_announce(&pkt, m, &head))
		return false;
	memcpy((uint8_t *)pkt.icmp + 8, target.bytes, 16);
	pkt.icmp->icmp_cksum = 0;
	pkt.icmp->icmp_cksum = rte_ipv6_udptcp_cksum(pkt.ip6, pkt.icmp);
	return haul_test_feed_pkt(bed, 0, HAUL_ANY, m) == 0;
}

/* An IPv4-mapped address is nobody's: not an IPv4 neighbour's either. */
static void mapped(void *arg)
{
	struct haul_addr a = addr("::ffff:10.0.0.1");
	uint8_t mac[6];

	(void)arg;
	FAIL_UNLESS(begin());
	FAIL_UNLESS(send_udp("10.0.0.7", 10, 0) == -EAGAIN);
	FAIL_UNLESS(feed_answer(0, "10.0.0.7", peer_mac, "10.0.0.1") && pass(HAUL_MS));
	FAIL_UNLESS(state(0, "10.0.0.7") == HAUL_NEIGHBOUR_REACHABLE);
	FAIL_UNLESS(advertise("::ffff:10.0.0.7") && pass(HAUL_MS));
	FAIL_UNLESS(state(0, "10.0.0.7") == HAUL_NEIGHBOUR_REACHABLE);
	FAIL_UNLESS(advertise("::ffff:10.0.0.1") && pass(HAUL_MS));
	FAIL_UNLESS(stats(0).duplicates == 0);
	FAIL_UNLESS(haul_host_address_state(bed_host, 0, &a) == HAUL_ADDRESS_NONE);
	a = addr("::ffff:10.0.0.7");
	FAIL_UNLESS(send_udp("::ffff:10.0.0.7", 10, 0) == -EINVAL);
	FAIL_UNLESS(haul_host_neighbour(bed_host, 0, &a, mac, 0) == -EINVAL);
	FAIL_UNLESS(haul_host_look(bed_host, 0, &a, mac) == HAUL_NEIGHBOUR_NONE);
	FAIL_UNLESS(haul_host_add_route(bed_host, "::ffff:10.0.0.0/104", NULL, 0, line,
			    sizeof(line)) == -EINVAL);
	FAIL_UNLESS(haul_host_add_route(bed_host, "fd00:7::/32", "::ffff:10.0.0.7", 0, line,
			    sizeof(line)) == -EINVAL);
	FAIL_UNLESS(haul_host_add_address(bed_host, 0, "::ffff:10.0.0.3/120", line, sizeof(line)) ==
		-EADDRNOTAVAIL);
	FAIL_UNLESS(strstr(line, "IPv4-mapped"));
}

START_TEST(mapped_addresses)
{
	start(NULL, _i);
	run(mapped, NULL);
}
END_TEST

static void routes_change(void *arg)
{
	struct haul_addr to = addr("198.51.100.1"), six = addr("2001:db8::1"), hop, src;
	unsigned port;

	(void)arg;
	FAIL_UNLESS(begin());
	FAIL_UNLESS(hauli_host_route(bed_host, &to, &port, &hop, &src) == -ENETUNREACH);
	FAIL_UNLESS(!haul_host_add_route(bed_host, "0.0.0.0/0", "10.1.0.9", 1, line, sizeof(line)));
	FAIL_UNLESS(hauli_host_route(bed_host, &to, &port, &hop, &src) == 0);
	FAIL_UNLESS(port == 1 && is(&hop, "10.1.0.9") && is(&src, "10.1.0.1"));
	FAIL_UNLESS(!haul_host_add_route(bed_host, "198.51.100.0/24", NULL, 0, line, sizeof(line)));
	FAIL_UNLESS(hauli_host_route(bed_host, &to, &port, &hop, &src) == 0);
	FAIL_UNLESS(port == 0 && is(&hop, "198.51.100.1") && is(&src, "10.0.0.1"));
	FAIL_UNLESS(!haul_host_remove_route(bed_host, "198.51.100.0/24", line, sizeof(line)));
	FAIL_UNLESS(hauli_host_route(bed_host, &to, &port, &hop, &src) == 0 && port == 1);
	FAIL_UNLESS(!haul_host_remove_address(bed_host, 1, "10.1.0.1/24", line, sizeof(line)));
	FAIL_UNLESS(hauli_host_route(bed_host, &to, &port, &hop, &src) == -EADDRNOTAVAIL);
	FAIL_UNLESS(!haul_host_add_route(bed_host, "::/0", "fd00::9", 0, line, sizeof(line)));
	FAIL_UNLESS(hauli_host_route(bed_host, &six, &port, &hop, &src) == 0);
	FAIL_UNLESS(port == 0 && is(&hop, "fd00::9") && is(&src, "fd00::1"));
	to = addr("10.0.0.1");
	FAIL_UNLESS(hauli_host_has(bed_host, 0, &to) && !hauli_host_has(bed_host, 1, &to));
	FAIL_UNLESS(hauli_host_has(bed_host, HAUL_ANY, &to));
	FAIL_UNLESS(hauli_host_route(bed_host, &to, &port, &hop, &src) == -EINVAL);
}

/* With link-local addresses on both ports. */
static void links(void *arg)
{
	struct haul_addr to = addr("fe80::7"), far = addr("2001:db8::1"), hop, src;
	unsigned port;

	(void)arg;
	FAIL_UNLESS(begin());
	FAIL_UNLESS(!haul_host_add_address(bed_host, 0, "fe80::1/64", line, sizeof(line)));
	FAIL_UNLESS(hauli_host_route(bed_host, &to, &port, &hop, &src) == 0 && port == 0);
	FAIL_UNLESS(!haul_host_add_address(bed_host, 1, "fe80::2/64", line, sizeof(line)));
	FAIL_UNLESS(hauli_host_route(bed_host, &to, &port, &hop, &src) == -EINVAL);
	FAIL_UNLESS(send_udp("fe80::7", 10, 0) == -EINVAL);
	/* A gateway, on the port that the route names; the source is one of more than the link. */
	FAIL_UNLESS(!haul_host_add_route(bed_host, "::/0", "fe80::9", 1, line, sizeof(line)));
	FAIL_UNLESS(hauli_host_route(bed_host, &far, &port, &hop, &src) == 0);
	FAIL_UNLESS(port == 1 && is(&hop, "fe80::9") && is(&src, "fe80::2"));
	FAIL_UNLESS(!haul_host_add_address(bed_host, 1, "fd01::1/64", line, sizeof(line)));
	FAIL_UNLESS(hauli_host_route(bed_host, &far, &port, &hop, &src) == 0);
	FAIL_UNLESS(port == 1 && is(&hop, "fe80::9") && is(&src, "fd01::1"));
	/* A route says on which port one of them is. */
	FAIL_UNLESS(!haul_host_add_route(bed_host, "fe80::7/128", NULL, 1, line, sizeof(line)));
	FAIL_UNLESS(hauli_host_route(bed_host, &to, &port, &hop, &src) == 0);
	FAIL_UNLESS(port == 1 && is(&hop, "fe80::7") && is(&src, "fe80::2"));
}

START_TEST(link_local_addresses)
{
	start(NULL, _i);
	run(links, NULL);
}
END_TEST

START_TEST(routes)
{
	start(NULL, _i);
	run(routes_change, NULL);
}
END_TEST

/* Carriers look up what changes meanwhile. */
static struct hauli_u32_published ends;

static void *look(void *arg)
{
	struct haul_addr to = addr("198.51.100.1"), hop, src;
	uint64_t *found = arg;
	struct hauli_random random;
	unsigned port;

	hauli_random_init(&random, (uintptr_t)arg);
	while (!hauli_u32_published_get(&ends)) {
		int err = hauli_host_route(bed_host, &to, &port, &hop, &src);

		if (err == 0 && (port != 1 || !is(&hop, "10.1.0.9") || !is(&src, "10.1.0.1")))
			wrong = "a route is not one that was there";
		if (err && err != -ENETUNREACH && err != -EADDRNOTAVAIL)
			wrong = "an error of a route";
		*found += err == 0;
		if (hauli_random_below(&random, 100) == 0)
			(void)pass(HAUL_US);
	}
	return NULL;
}

/* Sends, and waits for neighbours, while the host stops and starts. */
static void *keep_sending(void *arg)
{
	uint64_t *sent_ones = arg;

	while (!hauli_u32_published_get(&ends)) {
		*sent_ones += send_udp("10.0.0.7", 10, haul_in(100 * HAUL_MS)) == 0;
		(void)pass(HAUL_US);
	}
	return NULL;
}

#define LOOKERS (2 * CARRIERS)

static bool change_all(unsigned i)
{
	bool right =
		!haul_host_add_route(bed_host, "0.0.0.0/0", "10.1.0.9", 1, line, sizeof(line)) &&
		!haul_host_remove_address(bed_host, 1, "10.1.0.1/24", line, sizeof(line)) &&
		!haul_host_add_address(bed_host, 1, "10.1.0.1/24", line, sizeof(line)) &&
		!haul_host_remove_route(bed_host, "0.0.0.0/0", line, sizeof(line));

	if (i % 10 > 0 || !right)
		return right;
	haul_host_stop(bed_host);
	return haul_host_start(bed_host, haul_test_io(bed), line, sizeof(line)) == 0;
}

static void carriers_look(void *arg)
{
	struct haul_runtime *rt = haul_test_runtime(bed);
	uint64_t counts[LOOKERS] = {0}, found = 0;
	struct haul_coro *co[LOOKERS];
	struct haul_test_frame frame;

	(void)arg;
	FAIL_UNLESS(begin());
	hauli_u32_published_set(&ends, 0);
	for (unsigned i = 0; i < LOOKERS; i++)
		FAIL_UNLESS(haul_spawn_on(haul_carrier(rt, i % CARRIERS), &co[i],
				    i < CARRIERS ? look : keep_sending, &counts[i], NULL) == 0);
	for (unsigned i = 0; i < 300; i++) {
		FAIL_UNLESS(change_all(i));
		FAIL_UNLESS(feed_answer(0, "10.0.0.7", peer_mac, "10.0.0.1"));
		while (haul_test_take(bed, HAUL_ANY, &frame, 0) == 0)
			rte_pktmbuf_free(frame.pkt);
		FAIL_UNLESS(pass(HAUL_US));
	}
	hauli_u32_published_set(&ends, 1);
	for (unsigned i = 0; i < LOOKERS; i++) {
		FAIL_UNLESS(haul_join(co[i], NULL, HAUL_FOREVER) == 0);
		found += counts[i];
	}
	FAIL_UNLESS(found > 0 && stats(HAUL_ALL).waiters == 0);
}

START_TEST(changes_while_carriers_look)
{
	start(NULL, _i);
	run(carriers_look, NULL);
}
END_TEST

SUITE_MAIN("sends of a host", {datagrams, 2}, {routes, 2}, {mapped_addresses, 2},
	{link_local_addresses, 2}, {changes_while_carriers_look, 2})
