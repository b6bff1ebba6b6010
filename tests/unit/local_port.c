/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of local ports, and where replies will come. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "base/random.h"
#include "host/local_port.h"
#include "support/suite.h"

#define UDP 17
#define PORTS 65536
#define RETA 128

/* Microsoft's "Verifying the RSS Hash Calculation": the key, and packets with their hashes. */
static const uint8_t rss_key[] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25,
	0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb,
	0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

static const struct {
	bool ip6;
	const char *src, *dst;
	uint16_t src_port, dst_port;
	uint32_t hash;
} verified[] = {
	{false, "66.9.149.187", "161.142.100.80", 2794, 1766, 0x51ccc178},
	{false, "199.92.111.2", "65.69.140.83", 14230, 4739, 0xc626b0ea},
	{false, "24.19.198.95", "12.22.207.184", 12898, 38024, 0x5c2b394a},
	{false, "38.27.205.30", "209.142.163.6", 48228, 2217, 0xafc7327f},
	{false, "153.39.163.191", "202.188.127.2", 44251, 1303, 0x10e828a2},
	{true, "3ffe:2501:200:1fff::7", "3ffe:2501:200:3::1", 2794, 1766, 0x40207d3d},
	{true, "3ffe:501:8::260:97ff:fe40:efab", "ff02::1", 14230, 4739, 0xdde51bbf},
	{true, "3ffe:1900:4545:3:200:f8ff:fe21:67cf", "fe80::200:f8ff:fe21:67cf", 44251, 38024,
		0x02d1feef},
};
#define VERIFIED (sizeof(verified) / sizeof(verified[0]))

static struct hauli_flow_table table;
static struct hauli_port_set reserved;
static struct hauli_secret secret;

START_TEST(rss_hashes_are_those_that_microsoft_gives)
{
	struct hauli_steer steer = {0};
	struct hauli_flow_key key;
	uint8_t src[16], dst[16];

	ck_assert_int_eq(hauli_steer_set_key(&steer, rss_key), 0);
	for (unsigned i = 0; i < VERIFIED; i++) {
		int family = verified[i].ip6 ? AF_INET6 : AF_INET;

		ck_assert_int_eq(inet_pton(family, verified[i].src, src), 1);
		ck_assert_int_eq(inet_pton(family, verified[i].dst, dst), 1);
		hauli_flow_key_set(&key, verified[i].ip6, UDP, dst, verified[i].dst_port, src,
			verified[i].src_port);
		ck_assert_uint_eq(hauli_steer_rss(&steer, &key), verified[i].hash);
	}
	hauli_steer_fini(&steer);
}
END_TEST

static void remote_key(struct hauli_flow_key *key, bool ip6, uint8_t number)
{
	uint8_t local[16] = {10, 0, 0, 1}, remote[16] = {10, 0, 0, number};

	hauli_flow_key_set(key, ip6, UDP, local, 0, remote, 53);
}

static struct hauli_local_ports begin(unsigned carrier, unsigned nb_carriers)
{
	memset(&reserved, 0, sizeof(reserved));
	ck_assert_int_eq(hauli_flow_table_init(&table, 0), 0);
	return (struct hauli_local_ports){&table, &reserved, &secret, carrier, nb_carriers};
}

/* RSS of `queues`, to carriers of the same numbers, each with its further ways. */
static void make_steer(struct hauli_steer *steer, unsigned queues, unsigned ways)
{
	*steer = (struct hauli_steer){.nb_queues = queues, .rss = {true, true}};
	ck_assert_int_eq(hauli_steer_set_key(steer, rss_key), 0);
	steer->reta = calloc(RETA, sizeof(steer->reta[0]));
	steer->reta_mask = RETA - 1;
	for (unsigned i = 0; i < RETA; i++)
		steer->reta[i] = (uint16_t)(i % queues);
	steer->queues = calloc(queues, sizeof(steer->queues[0]));
	for (unsigned q = 0; q < queues; q++) {
		steer->queues[q].ways = ways;
		steer->queues[q].carriers = calloc(ways, sizeof(unsigned));
		for (unsigned w = 0; w < ways; w++)
			steer->queues[q].carriers[w] = q + w * queues;
	}
}

START_TEST(a_carrier_has_the_ports_that_name_it_each_once)
{
	unsigned n = (unsigned[]){1, 2, 3, 7, 64}[_i], c = n / 2, found = 0, expected = 0;
	struct hauli_local_ports from = begin(c, n);
	struct hauli_flow_link *all = calloc(PORTS, sizeof(*all));
	struct hauli_flow_key key;
	int err = 0;

	for (unsigned p = 0; p < 2000; p += 3)
		hauli_port_set_add(&reserved, (uint16_t)p);
	for (unsigned p = HAULI_LOCAL_PORT_MIN; p < PORTS; p++)
		expected += p % n == c && !(p < 2000 && p % 3 == 0);
	remote_key(&key, _i % 2, 1);
	while ((err = hauli_local_port_choose(&from, NULL, &key)) == 0) {
		unsigned p = hauli_flow_local_port(&key);

		ASSERT_EACH(p >= HAULI_LOCAL_PORT_MIN && p % n == c);
		ASSERT_EACH(!hauli_port_set_has(&reserved, (uint16_t)p));
		ASSERT_EACH(found < expected);
		all[found].key = key;
		ASSERT_EACH(hauli_flow_table_add(&table, &all[found++]) == 0);
	}
	ck_assert_int_eq(err, -EADDRINUSE);
	ck_assert_uint_eq(found, expected);
	/* Another remote end has all of them again. */
	remote_key(&key, _i % 2, 2);
	ck_assert_int_eq(hauli_local_port_choose(&from, NULL, &key), 0);
	hauli_flow_table_fini(&table);
	free(all);
}
END_TEST

/* Each of the 64,512 ports about 16 times: the deviation of the counts is that of chance. */
START_TEST(ports_are_drawn_evenly)
{
	unsigned drawn = 1 << 20, n = HAULI_LOCAL_PORT_MAX + 1 - HAULI_LOCAL_PORT_MIN;
	struct hauli_local_ports from = begin(0, 1);
	unsigned *counts = calloc(PORTS, sizeof(*counts));
	double mean = (double)drawn / n, sum = 0;
	struct hauli_flow_key key;

	remote_key(&key, false, 1);
	for (unsigned i = 0; i < drawn; i++) {
		ASSERT_EACH(hauli_local_port_choose(&from, NULL, &key) == 0);
		counts[hauli_flow_local_port(&key)]++;
	}
	for (unsigned p = HAULI_LOCAL_PORT_MIN; p < PORTS; p++)
		sum += (counts[p] - mean) * (counts[p] - mean) / mean;
	/* Chi squared: n - 1, give or take six times sqrt(2 n). */
	ck_assert_double_gt(sum, n - 6 * 360.);
	ck_assert_double_lt(sum, n + 6 * 360.);
	free(counts);
	hauli_flow_table_fini(&table);
}
END_TEST

/* With RSS, with spreading, and with both: replies come to the carrier, but for one in fifty; and
 * the ports are still its own, and many. */
START_TEST(replies_come_to_the_carrier)
{
	static const struct {
		unsigned queues, ways;
	} shapes[] = {{2, 1}, {4, 1}, {1, 3}, {2, 2}, {3, 1}, {1, 1}};
	unsigned queues = shapes[_i / 2].queues, ways = shapes[_i / 2].ways, n = queues * ways;
	struct hauli_steer steer;
	unsigned right = 0, rounds = 2000;
	struct hauli_flow_key key;

	make_steer(&steer, queues, ways);
	for (unsigned c = 0; c < n; c++) {
		struct hauli_local_ports from = begin(c, n);

		right = 0;
		for (unsigned i = 0; i < rounds; i++) {
			remote_key(&key, _i % 2, (uint8_t)i);
			ASSERT_EACH(hauli_local_port_choose(&from, &steer, &key) == 0);
			ASSERT_EACH(hauli_flow_local_port(&key) % n == c);
			right += hauli_steer_carrier(&steer, &key) == c;
		}
		ck_assert_uint_gt(right, rounds - rounds / 25);
		hauli_flow_table_fini(&table);
	}
	hauli_steer_fini(&steer);
}
END_TEST

START_TEST(what_is_not_known_is_not_guessed)
{
	struct hauli_steer steer;
	struct hauli_flow_key key;

	make_steer(&steer, 2, 1);
	remote_key(&key, false, 1);
	ck_assert_uint_lt(hauli_steer_carrier(&steer, &key), 2);
	steer.rss[0] = false;
	ck_assert_uint_eq(hauli_steer_carrier(&steer, &key), HAULI_STEER_UNKNOWN);
	remote_key(&key, true, 1);
	ck_assert_uint_lt(hauli_steer_carrier(&steer, &key), 2);
	key.w[0] = hauli_flow_ends(true, 58, 1, 0);
	ck_assert_uint_eq(hauli_steer_carrier(&steer, &key), HAULI_STEER_UNKNOWN);
	/* A table that names a queue that the port does not have. */
	remote_key(&key, true, 1);
	for (unsigned i = 0; i < RETA; i++)
		steer.reta[i] = 2;
	ck_assert_uint_eq(hauli_steer_carrier(&steer, &key), HAULI_STEER_UNKNOWN);
	hauli_steer_fini(&steer);
}
END_TEST

START_TEST(secrets_are_below_their_limit)
{
	unsigned counts[3] = {0};

	for (unsigned i = 0; i < 30000; i++) {
		ASSERT_EACH(hauli_secret_below(&secret, 1) == 0);
		/* Of 2^32 numbers four go to three results: without the rejection one in three
		 * would come twice as often. */
		counts[hauli_secret_below(&secret, 3u << 30) % 3]++;
	}
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_gt(counts[i], 9500);
		ck_assert_uint_lt(counts[i], 10500);
	}
}
END_TEST

SUITE_MAIN("local_port", {rss_hashes_are_those_that_microsoft_gives, 1},
	{a_carrier_has_the_ports_that_name_it_each_once, 5}, {ports_are_drawn_evenly, 1},
	{replies_come_to_the_carrier, 12}, {what_is_not_known_is_not_guessed, 1},
	{secrets_are_below_their_limit, 1})
