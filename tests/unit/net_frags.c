/* SPDX-License-Identifier: BSD-3-Clause */
#include "net_frags.h"

#include <check.h>
#include <string.h>

#include "net_samples.h"

void frags_flatten(struct frags_bytes *to, const struct rte_mbuf *m)
{
	to->len = 0;
	for (const struct rte_mbuf *seg = m; seg; seg = seg->next) {
		ck_assert_uint_le(to->len + seg->data_len, sizeof(to->b));
		memcpy(to->b + to->len, rte_pktmbuf_mtod(seg, void *), seg->data_len);
		to->len += seg->data_len;
	}
	ck_assert_uint_eq(to->len, m->pkt_len);
}

struct rte_mbuf *frags_datagram(struct hauli_random *rnd, struct haul_pkt *pkt, uint8_t version,
	uint8_t last_of_src, uint16_t vlan, uint32_t len)
{
	static uint8_t payload[FRAGS_LONGEST];
	struct haul_head head = {
		.src_mac = {2, 0, 0, 0, 0, 1},
		.dst_mac = {2, 0, 0, 0, 0, 2},
		.vlan = vlan,
		.src = version == 4 ? (struct haul_addr){4, {10, 0, 0, last_of_src}}
				    : (struct haul_addr){6, {0xfd, [15] = last_of_src}},
		.dst = version == 4 ? (struct haul_addr){4, {10, 0, 0, 2}}
				    : (struct haul_addr){6, {0xfd, [15] = 2}},
		.may_fragment = true,
	};
	uint32_t split = hauli_random_below(rnd, len + 1);

	for (uint32_t i = 0; i < len; i++)
		payload[i] = (uint8_t)hauli_random_below(rnd, 256);

	struct rte_mbuf *m = net_segment(payload, RTE_MIN(split, 60000u), 128, 0);

	if (m->data_len < len) {
		m->next = net_segment(payload + m->data_len, len - m->data_len, 0, 0);
		m->nb_segs = 2;
		m->pkt_len = len;
	}
	ck_assert_int_eq(haul_build_udp(pkt, m, &head, 5000, 53, 0), 0);
	return m;
}

struct rte_mbuf *frags_write(const struct haul_pkt *pkt, uint16_t mtu, unsigned i, uint32_t id)
{
	struct rte_mbuf *m = net_segment(NULL, 0, 0, (uint16_t)(mtu + 18));

	m->ol_flags = 0;
	ck_assert_int_eq(hauli_fragment_write(pkt, mtu, i, id, m), 0);
	return m;
}

static void free_pkt(struct rte_mbuf *pkt, void *arg)
{
	struct frags_table *t = arg;

	t->freed++;
	net_mbuf_free(pkt);
}

void frags_begin(struct frags_table *t, uint32_t packets, uint32_t of_source, uint32_t fragments,
	uint32_t bytes)
{
	*t = (struct frags_table){
		.limits = {packets, of_source, fragments, bytes, 100 * FRAGS_MS},
		.now = 1000 * FRAGS_MS,
	};
	t->r = hauli_reassembly_create(&t->limits, free_pkt, t);
	ck_assert_ptr_nonnull(t->r);
	t->counts = hauli_reassembly_counts(t->r);
}

void frags_assert_held(const struct frags_table *t, uint32_t packets, uint32_t fragments)
{
	uint32_t nb_packets, nb_fragments, bytes;

	hauli_reassembly_held(t->r, &nb_packets, &nb_fragments, &bytes);
	ck_assert_uint_eq(nb_packets, packets);
	ck_assert_uint_eq(nb_fragments, fragments);
	ck_assert((bytes == 0) == (fragments == 0));
}

void frags_end(struct frags_table *t)
{
	hauli_reassembly_expire(t->r, t->now + t->limits.ns);
	frags_assert_held(t, 0, 0);
	hauli_reassembly_destroy(t->r);
}

enum haul_verdict frags_give(
	struct frags_table *t, struct rte_mbuf *f, unsigned port, struct rte_mbuf **pkt)
{
	struct hauli_fragment fragment;
	bool is_fragment;
	enum haul_verdict v = hauli_fragment_find(&fragment, f, &is_fragment);
	uint32_t packets, fragments, bytes;

	*pkt = NULL;
	if (v)
		return v;
	ck_assert(is_fragment);
	v = hauli_reassemble(t->r, &fragment, port, t->now, pkt);
	hauli_reassembly_held(t->r, &packets, &fragments, &bytes);
	if (packets > t->limits.packets || fragments > t->limits.fragments ||
		bytes > t->limits.bytes)
		ck_abort_msg("%u packets, %u fragments, %u bytes", packets, fragments, bytes);
	return v;
}

void frags_assert_datagram(const struct frags_bytes *wanted, struct rte_mbuf *m)
{
	static struct frags_bytes got;
	struct haul_pkt pkt;

	ck_assert_ptr_nonnull(m);
	frags_flatten(&got, m);
	ck_assert_uint_eq(got.len, wanted->len);
	ck_assert_mem_eq(got.b, wanted->b, wanted->len);
	ck_assert_int_eq(haul_net_parse(&pkt, m), HAUL_NET_OK);
	ck_assert_int_eq(pkt.proto, HAUL_PROTO_UDP);
	net_mbuf_free(m);
}
