/* SPDX-License-Identifier: BSD-3-Clause */
/* A host on ports of a test: what it asks, answers and learns, and when, in virtual time. */
#include "host_bed.h"

#include <rte_arp.h>
#include <rte_ether.h>

#include "base/random.h"
#include "support/suite.h"

static void addresses_are_announced(void *arg)
{
	struct said s;
	uint64_t began;

	(void)arg;
	FAIL_UNLESS(!haul_host_add_address(bed_host, 0, "10.0.0.1/24", line, sizeof(line)));
	FAIL_UNLESS(!haul_host_start(bed_host, haul_test_io(bed), line, sizeof(line)));
	began = haul_now();
	for (unsigned i = 0; i < 2; i++) {
		FAIL_UNLESS(next(0, &s, haul_in(HAUL_S)));
		FAIL_UNLESS(s.proto == HAUL_PROTO_ARP && is_to_all(&s));
		FAIL_UNLESS(is(&s.src, "10.0.0.1") && is(&s.target, "10.0.0.1"));
		FAIL_UNLESS(s.at == began + i * HAUL_S);
	}
	FAIL_UNLESS(!next(HAUL_ANY, &s, haul_in(100 * HAUL_S)));
	began = haul_now();
	FAIL_UNLESS(!haul_host_add_address(bed_host, 1, "fd00::1/64", line, sizeof(line)));
	for (unsigned i = 0; i < 2; i++) {
		FAIL_UNLESS(next(1, &s, haul_in(HAUL_S)));
		FAIL_UNLESS(s.proto == HAUL_PROTO_ICMP6 && s.type == 136 && is_to_all(&s));
		FAIL_UNLESS(is(&s.src, "fd00::1") && is(&s.target, "fd00::1"));
	}
	/* An address that is removed at once is not announced. */
	FAIL_UNLESS(!haul_host_add_address(bed_host, 1, "10.1.0.1/24", line, sizeof(line)));
	FAIL_UNLESS(next(1, &s, haul_in(HAUL_MS)));
	FAIL_UNLESS(!haul_host_remove_address(bed_host, 1, "10.1.0.1/24", line, sizeof(line)));
	FAIL_UNLESS(!next(HAUL_ANY, &s, haul_in(100 * HAUL_S)));
}

START_TEST(announcements)
{
	start(NULL, _i);
	run(addresses_are_announced, NULL);
}
END_TEST

/* A neighbour's whole life, for both versions. */
static void live(const char *own, const char *peer)
{
	struct lookup l = {.of = peer, .deadline = haul_in(10 * HAUL_S)};
	struct haul_addr a = addr(peer);
	uint64_t began = haul_now();
	struct said s;
	uint8_t mac[6];

	FAIL_UNLESS(haul_host_neighbour(bed_host, 0, &a, mac, 0) == -EAGAIN);
	FAIL_UNLESS(begin_lookup(&l, 2));
	FAIL_UNLESS(next(0, &s, haul_in(HAUL_S)));
	FAIL_UNLESS(is_question(&s, peer) && is_to_all(&s) && is(&s.src, own));
	FAIL_UNLESS(s.at == began);
	FAIL_UNLESS(pass(300 * HAUL_MS));
	FAIL_UNLESS(feed_answer(0, peer, peer_mac, own));
	FAIL_UNLESS(haul_join(l.co, NULL, HAUL_FOREVER) == 0);
	FAIL_UNLESS(l.err == 0 && !memcmp(l.mac, peer_mac, 6));
	FAIL_UNLESS(l.ended - began < 301 * HAUL_MS);
	FAIL_UNLESS(state(0, peer) == HAUL_NEIGHBOUR_REACHABLE);
	FAIL_UNLESS(!next(HAUL_ANY, &s, haul_in(100 * HAUL_S)));
	FAIL_UNLESS(state(0, peer) == HAUL_NEIGHBOUR_STALE);

	/* Its use: a question to it alone after five seconds, which it answers. */
	FAIL_UNLESS(haul_host_neighbour(bed_host, 0, &a, mac, 0) == 0);
	FAIL_UNLESS(state(0, peer) == HAUL_NEIGHBOUR_DELAY);
	began = haul_now();
	FAIL_UNLESS(next(0, &s, haul_in(100 * HAUL_S)));
	FAIL_UNLESS(is_question(&s, peer) && !memcmp(s.to, peer_mac, 6));
	FAIL_UNLESS(s.at == began + 5 * HAUL_S);
	FAIL_UNLESS(state(0, peer) == HAUL_NEIGHBOUR_PROBE);
	FAIL_UNLESS(feed_answer(0, peer, peer_mac, own));
	FAIL_UNLESS(!next(HAUL_ANY, &s, haul_in(HAUL_MS)));
	FAIL_UNLESS(state(0, peer) == HAUL_NEIGHBOUR_REACHABLE);

	/* It goes. */
	FAIL_UNLESS(!next(HAUL_ANY, &s, haul_in(50 * HAUL_S)));
	FAIL_UNLESS(haul_host_neighbour(bed_host, 0, &a, mac, 0) == 0);
	for (unsigned i = 0; i < 3; i++)
		FAIL_UNLESS(next(0, &s, haul_in(6 * HAUL_S)));
	FAIL_UNLESS(!next(0, &s, haul_in(50 * HAUL_S)));
	FAIL_UNLESS(state(0, peer) == HAUL_NEIGHBOUR_NONE);
}

static void neighbours_live(void *arg)
{
	(void)arg;
	FAIL_UNLESS(begin());
	live("10.0.0.1", "10.0.0.7");
	live("fd00::1", "fd00::7");
}

START_TEST(a_life)
{
	start(NULL, _i);
	run(neighbours_live, NULL);
}
END_TEST

static void waits_end(void *arg)
{
	struct lookup l = {.of = "10.0.0.7", .deadline = HAUL_FOREVER};
	struct haul_addr a = addr("10.0.0.7"), far = addr("fd00:1::1"), group = addr("10.0.0.255"),
			 self = addr("10.0.0.1"), six = addr("fe80::1");
	uint64_t began;
	struct said s;
	uint8_t mac[6];

	(void)arg;
	FAIL_UNLESS(begin());
	began = haul_now();
	FAIL_UNLESS(begin_lookup(&l, 1));
	FAIL_UNLESS(haul_join(l.co, NULL, HAUL_FOREVER) == 0);
	FAIL_UNLESS(l.err == -EHOSTUNREACH && l.ended == began + 3 * HAUL_S);
	FAIL_UNLESS(haul_host_neighbour(bed_host, 0, &a, mac, HAUL_FOREVER) == -EHOSTUNREACH);
	for (unsigned i = 0; i < 3; i++)
		FAIL_UNLESS(next(0, &s, 0) || next(0, &s, haul_in(1)));
	FAIL_UNLESS(!next(0, &s, haul_in(2 * HAUL_S)));

	began = haul_now();
	FAIL_UNLESS(
		haul_host_neighbour(bed_host, 0, &a, mac, haul_in(1500 * HAUL_MS)) == -ETIMEDOUT);
	FAIL_UNLESS(haul_now() == began + 1500 * HAUL_MS);
	{
		HAUL_SCOPE(scope, haul_in(100 * HAUL_MS), HAUL_SCOPE_ALL);

		FAIL_UNLESS(haul_host_neighbour(bed_host, 0, &a, mac, HAUL_FOREVER) == -ETIMEDOUT);
	}
	FAIL_UNLESS(begin_lookup(&l, 2));
	FAIL_UNLESS(pass(HAUL_MS));
	haul_cancel(l.co);
	FAIL_UNLESS(haul_join(l.co, NULL, HAUL_FOREVER) == 0 && l.err == -ECANCELED);
	FAIL_UNLESS(stats(0).waiters == 0);

	FAIL_UNLESS(haul_host_neighbour(bed_host, 1, &far, mac, 0) == -EINVAL);
	FAIL_UNLESS(haul_host_neighbour(bed_host, 0, &group, mac, 0) == -EINVAL);
	FAIL_UNLESS(haul_host_neighbour(bed_host, 0, &self, mac, 0) == -EINVAL);
	FAIL_UNLESS(haul_host_neighbour(bed_host, 0, &six, mac, 0) == -EAGAIN);

	/* The stop lets all go. */
	FAIL_UNLESS(pass(10 * HAUL_S));
	FAIL_UNLESS(begin_lookup(&l, 1));
	FAIL_UNLESS(pass(HAUL_MS));
	FAIL_UNLESS(stats(0).waiters == 1);
	haul_host_stop(bed_host);
	FAIL_UNLESS(haul_join(l.co, NULL, HAUL_FOREVER) == 0 && l.err == -ECANCELED);
	FAIL_UNLESS(haul_host_neighbour(bed_host, 0, &a, mac, 0) == -ECANCELED);
	FAIL_UNLESS(!haul_host_start(bed_host, haul_test_io(bed), line, sizeof(line)));
	FAIL_UNLESS(haul_host_start(bed_host, haul_test_io(bed), line, sizeof(line)) == -EBUSY);
	FAIL_UNLESS(haul_host_neighbour(bed_host, 0, &a, mac, 0) == -EAGAIN);
}

START_TEST(how_waits_end)
{
	start(NULL, _i);
	run(waits_end, NULL);
}
END_TEST

#define MANY 500u

static void many_wait(void *arg)
{
	static struct lookup l[MANY];
	uint64_t asked;
	struct said s;

	(void)arg;
	FAIL_UNLESS(begin());
	asked = stats(0).asked;
	for (unsigned i = 0; i < MANY; i++) {
		l[i] = (struct lookup){.of = "10.0.0.7", .deadline = haul_in(10 * HAUL_S)};
		FAIL_UNLESS(begin_lookup(&l[i], i % CARRIERS));
	}
	FAIL_UNLESS(next(0, &s, haul_in(HAUL_MS)) && is_question(&s, "10.0.0.7"));
	FAIL_UNLESS(stats(0).waiters == 400);
	FAIL_UNLESS(feed_answer(0, "10.0.0.7", peer_mac, "10.0.0.1"));
	unsigned refused = 0;

	for (unsigned i = 0; i < MANY; i++) {
		FAIL_UNLESS(haul_join(l[i].co, NULL, HAUL_FOREVER) == 0);
		FAIL_UNLESS(l[i].err == -ENOBUFS || !memcmp(l[i].mac, peer_mac, 6));
		refused += l[i].err == -ENOBUFS;
	}
	FAIL_UNLESS(refused == 100 && stats(0).refused == 100);
	FAIL_UNLESS(stats(0).asked == asked + 1 && stats(0).waiters == 0);
}

START_TEST(many_wait_for_one)
{
	start(&(struct haul_host_opts){.waiters_max = 400}, _i);
	run(many_wait, NULL);
}
END_TEST

static bool answers_echo(unsigned port, const char *to, uint16_t vlan)
{
	struct said s;

	return feed_echo(port, to, NULL, vlan) && next(port, &s, haul_in(HAUL_MS)) &&
		is(&s.src, to) && !memcmp(s.to, peer_mac, 6) && (s.type == 0 || s.type == 129);
}

static void host_answers(void *arg)
{
	struct said s;

	(void)arg;
	FAIL_UNLESS(begin());
	FAIL_UNLESS(answers_echo(0, "10.0.0.1", 0) && answers_echo(0, "fd00::1", 0));
	FAIL_UNLESS(answers_echo(1, "10.1.0.1", 0) && answers_echo(0, "10.0.0.1", 5));
	FAIL_UNLESS(is_left(feed_echo(1, "10.0.0.1", NULL, 0), 1)); /* of the other port */
	FAIL_UNLESS(is_left(feed_echo(0, "10.0.0.2", NULL, 0), 0));
	FAIL_UNLESS(is_left(feed_echo(0, "10.0.0.1", other_mac, 0), 0));

	FAIL_UNLESS(feed_question(0, "10.0.0.7", peer_mac, "10.0.0.1"));
	FAIL_UNLESS(next(0, &s, haul_in(HAUL_MS)));
	FAIL_UNLESS(s.type == RTE_ARP_OP_REPLY && is(&s.src, "10.0.0.1"));
	FAIL_UNLESS(!memcmp(s.to, peer_mac, 6));
	FAIL_UNLESS(feed_question(0, "fd00::7", peer_mac, "fd00::1"));
	FAIL_UNLESS(next(0, &s, haul_in(HAUL_MS)));
	FAIL_UNLESS(s.type == 136 && is(&s.target, "fd00::1") && !memcmp(s.to, peer_mac, 6));
	/* Another host wants to have our address. */
	FAIL_UNLESS(feed_question(0, "0.0.0.0", other_mac, "10.0.0.1"));
	FAIL_UNLESS(next(0, &s, haul_in(HAUL_MS)) && s.type == RTE_ARP_OP_REPLY);
	FAIL_UNLESS(feed_question(0, "::", other_mac, "fd00::1"));
	FAIL_UNLESS(next(0, &s, haul_in(HAUL_MS)) && s.type == 136 && is_to_all(&s));

	FAIL_UNLESS(is_left(feed_question(0, "10.0.0.7", peer_mac, "10.0.0.2"), 0));
	FAIL_UNLESS(is_left(feed_question(1, "10.0.0.7", peer_mac, "10.0.0.1"), 1));
	FAIL_UNLESS(is_left(feed_question(0, "fd00::7", peer_mac, "fd00::2"), 0));
	/* Nobody has become a neighbour by asking. */
	FAIL_UNLESS(stats(HAUL_ALL).neighbours == 0 && stats(0).answered == 7);

	FAIL_UNLESS(!haul_host_remove_address(bed_host, 0, "10.0.0.1/24", line, sizeof(line)));
	FAIL_UNLESS(is_left(feed_echo(0, "10.0.0.1", NULL, 0), 0));
	haul_host_stop(bed_host);
	FAIL_UNLESS(is_left(feed_echo(0, "fd00::1", NULL, 0), 0));
}

START_TEST(answers)
{
	start(NULL, _i);
	run(host_answers, NULL);
}
END_TEST

static void echo_is_left(void *arg)
{
	(void)arg;
	FAIL_UNLESS(begin());
	FAIL_UNLESS(is_left(feed_echo(0, "10.0.0.1", NULL, 0), 0));
}

START_TEST(no_echo)
{
	start(&(struct haul_host_opts){.no_echo = true}, _i);
	run(echo_is_left, NULL);
}
END_TEST

static bool knows(const char *of, const uint8_t mac[6])
{
	struct haul_addr a = addr(of);
	uint8_t has[6];

	return haul_host_look(bed_host, 0, &a, has) != HAUL_NEIGHBOUR_NONE && !memcmp(has, mac, 6);
}

/* Makes a neighbour of an address. */
static bool meet(const char *own, const char *peer)
{
	struct haul_addr a = addr(peer);
	uint8_t mac[6];
	struct said s;

	return haul_host_neighbour(bed_host, 0, &a, mac, 0) == -EAGAIN &&
		next(0, &s, haul_in(HAUL_MS)) && feed_answer(0, peer, peer_mac, own) &&
		pass(HAUL_MS) && knows(peer, peer_mac);
}

static void neighbours_move(const char *own, const char *peer, const char *stranger)
{
	FAIL_UNLESS(meet(own, peer));
	FAIL_UNLESS(feed_announcement(0, peer, peer_mac));
	FAIL_UNLESS(state(0, peer) == HAUL_NEIGHBOUR_REACHABLE);
	FAIL_UNLESS(feed_announcement(0, peer, other_mac));
	FAIL_UNLESS(state(0, peer) == HAUL_NEIGHBOUR_STALE && knows(peer, other_mac));
	/* By a question of its own. */
	FAIL_UNLESS(feed_question(0, peer, peer_mac, own) && pass(HAUL_MS));
	FAIL_UNLESS(state(0, peer) == HAUL_NEIGHBOUR_STALE && knows(peer, peer_mac));
	/* Nobody has asked. */
	FAIL_UNLESS(feed_announcement(0, stranger, other_mac));
	FAIL_UNLESS(feed_answer(0, stranger, other_mac, own) && pass(HAUL_MS));
	FAIL_UNLESS(state(0, stranger) == HAUL_NEIGHBOUR_NONE);
	FAIL_UNLESS(feed_answer(0, peer, other_mac, own) && pass(HAUL_MS));
	FAIL_UNLESS(state(0, peer) == HAUL_NEIGHBOUR_STALE);
}

static void all_move(void *arg)
{
	struct said s;

	(void)arg;
	FAIL_UNLESS(begin());
	neighbours_move("10.0.0.1", "10.0.0.7", "10.0.0.8");
	neighbours_move("fd00::1", "fd00::7", "fd00::8");
	while (next(HAUL_ANY, &s, haul_in(HAUL_S)))
		;
	FAIL_UNLESS(stats(0).neighbours == 2 && stats(0).learned == 2);
	FAIL_UNLESS(stats(0).duplicates == 0);
}

START_TEST(neighbours_that_move)
{
	start(NULL, _i);
	run(all_move, NULL);
}
END_TEST

/* Another host has an address of ours. */
static void defend(const char *own, unsigned count)
{
	struct said s;

	for (unsigned i = 0; i < 5; i++)
		FAIL_UNLESS(feed_announcement(0, own, other_mac));
	FAIL_UNLESS(stats(0).duplicates == count + 5);
	FAIL_UNLESS(next(0, &s, haul_in(HAUL_MS)) && is_to_all(&s) && is(&s.src, own));
	FAIL_UNLESS(!next(HAUL_ANY, &s, haul_in(10 * HAUL_S)));
	FAIL_UNLESS(feed_announcement(0, own, other_mac));
	FAIL_UNLESS(next(0, &s, haul_in(HAUL_MS)) && is_to_all(&s) && is(&s.src, own));
	FAIL_UNLESS(state(0, own) == HAUL_NEIGHBOUR_NONE);
	FAIL_UNLESS(!next(HAUL_ANY, &s, haul_in(10 * HAUL_S)));
}

static void all_defend(void *arg)
{
	(void)arg;
	FAIL_UNLESS(begin());
	defend("10.0.0.1", 0);
	defend("fd00::1", 6);
}

START_TEST(duplicates)
{
	start(NULL, _i);
	run(all_defend, NULL);
}
END_TEST

START_TEST(errors)
{
	struct haul_host_opts opts = {.addresses_max = 2, .routes_max = 1};
	static const char *const bad[] = {"10.0.0.1", "10.0.0.1/33", "10.0.0.1/", "10.0.0.1/-1",
		"10.0.0.1/24x", "fd00::1/129", "x/24", "/24", "", "10.0.0.1/0024", "1.2.3/24"};

	start(&opts, 0);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(
			haul_host_add_address(bed_host, 0, bad[i], line, sizeof(line)) == -EINVAL,
			"%s", bad[i]);
	ck_assert_int_eq(haul_host_add_address(bed_host, 0, "224.0.0.1/24", line, sizeof(line)),
		-EADDRNOTAVAIL);
	ck_assert_int_eq(
		haul_host_add_address(bed_host, 2, "10.0.0.1/24", line, sizeof(line)), -EINVAL);
	ck_assert_int_eq(haul_host_add_address(bed_host, 0, "10.0.0.1/24", line, sizeof(line)), 0);
	ck_assert_int_eq(
		haul_host_add_address(bed_host, 1, "10.0.0.1/16", line, sizeof(line)), -EEXIST);
	ck_assert_int_eq(haul_host_add_address(bed_host, 1, "fd00::1/16", line, sizeof(line)), 0);
	ck_assert_int_eq(
		haul_host_add_address(bed_host, 1, "10.1.0.1/16", line, sizeof(line)), -ENOSPC);
	ck_assert_int_eq(
		haul_host_remove_address(bed_host, 1, "10.0.0.1/24", line, sizeof(line)), -ENOENT);
	ck_assert_int_eq(
		haul_host_remove_address(bed_host, 0, "10.0.0.1/25", line, sizeof(line)), -ENOENT);
	ck_assert_int_eq(
		haul_host_add_route(bed_host, "0.0.0.0/0", "10.9.0.1", 0, line, sizeof(line)),
		-EINVAL);
	ck_assert_int_eq(
		haul_host_add_route(bed_host, "0.0.0.0/0", "fd00::2", 1, line, sizeof(line)),
		-EINVAL);
	ck_assert_int_eq(
		haul_host_add_route(bed_host, "0.0.0.0/0", "10.0.0.2", 1, line, sizeof(line)),
		-EINVAL);
	ck_assert_int_eq(
		haul_host_add_route(bed_host, "0.0.0.0/0", "10.0.0.1", 0, line, sizeof(line)),
		-EINVAL);
	ck_assert_int_eq(
		haul_host_add_route(bed_host, "0.0.0.0/0", "10.0.0.2", 2, line, sizeof(line)),
		-EINVAL);
	ck_assert_int_eq(
		haul_host_add_route(bed_host, "nowhere", "10.0.0.2", 0, line, sizeof(line)),
		-EINVAL);
	ck_assert_int_eq(
		haul_host_add_route(bed_host, "0.0.0.0/0", "10.0.0.2", 0, line, sizeof(line)), 0);
	ck_assert_int_eq(
		haul_host_add_route(bed_host, "0.0.0.0/0", "10.0.0.3", 0, line, sizeof(line)),
		-EEXIST);
	ck_assert_int_eq(
		haul_host_add_route(bed_host, "10.9.0.0/16", "10.0.0.3", 0, line, sizeof(line)),
		-ENOSPC);
	ck_assert_int_eq(
		haul_host_remove_route(bed_host, "10.9.0.0/16", line, sizeof(line)), -ENOENT);
	ck_assert_int_eq(haul_host_remove_route(bed_host, "0.0.0.0/0", line, sizeof(line)), 0);
	ck_assert_int_eq(
		haul_host_create(&(struct haul_host *){NULL},
			&(struct haul_host_opts){.neighbours_max = UINT32_MAX}, line, sizeof(line)),
		-EINVAL);
	ck_assert_msg(haul_test_stop(bed, HAUL_FOREVER, line, sizeof(line)) == 0, "%s", line);
	haul_host_free(bed_host);
}
END_TEST

/* One of the frames above, of which some bytes are changed, or the end is cut off. */
static void feed_odd(struct hauli_random *random)
{
	static const char *const texts[] = {"10.0.0.1", "10.0.0.7", "fd00::1", "fd00::7",
		"10.0.0.255", "fd00::1:7", "0.0.0.0", "::"};
	struct haul_head head = {.src = addr(texts[hauli_random_below(random, 8)]),
		.dst = addr(texts[hauli_random_below(random, 8)]),
		.vlan = hauli_random_below(random, 4) == 0};
	int (*const builders[])(struct haul_pkt *, struct rte_mbuf *, const struct haul_head *) = {
		haul_arp_request, haul_arp_announce, haul_nd_solicit, haul_nd_announce};
	struct rte_mbuf *m = rte_pktmbuf_alloc(haul_test_pool(bed));
	struct haul_pkt pkt;
	uint8_t *data;

	if (hauli_random_below(random, 2))
		own_mac(0, head.dst_mac);
	memcpy(head.src_mac, hauli_random_below(random, 2) ? peer_mac : other_mac, 6);
	if (!m || builders[hauli_random_below(random, 4)](&pkt, m, &head)) {
		rte_pktmbuf_free(m);
		return;
	}
	data = rte_pktmbuf_mtod(m, uint8_t *);
	if (hauli_random_below(random, 2)) /* a reply, an advertisement: the next number */
		data[head.src.version == 4 ? 21 : 54] ^= 3;
	for (uint32_t n = hauli_random_below(random, 4); n > 1; n--)
		data[hauli_random_below(random, m->data_len)] ^= 1u
			<< hauli_random_below(random, 8);
	if (hauli_random_below(random, 8) == 0)
		rte_pktmbuf_trim(m, (uint16_t)hauli_random_below(random, m->data_len));
	if (haul_test_feed_pkt(bed, 0, HAUL_ANY, m))
		rte_pktmbuf_free(m);
}

static void odd_frames(void *arg)
{
	struct hauli_random random;
	struct haul_test_frame frame;

	hauli_random_init(&random, (uint64_t)(uintptr_t)arg);
	FAIL_UNLESS(begin());
	for (unsigned i = 0; i < 20000; i++) {
		struct haul_addr a = addr("10.0.0.7");
		uint8_t mac[6];

		feed_odd(&random);
		if (i % 16 == 0)
			(void)haul_host_neighbour(bed_host, 0, &a, mac, 0);
		if (i % 32 == 0)
			FAIL_UNLESS(pass(hauli_random_below(&random, 100) * HAUL_MS));
		while (haul_test_take(bed, HAUL_ANY, &frame, 0) == 0)
			rte_pktmbuf_free(frame.pkt);
	}
	FAIL_UNLESS(stats(0).neighbours <= 1);
	FAIL_UNLESS(stats(0).answered > 50);
	FAIL_UNLESS(stats(0).duplicates > 100);
}

START_TEST(odd_frames_are_survived)
{
	start(NULL, _i);
	run(odd_frames, (void *)(uintptr_t)(_i + 1));
}
END_TEST

/* A datagram for a service of the program. */
static enum haul_verdict for_us(unsigned port, const char *src, const char *dst, const uint8_t *mac,
	struct haul_net_if *nif)
{
	struct haul_head head = {.src = addr(src), .dst = addr(dst)};
	struct rte_mbuf *m = rte_pktmbuf_alloc(haul_test_pool(bed));
	const struct haul_rx rx = {.port = port};
	enum haul_verdict v = HAUL_NET_UNSUPPORTED;
	struct haul_pkt pkt;

	memcpy(head.src_mac, peer_mac, 6);
	own_mac(port, head.dst_mac);
	if (mac)
		memcpy(head.dst_mac, mac, 6);
	if (m && haul_build_udp(&pkt, m, &head, 4000, 53, 0) == 0)
		v = haul_host_for_us(bed_host, &rx, &pkt, nif);
	rte_pktmbuf_free(m);
	return v;
}

static void service(void *arg)
{
	static const struct {
		unsigned port;
		const char *src, *dst;
		const uint8_t *mac;
		enum haul_verdict verdict;
	} cases[] = {
		{0, "10.0.0.7", "10.0.0.1", NULL, HAUL_NET_OK},
		{0, "192.0.2.1", "10.0.0.1", NULL, HAUL_NET_OK},
		{0, "fd00::7", "fd00::1", NULL, HAUL_NET_OK},
		{1, "10.0.0.7", "10.1.0.1", NULL, HAUL_NET_OK},
		{0, "10.0.0.7", "10.0.0.2", NULL, HAUL_NET_NOT_FOR_US},
		{0, "10.0.0.7", "10.1.0.1", NULL, HAUL_NET_NOT_FOR_US}, /* the other port's */
		{0, "10.0.0.7", "10.0.0.255", NULL, HAUL_NET_NOT_FOR_US},
		{0, "fd00::7", "fd00::2", NULL, HAUL_NET_NOT_FOR_US},
		{1, "fd00::7", "fd00::1", NULL, HAUL_NET_NOT_FOR_US},
		{0, "10.0.0.7", "10.0.0.1", other_mac, HAUL_NET_NOT_FOR_US},
		{0, "10.0.0.1", "10.0.0.1", NULL, HAUL_NET_MALFORMED},
		{0, "10.1.0.1", "10.0.0.1", NULL, HAUL_NET_MALFORMED}, /* also ours */
		{0, "10.0.0.255", "10.0.0.1", NULL, HAUL_NET_MALFORMED},
		{0, "255.255.255.255", "10.0.0.1", NULL, HAUL_NET_MALFORMED},
		{0, "127.0.0.1", "10.0.0.1", NULL, HAUL_NET_MALFORMED},
		{0, "224.0.0.1", "10.0.0.1", NULL, HAUL_NET_MALFORMED},
		{0, "ff02::1", "fd00::1", NULL, HAUL_NET_MALFORMED},
		{0, "::", "fd00::1", NULL, HAUL_NET_MALFORMED},
	};
	struct haul_net_if nif;
	uint8_t mac[6];

	(void)arg;
	FAIL_UNLESS(begin());
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum haul_verdict v =
			for_us(cases[i].port, cases[i].src, cases[i].dst, cases[i].mac, &nif);

		if (v != cases[i].verdict)
			fprintf(stderr, "case %u: %d\n", i, v);
		FAIL_UNLESS(v == cases[i].verdict);
	}
	own_mac(0, mac);
	FAIL_UNLESS(for_us(0, "10.0.0.7", "10.0.0.1", NULL, &nif) == HAUL_NET_OK);
	FAIL_UNLESS(!memcmp(nif.mac, mac, 6) && !memcmp(nif.ip4, addr("10.0.0.1").bytes, 4));
	haul_host_stop(bed_host);
	FAIL_UNLESS(for_us(0, "10.0.0.7", "10.0.0.1", NULL, &nif) == HAUL_NET_NOT_FOR_US);
}

START_TEST(services)
{
	start(NULL, _i);
	run(service, NULL);
}
END_TEST

SUITE_MAIN("host", {announcements, 2}, {a_life, 2}, {how_waits_end, 2}, {many_wait_for_one, 2},
	{answers, 2}, {no_echo, 2}, {neighbours_that_move, 2}, {duplicates, 2}, {errors, 1},
	{odd_frames_are_survived, 4}, {services, 1})
