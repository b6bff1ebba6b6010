/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/net: random fragments, of packets in any order with copies, and of nothing; none is lost or
 * freed twice. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "net_frags.h"
#include "net_samples.h"
#include "support/suite.h"

static struct hauli_random rnd;
static struct frags_table table;
static struct frags_bytes wanted, got;

static uint32_t below(uint32_t n)
{
	return hauli_random_below(&rnd, n);
}

START_TEST(in_any_order)
{
	const char *text = getenv("HAUL_TEST_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);

	hauli_random_init(&rnd, seed);
	fprintf(stderr, "net_reassembly_random: in_any_order: HAUL_TEST_SEED=%" PRIu64 "\n", seed);
	frags_begin(&table, 4, 4, 128, 1 << 20);
	for (unsigned round = 0; round < 1000; round++) {
		uint8_t version = below(2) ? 4 : 6;
		uint16_t mtu = (uint16_t)(1280 + below(220)), vlan = below(2) ? 5 : 0;
		struct rte_mbuf *parts[80], *out;
		struct haul_pkt pkt;
		struct rte_mbuf *m = frags_datagram(
			&rnd, &pkt, version, 1, vlan, 1500 + below(round % 50 ? 10000 : 64000));
		uint32_t id = hauli_fragments_id(&pkt), nb = 0, copies = 0;
		int n = hauli_fragments(&pkt, mtu);

		frags_flatten(&wanted, m);
		ck_assert_int_le(n, HAULI_FRAGMENTS_OF_PACKET);
		for (int i = 0; i < n; i++) {
			parts[nb++] = frags_write(&pkt, mtu, (unsigned)i, id);
			/* A network may double a frame; not the last one here, after which the
			 * packet is whole and a copy would begin another. */
			if (below(8) == 0 && nb < 70) {
				parts[nb++] = frags_write(&pkt, mtu, (unsigned)i, id);
				copies++;
			}
		}
		for (uint32_t i = 0; below(3) && i < nb; i++) {
			uint32_t j = below(nb);
			struct rte_mbuf *swapped = parts[i];

			parts[i] = parts[j];
			parts[j] = swapped;
		}

		uint64_t before = table.counts->duplicates, whole = table.counts->whole;

		for (uint32_t i = 0; i < nb; i++) {
			ck_assert_int_eq(
				frags_give(&table, parts[i], round % 3, &out), HAUL_NET_OK);
			if (out) {
				frags_assert_datagram(&wanted, out);
				ck_assert_uint_le(table.counts->duplicates - before, copies);
			}
		}
		/* If all of them have come twice, there may be two. */
		ck_assert_uint_ge(table.counts->whole, whole + 1);
		table.now += 150 * FRAGS_MS;
		net_mbuf_free(m);
	}
	ck_assert_uint_eq(table.counts->bad, 0);
	frags_end(&table);
}
END_TEST

/* Fragments of all kinds, from few addresses; whatever comes out is complete. */
START_TEST(random_fragments)
{
	uint32_t given = 0, out_segments = 0, refused = 0;
	unsigned nb_whole = 0;

	hauli_random_init(&rnd, 11);
	frags_begin(&table, 8, 3, 24, 20000);
	for (unsigned round = 0; round < 300000; round++) {
		struct net_bytes p = {.len = 0};
		bool more = below(3), v4 = below(2);
		uint32_t len = 8 * (1 + below(4)) + (more ? 0 : below(8)), at = 8 * below(12);
		uint8_t head4[34] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 0, 0, 0,
			0, 0, 64, 253, 0, 0, 10, 0, 0, 0, 10, 0, 0, 2};
		uint8_t head6[62] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd, 0x60, 0, 0, 0,
			0, 0, 44, 64, 0xfd, [37] = 0, [38] = 0xfd, [53] = 2, [54] = 253};
		struct rte_mbuf *out;

		memcpy(p.b, v4 ? head4 : head6, v4 ? 34 : 62);
		p.len = (v4 ? 34 : 62) + len;
		for (uint32_t i = 0; i < len; i++)
			p.b[p.len - len + i] = (uint8_t)below(256);
		if (v4) {
			p.b[17] = (uint8_t)(20 + len);
			p.b[19] = (uint8_t)below(3);
			p.b[20] = more ? 0x20 : 0;
			p.b[21] = (uint8_t)(at / 8);
			p.b[29] = (uint8_t)(1 + below(3));
			net_fix_cksums(&p);
		} else {
			p.b[19] = (uint8_t)(8 + len);
			p.b[37] = (uint8_t)(1 + below(3));
			p.b[57] = (uint8_t)(at | more);
			p.b[61] = (uint8_t)below(3);
		}
		if (v4 && at == 0 && !more)
			continue;

		struct rte_mbuf *f = net_mbuf(&p, 0, 0);
		enum haul_verdict v = frags_give(&table, f, 0, &out);

		given++;
		if (v) {
			refused++;
			net_mbuf_free(f);
		} else if (out) {
			struct haul_pkt pkt;

			out_segments += out->nb_segs;
			nb_whole++;
			frags_flatten(&got, out);
			ck_assert_int_eq(haul_net_parse(&pkt, out), HAUL_NET_OK);
			ck_assert_uint_eq(pkt.ip_proto, 253);
			net_mbuf_free(out);
		}
		table.now += below(10) ? 0 : 7 * FRAGS_MS;
	}
	frags_end(&table);
	ck_assert_uint_eq(given, table.freed + out_segments + refused);
	ck_assert_uint_gt(nb_whole, 1000);
	ck_assert_uint_gt(refused, 1000);
}
END_TEST

SUITE_MAIN("net_reassembly_random", {in_any_order}, {random_fragments})
