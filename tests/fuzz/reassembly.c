/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reassembly under libFuzzer: the input is a sequence of frames, each with a byte that says how
 * much time passes, whether its checksum is made right, and at which byte it is split into two
 * segments.
 * Frames are in memory that ends where they end. The table keeps within its limits, and each frame
 * is freed once: a leak or a second free is the sanitizer's.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_mbuf.h>

#include "net/reassembly.h"

#define MS UINT64_C(1000000)

static const struct hauli_reassembly_limits limits = {4, 2, 12, 2000, 10 * MS};

#define REQUIRE(cond)            \
	do {                     \
		if (!(cond))     \
			abort(); \
	} while (0)

static struct rte_mbuf *segment(const uint8_t *data, size_t len)
{
	struct rte_mbuf *m = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*m));

	memset(m, 0, sizeof(*m));
	m->buf_addr = malloc(len);
	m->buf_len = (uint16_t)len;
	m->data_len = (uint16_t)len;
	m->pkt_len = (uint32_t)len;
	m->nb_segs = 1;
	rte_mbuf_refcnt_set(m, 1);
	memcpy(m->buf_addr, data, len);
	return m;
}

static void free_pkt(struct rte_mbuf *m, void *arg)
{
	(void)arg;
	while (m) {
		struct rte_mbuf *next = m->next;

		free(m->buf_addr);
		free(m);
		m = next;
	}
}

/* Without this no IPv4 header would pass. */
static void fix(uint8_t *frame, size_t len)
{
	size_t ip = len > 14 && frame[12] == 0x81 ? 18 : 14;
	size_t hlen = len > ip ? (frame[ip] & 15u) * 4 : 0;

	if (hlen < 20 || ip + hlen > len)
		return;
	frame[ip + 10] = frame[ip + 11] = 0;

	uint16_t sum = (uint16_t)~rte_raw_cksum(frame + ip, hlen);

	memcpy(frame + ip + 10, &sum, 2);
}

/* All bytes of a packet can be read, and are as many as it says. */
static void use(const struct rte_mbuf *m)
{
	uint32_t len = 0, sum = 0;
	uint16_t segments = 0;

	for (const struct rte_mbuf *seg = m; seg; seg = seg->next, segments++) {
		const uint8_t *b = rte_pktmbuf_mtod(seg, const uint8_t *);

		for (uint32_t i = 0; i < seg->data_len; i++)
			sum += b[i];
		len += seg->data_len;
	}
	REQUIRE(len == m->pkt_len && segments == m->nb_segs && sum + 1);
}

static void one(struct hauli_reassembly *r, struct rte_mbuf *m, uint64_t now)
{
	struct hauli_fragment f;
	bool is_fragment;
	struct rte_mbuf *pkt = NULL;
	struct haul_pkt parsed;
	uint32_t packets, fragments, bytes;

	if (hauli_fragment_find(&f, m, &is_fragment) || !is_fragment ||
		hauli_reassemble(r, &f, 0, now, &pkt)) {
		free_pkt(m, NULL);
	} else if (pkt) {
		use(pkt);
		haul_net_parse(&parsed, pkt);
		use(pkt);
		free_pkt(pkt, NULL);
	}
	hauli_reassembly_held(r, &packets, &fragments, &bytes);
	REQUIRE(packets <= limits.packets && fragments <= limits.fragments);
	REQUIRE(bytes <= limits.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hauli_reassembly *r = hauli_reassembly_create(&limits, free_pkt, NULL);
	uint64_t now = MS;

	REQUIRE(r);
	while (size > 2) {
		uint8_t how = data[0];
		size_t len = data[1], split = how & 0x40 ? how & 0x3f : 0;
		uint8_t frame[256];

		data += 2;
		size -= 2;
		len = len < size ? len : size;
		memcpy(frame, data, len);
		data += len;
		size -= len;
		if (how & 0x80)
			fix(frame, len);
		now += how & 0x40 ? 0 : (how & 0x3f) * MS / 8;

		struct rte_mbuf *m = segment(frame, split && split < len ? split : len);

		if (m->data_len < len) {
			m->next = segment(frame + m->data_len, len - m->data_len);
			m->nb_segs = 2;
			m->pkt_len = (uint32_t)len;
		}
		one(r, m, now);
	}
	hauli_reassembly_destroy(r);
	return 0;
}
