/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dpdk/fragment.h beside librte_ip_frag: each makes packets whole of the other's fragments. No
 * buffer is missing afterwards. */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>

#include <rte_cycles.h>
#include <rte_ip.h>
#include <rte_ip_frag.h>

#include <haul-dpdk/fragment.h>

#include "base/random.h"
#include "io_bed.h"

#define MTU 1480 /* of DPDK's function for IPv4, it must leave a multiple of 8 */
#define FRAGS_OF_DPDK 8
#define L2 14

static struct hauli_random rnd;
static struct rte_mempool *pool; /* without caches, which would hide buffers */

static const struct haul_head head4 = {
	.src_mac = {2, 0, 0, 0, 0, 1},
	.dst_mac = {2, 0, 0, 0, 0, 2},
	.src = {4, {10, 0, 0, 1}},
	.dst = {4, {10, 0, 0, 2}},
	.may_fragment = true,
};
static const struct haul_head head6 = {
	.src_mac = {2, 0, 0, 0, 0, 1},
	.dst_mac = {2, 0, 0, 0, 0, 2},
	.src = {6, {0xfd, [15] = 1}},
	.dst = {6, {0xfd, [15] = 2}},
};
static const struct haul_net_if its = {.ip4 = {10, 0, 0, 2}, .ip6 = {0xfd, [15] = 2}};

/* The number of buffers in the pool. */
static unsigned full_pool(void)
{
	if (!pool)
		pool = rte_pktmbuf_pool_create("fragments", 1023, 0, 0, 2176, SOCKET_ID_ANY);
	ck_assert_ptr_nonnull(pool);
	return rte_mempool_avail_count(pool);
}

/* A datagram of len random bytes in as many buffers as it needs; all[] has its frame. */
static struct haul_pkt datagram(const struct haul_head *head, uint32_t len, uint8_t *all)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct haul_pkt pkt;

	ck_assert_ptr_nonnull(m);
	for (uint32_t left = len; left;) {
		struct rte_mbuf *part = rte_pktmbuf_alloc(pool);
		uint16_t n = (uint16_t)RTE_MIN(left, 1000 + hauli_random_below(&rnd, 1000));
		char *at = rte_pktmbuf_append(part, n);

		for (uint16_t i = 0; i < n; i++)
			at[i] = (char)hauli_random_next(&rnd);
		ck_assert_int_eq(rte_pktmbuf_chain(m, part), 0);
		left -= n;
	}
	ck_assert_int_eq(haul_build_udp(&pkt, m, head, 5000, 53, 0), 0);
	for (struct rte_mbuf *seg = m; seg; seg = seg->next, all += len) {
		len = rte_pktmbuf_data_len(seg);
		memcpy(all, rte_pktmbuf_mtod(seg, void *), len);
	}
	return pkt;
}

/* m has the same frame; frees it. librte_ip_frag leaves the checksum of IPv4's header to others. */
static void assert_bytes(struct rte_mbuf *m, const uint8_t *all, uint32_t len, bool but_checksum)
{
	static uint8_t got[66000];
	const uint8_t *at;

	ck_assert_ptr_nonnull(m);
	ck_assert_uint_eq(rte_pktmbuf_pkt_len(m), len);
	at = rte_pktmbuf_read(m, 0, len, got);
	if (but_checksum)
		ck_assert_mem_eq(at + L2 + 12, all + L2 + 12, len - L2 - 12);
	else
		ck_assert_mem_eq(at, all, len);
	rte_pktmbuf_free(m);
}

static void assert_same(struct rte_mbuf *m, const uint8_t *all, uint32_t len)
{
	struct haul_pkt pkt;

	ck_assert_ptr_nonnull(m);
	ck_assert_int_eq(haul_net_parse(&pkt, m), HAUL_NET_OK);
	assert_bytes(m, all, len, false);
}

static void swap(struct rte_mbuf **frags, int n)
{
	for (int i = 0; i < n; i++) {
		uint32_t j = hauli_random_below(&rnd, (uint32_t)n);
		struct rte_mbuf *m = frags[i];

		frags[i] = frags[j];
		frags[j] = m;
	}
}

static struct rte_mbuf *whole_by_dpdk(
	struct rte_ip_frag_tbl *tbl, struct rte_ip_frag_death_row *row, struct rte_mbuf *m, bool v4)
{
	void *l3 = rte_pktmbuf_mtod_offset(m, void *, L2);
	struct rte_ipv6_hdr *ip6 = l3;

	m->l2_len = L2;
	m->l3_len = v4 ? 20 : 48;
	return v4
		? rte_ipv4_frag_reassemble_packet(tbl, row, m, rte_rdtsc(), l3)
		: rte_ipv6_frag_reassemble_packet(tbl, row, m, rte_rdtsc(), ip6, (void *)(ip6 + 1));
}

START_TEST(dpdk_takes_our_fragments)
{
	struct rte_ip_frag_tbl *tbl =
		rte_ip_frag_table_create(64, 4, 256, rte_get_tsc_hz(), SOCKET_ID_ANY);
	static struct rte_ip_frag_death_row row;
	static uint8_t all[66000];
	struct rte_mbuf *frags[HAUL_FRAGMENTS_MAX];
	unsigned full = full_pool();

	ck_assert_ptr_nonnull(tbl);
	hauli_random_init(&rnd, 1);
	for (unsigned i = 0; i < 500; i++) {
		bool v4 = i & 1;
		uint32_t len = hauli_random_below(&rnd, (MTU - 48) * FRAGS_OF_DPDK - 8);
		struct haul_pkt pkt = datagram(v4 ? &head4 : &head6, len, all);
		uint32_t frame = rte_pktmbuf_pkt_len(pkt.mbuf);
		int n = haul_fragment(&pkt, MTU, pool, frags);

		ck_assert_int_ge(n, 1);
		ck_assert(n > 1 || frags[0] == pkt.mbuf);
		if (n == 1) {
			assert_same(frags[0], all, frame);
			continue;
		}
		swap(frags, n);
		for (int k = 0; k < n; k++) {
			struct rte_mbuf *whole = whole_by_dpdk(tbl, &row, frags[k], v4);

			ck_assert((whole != NULL) == (k == n - 1));
			if (whole)
				assert_bytes(whole, all, frame, v4);
		}
	}
	rte_ip_frag_free_death_row(&row, 0);
	rte_ip_frag_table_destroy(tbl);
	ck_assert_uint_eq(rte_mempool_avail_count(pool), full);
}
END_TEST

START_TEST(we_take_fragments_of_dpdk)
{
	static uint8_t all[66000];
	struct haul_reassembly *table;
	struct haul_reassembly_stats st;
	unsigned full = full_pool(), made = 0;

	hauli_random_init(&rnd, 2);
	ck_assert_int_eq(haul_reassembly_create(&table, NULL), 0);
	for (unsigned i = 0; i < 500; i++) {
		bool v4 = i & 1;
		uint32_t len = MTU + hauli_random_below(&rnd, (MTU - 48) * 6);
		struct haul_pkt pkt = datagram(v4 ? &head4 : &head6, len, all);
		uint32_t frame = rte_pktmbuf_pkt_len(pkt.mbuf);
		struct rte_mbuf *frags[FRAGS_OF_DPDK];
		uint16_t mtu = v4 ? 1500 : 1488;

		/* It takes and gives packets without their Ethernet header. */
		rte_pktmbuf_adj(pkt.mbuf, L2);

		int n = v4
			? rte_ipv4_fragment_packet(pkt.mbuf, frags, FRAGS_OF_DPDK, mtu, pool, pool)
			: rte_ipv6_fragment_packet(pkt.mbuf, frags, FRAGS_OF_DPDK, mtu, pool, pool);

		ck_assert_int_gt(n, 1);
		for (int k = 0; k < n; k++) {
			struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod(frags[k], void *);

			if (v4) {
				ip->hdr_checksum = 0;
				ip->hdr_checksum = rte_ipv4_cksum(ip);
			}
			memcpy(rte_pktmbuf_prepend(frags[k], L2), all, L2);
		}
		rte_pktmbuf_free(pkt.mbuf);
		made += (unsigned)n;
		swap(frags, n);
		for (int k = 0; k < n; k++) {
			struct rte_mbuf *m = frags[k];

			ck_assert_int_eq(haul_reassemble(table, &its, 0, &m), HAUL_NET_OK);
			ck_assert((m != NULL) == (k == n - 1));
			/* Its first segment holds no more than headers of IP. */
			if (m)
				assert_bytes(m, all, frame, false);
		}
	}
	haul_reassembly_get_stats(table, &st);
	ck_assert_uint_eq(st.whole, 500);
	ck_assert_uint_eq(st.fragments, made);
	ck_assert_uint_eq(st.packets_held + st.fragments_held + st.bytes_held, 0);
	haul_reassembly_destroy(table);
	ck_assert_uint_eq(rte_mempool_avail_count(pool), full);
}
END_TEST

/* Into buffers that are smaller than the MTU; up to the largest datagram. */
START_TEST(large_ones)
{
	static uint8_t all[66000];
	struct rte_mbuf *frags[HAUL_FRAGMENTS_MAX], *m = NULL;
	struct haul_reassembly *table;
	unsigned full = full_pool();

	hauli_random_init(&rnd, 3);
	ck_assert_int_eq(haul_reassembly_create(&table, NULL), 0);
	for (unsigned i = 0; i < 2; i++) {
		struct haul_pkt pkt = datagram(i ? &head4 : &head6, 65507, all);
		uint32_t frame = rte_pktmbuf_pkt_len(pkt.mbuf);
		int n = haul_fragment(&pkt, 9000, pool, frags);

		ck_assert_int_gt(n, 30);
		for (int k = 0; k < n; k++) {
			ck_assert_uint_le(rte_pktmbuf_pkt_len(frags[k]), 2048);
			m = frags[k];
			ck_assert_int_eq(haul_reassemble(table, NULL, 0, &m), HAUL_NET_OK);
		}
		assert_same(m, all, frame);
		pkt = datagram(i ? &head4 : &head6, 65507, all);
		ck_assert_int_eq(haul_fragment(&pkt, 1000, pool, frags), -EMSGSIZE);
		ck_assert_int_eq(haul_fragment(&pkt, 50, pool, frags), -EMSGSIZE);
		rte_pktmbuf_free(pkt.mbuf);
	}
	haul_reassembly_destroy(table);
	ck_assert_uint_eq(rte_mempool_avail_count(pool), full);
}
END_TEST

START_TEST(errors_change_nothing)
{
	static uint8_t all[66000];
	struct rte_mbuf *frags[HAUL_FRAGMENTS_MAX], *m;
	struct haul_head head = head4;
	struct haul_pkt pkt;
	unsigned full = full_pool();
	struct rte_mempool *small = rte_pktmbuf_pool_create("small", 7, 0, 0, 2176, SOCKET_ID_ANY);
	struct haul_reassembly_opts opts = {.packets = 2000000};
	struct haul_reassembly *table;

	hauli_random_init(&rnd, 4);
	head.may_fragment = false;
	pkt = datagram(&head, 4000, all);
	ck_assert_int_eq(haul_fragment(&pkt, 1500, pool, frags), -EMSGSIZE);
	assert_same(pkt.mbuf, all, 4042);
	pkt = datagram(&head4, 12000, all);
	ck_assert_int_eq(haul_fragment(&pkt, 1500, small, frags), -ENOBUFS);
	ck_assert_uint_eq(rte_mempool_avail_count(small), 7);
	assert_same(pkt.mbuf, all, 12042);
	m = rte_pktmbuf_alloc(pool);
	head.vlan = 5;
	ck_assert_int_eq(haul_arp_request(&pkt, m, &head), 0);
	ck_assert_int_eq(haul_fragment(&pkt, 1500, pool, frags), 1);
	ck_assert_ptr_eq(frags[0], m);
	ck_assert_int_eq(haul_fragment(&pkt, 27, pool, frags), -EINVAL);
	rte_pktmbuf_free(m);
	rte_mempool_free(small);

	ck_assert_int_eq(haul_reassembly_create(&table, &opts), -EINVAL);
	opts = (struct haul_reassembly_opts){.fragments = 2000000};
	ck_assert_int_eq(haul_reassembly_create(&table, &opts), -EINVAL);
	opts = (struct haul_reassembly_opts){.timeout_ns = HAUL_FOREVER};
	ck_assert_int_eq(haul_reassembly_create(&table, &opts), -EINVAL);
	haul_reassembly_destroy(NULL);
	ck_assert_uint_eq(rte_mempool_avail_count(pool), full);
}
END_TEST

/* Other frames are the caller's, as they are; what is malformed, or another host's, too. */
START_TEST(other_frames)
{
	static uint8_t all[66000];
	static const struct haul_net_if other = {.ip4 = {10, 0, 0, 3}, .ip6 = {0xfd, [15] = 3}};
	struct haul_reassembly *table;
	struct haul_reassembly_stats st;
	const struct haul_reassembly_opts opts = {.timeout_ns = 1};
	struct rte_mbuf *frags[HAUL_FRAGMENTS_MAX], *m;
	unsigned full = full_pool();

	hauli_random_init(&rnd, 5);
	ck_assert_int_eq(haul_reassembly_create(&table, &opts), 0);
	for (unsigned i = 0; i < 2; i++) {
		struct haul_pkt pkt = datagram(i ? &head4 : &head6, 100, all);

		m = pkt.mbuf;
		ck_assert_int_eq(haul_reassemble(table, &its, 0, &m), HAUL_NET_OK);
		ck_assert_ptr_eq(m, pkt.mbuf);
		/* A frame that is cut off is haul_net_parse()'s to judge. */
		rte_pktmbuf_trim(rte_pktmbuf_lastseg(m), 1);
		ck_assert_int_eq(haul_reassemble(table, &its, 0, &m), HAUL_NET_OK);
		ck_assert_ptr_eq(m, pkt.mbuf);
		rte_pktmbuf_free(m);

		pkt = datagram(i ? &head4 : &head6, 2000, all);
		ck_assert_int_eq(haul_fragment(&pkt, 1500, pool, frags), 2);
		m = frags[0];
		ck_assert_int_eq(haul_reassemble(table, &other, 0, &m), HAUL_NET_NOT_FOR_US);
		ck_assert_ptr_eq(m, frags[0]);
		rte_pktmbuf_trim(m, 1);
		ck_assert_int_eq(haul_reassemble(table, &its, 0, &m), HAUL_NET_MALFORMED);
		ck_assert_ptr_eq(m, frags[0]);
		rte_pktmbuf_free(m);
		ck_assert_int_eq(haul_reassemble(table, &its, 0, &frags[1]), HAUL_NET_OK);
		ck_assert_ptr_null(frags[1]);
	}
	haul_reassembly_expire(table);
	haul_reassembly_get_stats(table, &st);
	ck_assert_uint_eq(st.malformed, 2);
	ck_assert_uint_eq(st.fragments, 4);
	ck_assert_uint_eq(st.expired, 2);
	ck_assert_uint_eq(st.fragments_held, 0);
	haul_reassembly_destroy(table);
	ck_assert_uint_eq(rte_mempool_avail_count(pool), full);
}
END_TEST

/* A thread that gives fragments of its own source to a table that others use, too. */
struct giver {
	pthread_t thread;
	struct haul_reassembly *table;
	/* Its own: in a ring a thread waits for the one before it, which may have no CPU. */
	struct rte_mempool *pool;
	uint8_t source;
	unsigned whole;
	const char *wrong;
};

enum { EACH_GIVES = 100000, ITS_BUFFERS = 255 };

static void *gives(void *arg)
{
	struct giver *g = arg;
	struct haul_head head = head4;

	head.src.bytes[3] = g->source;
	for (unsigned i = 0; i < EACH_GIVES && !g->wrong; i++) {
		struct rte_mbuf *frags[HAUL_FRAGMENTS_MAX], *m = rte_pktmbuf_alloc(g->pool);
		struct haul_pkt pkt;

		memset(rte_pktmbuf_append(m, 1600), g->source, 1600);
		if (haul_build_udp(&pkt, m, &head, 5000, 53, 0) ||
			haul_fragment(&pkt, 1000, g->pool, frags) != 2)
			g->wrong = "two fragments";
		for (unsigned k = 0; k < 2 && !g->wrong; k++)
			if (haul_reassemble(g->table, &its, 0, &frags[k]))
				g->wrong = "a fragment that is taken";
		if (!frags[1] || haul_net_parse(&pkt, frags[1]) || pkt.payload[0] != g->source)
			g->wrong = "a packet of this source";
		g->whole++;
		rte_pktmbuf_free(frags[1]);
	}
	return NULL;
}

START_TEST(threads_share_a_table)
{
	struct giver givers[3] = {{.source = 1}, {.source = 2}, {.source = 3}};
	struct haul_reassembly *table;
	struct haul_reassembly_stats st;
	char name[16];

	ck_assert_int_eq(haul_reassembly_create(&table, NULL), 0);
	for (unsigned i = 0; i < RTE_DIM(givers); i++) {
		snprintf(name, sizeof(name), "giver %u", i);
		givers[i].pool =
			rte_pktmbuf_pool_create(name, ITS_BUFFERS, 0, 0, 2176, SOCKET_ID_ANY);
		ck_assert_ptr_nonnull(givers[i].pool);
		givers[i].table = table;
		ck_assert_int_eq(pthread_create(&givers[i].thread, NULL, gives, &givers[i]), 0);
	}
	for (unsigned i = 0; i < RTE_DIM(givers); i++) {
		pthread_join(givers[i].thread, NULL);
		ck_assert_msg(!givers[i].wrong, "not %s", givers[i].wrong);
	}
	haul_reassembly_get_stats(table, &st);
	ck_assert_uint_eq(st.whole, 3 * EACH_GIVES);
	ck_assert_uint_eq(st.fragments_held, 0);
	haul_reassembly_destroy(table);
	for (unsigned i = 0; i < RTE_DIM(givers); i++)
		ck_assert_uint_eq(rte_mempool_avail_count(givers[i].pool), ITS_BUFFERS);
}
END_TEST

BED_MAIN("fragments", {dpdk_takes_our_fragments}, {we_take_fragments_of_dpdk}, {large_ones},
	{errors_change_nothing}, {other_frames}, {threads_share_a_table})
