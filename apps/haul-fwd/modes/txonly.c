/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode txonly: sends generated frames. */
#include "txonly.h"

#include <stdlib.h>
#include <string.h>

#include <rte_random.h>

#include "checksum.h"
#include "edit.h"
#include "modes.h"
#include "options.h"

#define SEGMENTS_MAX 16
#define SEGMENT_MAX RTE_MBUF_DEFAULT_DATAROOM
#define HEADERS sizeof(struct frame_headers)

/* Segments of a frame; count is 0 without --txpkts. */
struct segments {
	uint16_t sizes[SEGMENTS_MAX];
	unsigned count;
	uint16_t total;
	bool random; /* a frame has some of them, from the first one on */
	unsigned least; /* that hold the headers */
};
static struct segments segments; /* of this run */
static struct segments next_segments; /* of the next one: by --txpkts, or commands */
static bool is_simple = true; /* neither --txpkts nor --txonly-multi-flow */

/* Writes the source address as testpmd does: one of 256 in turn, different ones on each carrier. */
static void vary_source(struct rte_ipv4_hdr *ip, struct fwd_carrier *c, unsigned carrier)
{
	uint32_t source =
		(rte_be_to_cpu_32(ip->dst_addr) | (uint32_t)c->next_source++ << 8) + carrier;

	ip->src_addr = rte_cpu_to_be_32(source);
	ip->hdr_checksum = 0;
	ip->hdr_checksum = (uint16_t)~fwd_ip4_sum(ip);
}

/* Writes the lengths of a frame of so many bytes. */
static void set_size(struct frame_headers *h, uint16_t size)
{
	h->ip.total_length = rte_cpu_to_be_16((uint16_t)(size - sizeof(h->eth)));
	h->udp.dgram_len = rte_cpu_to_be_16((uint16_t)(size - sizeof(h->eth) - sizeof(h->ip)));
	h->ip.hdr_checksum = 0;
	h->ip.hdr_checksum = (uint16_t)~fwd_ip4_sum(&h->ip);
}

/* The number of segments of the next frame, some at random. */
static unsigned draw_segments(struct rte_mbuf *pkt)
{
	unsigned more = segments.count - segments.least, n = segments.count;

	if (!segments.random)
		return n;
	n = segments.least + (unsigned)(rte_rand() % (more + 1));
	pkt->pkt_len = 0;
	for (unsigned i = 0; i < n; i++)
		pkt->pkt_len += segments.sizes[i];
	set_size(rte_pktmbuf_mtod(pkt, struct frame_headers *), (uint16_t)pkt->pkt_len);
	return n;
}

/* Spreads a frame, whose headers are in the first buffer, over buffers for the segments. */
static bool split(struct rte_mempool *pool, struct rte_mbuf *pkt)
{
	struct rte_mbuf *rest[SEGMENTS_MAX], *last = pkt;
	uint32_t at = segments.sizes[0];
	unsigned i, count = draw_segments(pkt), n = count - 1;

	if (n > 0 && rte_pktmbuf_alloc_bulk(pool, rest, n) != 0)
		return false;
	for (i = 0; i < n; i++) {
		uint16_t size = segments.sizes[i + 1];

		if (at < HEADERS)
			memcpy(rte_pktmbuf_mtod(rest[i], void *),
				rte_pktmbuf_mtod_offset(pkt, void *, at),
				RTE_MIN(size, HEADERS - at));
		rest[i]->data_len = size;
		last->next = rest[i];
		last = rest[i];
		at += size;
	}
	pkt->data_len = segments.sizes[0];
	pkt->nb_segs = (uint16_t)count;
	return true;
}

static __attribute__((noinline)) bool finish(
	const struct fwd *fwd, unsigned carrier, struct rte_mbuf *pkt)
{
	if (fwd_mode_args.multi_flow)
		vary_source(&rte_pktmbuf_mtod(pkt, struct frame_headers *)->ip,
			&fwd->carriers[carrier], carrier);
	return segments.count == 0 || split(fwd->pool, pkt);
}

/* finishes: as the options of txonly say. */
static inline __attribute__((always_inline)) uint16_t make(const struct fwd *fwd, unsigned port,
	unsigned carrier, struct rte_mbuf **pkts, uint16_t n, bool finishes)
{
	const struct frame_shape *shape = &fwd_ports(fwd)[port].shape;
	struct fwd_carrier *c = &fwd->carriers[carrier];
	uint16_t i;

	if (rte_mempool_get_bulk(fwd->pool, (void **)pkts, n) != 0)
		return 0;
	/* Not rte_pktmbuf_alloc_bulk() and then a second pass: where each buffer has a page, the
	 * headers of a burst do not all fit in the cache. */
	for (i = 0; i < n; i++) {
		rte_pktmbuf_reset(pkts[i]);
		frame_fill(shape, pkts[i], fwd_next_flow(c, shape->flows));
	}
	for (i = 0; unlikely(finishes) && i < n; i++) {
		if (!finish(fwd, carrier, pkts[i])) {
			rte_pktmbuf_free_bulk(pkts + i, n - i);
			return i;
		}
	}
	return n;
}

uint16_t fwd_txonly_make(
	const struct fwd *fwd, unsigned port, unsigned carrier, struct rte_mbuf **pkts, uint16_t n)
{
	return make(fwd, port, carrier, pkts, n, !is_simple && fwd->mode == &fwd_mode_txonly);
}

static uint16_t txonly_source(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	return make(rx->arg, rx->port, rx->carrier, pkts, n, !is_simple);
}

/* How many of the first segments hold the headers. */
static unsigned least_of(const struct segments *s)
{
	uint32_t total = 0;
	unsigned n = 0;

	while (n < s->count && total < HEADERS)
		total += s->sizes[n++];
	return n;
}

/* Parses --txpkts. Returns NULL, or what is wrong. */
static const char *parse_segments(const char *text, struct segments *s)
{
	uint32_t total = 0;
	char *end;

	s->count = 0;
	for (;; text = end + 1) {
		unsigned long size = strtoul(text, &end, 10);

		if (end == text || *text == '-' || (*end && *end != ','))
			return "give the length of each segment in bytes, such as 64,128";
		if (size == 0 || size > SEGMENT_MAX)
			return "a segment has 1 to 2048 bytes";
		if (s->count == SEGMENTS_MAX)
			return "there are more than 16 segments";
		s->sizes[s->count++] = (uint16_t)size;
		total += (uint32_t)size;
		if (!*end)
			break;
	}
	s->total = (uint16_t)total;
	s->least = least_of(s);
	return total < HEADERS ? "a frame has at least 42 bytes, for its headers" : NULL;
}

const char *fwd_txonly_set_segments(const char *text)
{
	struct segments s = {.random = next_segments.random};
	const char *wrong = text ? parse_segments(text, &s) : NULL;

	if (!wrong)
		next_segments = s;
	return wrong;
}

unsigned fwd_txonly_segments(const uint16_t **sizes)
{
	*sizes = next_segments.sizes;
	return next_segments.count;
}

void fwd_txonly_set_random(bool on)
{
	next_segments.random = on;
}

bool fwd_txonly_is_random(void)
{
	return next_segments.random;
}

static int txonly_parsed(struct haul_app *app, struct haul_app_hooks *hooks, bool chosen)
{
	const char *wrong = fwd_txonly_set_segments(fwd_mode_args.txpkts);

	if (!wrong)
		return HAUL_APP_DONE;
	return haul_app_wrong(app->program, "--txpkts %s: %s", fwd_mode_args.txpkts, wrong);
}

static int txonly_begin(struct fwd *fwd)
{
	segments = next_segments;
	is_simple = segments.count == 0 && !fwd_mode_args.multi_flow;
	for (unsigned i = 0; segments.count > 0 && i < fwd->app->nb_ports; i++) {
		struct frame_shape *shape = &fwd_ports(fwd)[i].shape;

		shape->size = segments.total;
		set_size(&shape->headers, segments.total);
	}
	return HAUL_APP_DONE;
}

const struct fwd_mode_ops fwd_mode_txonly = {
	.packet = fwd_drop_packet,
	.source = txonly_source,
	.reads = true,
	.parsed = txonly_parsed,
	.begin = txonly_begin,
};
