/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/reassembly.h"

#include <stdlib.h>

#include "base/assert.h"
#include "net/ident.h"
#include "net/pkt.h"

/* Bytes of a segment that may stay empty in front of another one: those behind a full frame of
 * Ethernet in a buffer of 2 KB. */
#define EMPTY_MOST 600

/* An element of a circular list, or its head. */
struct link {
	struct link *prev, *next;
};

struct key {
	struct haul_addr src, dst;
	uint8_t proto, zero;
	uint16_t vlan;
	uint16_t port, id_low, id_high;
};
_Static_assert(sizeof(struct key) == 2 * sizeof(struct haul_addr) + 10, "no padding is hashed");

struct piece {
	struct hauli_fragment of;
	struct piece *next; /* whose data are behind; or the next free one */
};

struct source {
	struct link packets; /* oldest first */
	uint32_t nb_packets;
};

struct packet {
	struct link order; /* oldest first; or of the free ones */
	struct link of_source;
	struct link chain; /* packets whose hashes begin with the same bits */
	struct source *source;
	struct key key;
	bool bad;
	bool has_end;
	uint32_t nb_pieces;
	uint32_t end; /* of the data, if has_end */
	uint32_t bytes; /* that have arrived */
	uint64_t deadline;
	struct piece *first, *last;
};

struct hauli_reassembly {
	struct hauli_reassembly_limits limits;
	struct hauli_reassembly_counts counts;
	void (*free_pkt)(struct rte_mbuf *pkt, void *arg);
	void *arg;
	uint32_t mask; /* of the two tables, which are as large */
	uint32_t nb_packets, nb_bad, nb_pieces, bytes;
	struct link order, unused;
	struct piece *unused_pieces;
	struct link *chains;
	struct source *sources;
	struct packet *packets;
	struct piece *pieces;
};

static struct packet *packet_of(struct link *l, size_t at)
{
	return (void *)((char *)l - at);
}

static void list_init(struct link *head)
{
	head->prev = head->next = head;
}

static void list_append(struct link *head, struct link *l)
{
	l->prev = head->prev;
	l->next = head;
	head->prev->next = l;
	head->prev = l;
}

static void list_remove(struct link *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
}

/* A power of 2, so that chains are short when the table is full. */
static uint32_t table_size(uint32_t packets)
{
	uint32_t size = 1;

	while (size < packets)
		size *= 2;
	return size;
}

struct hauli_reassembly *hauli_reassembly_create(const struct hauli_reassembly_limits *limits,
	void (*free_pkt)(struct rte_mbuf *pkt, void *arg), void *arg)
{
	uint32_t size = table_size(limits->packets);
	struct hauli_reassembly *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	*r = (struct hauli_reassembly){
		.limits = *limits,
		.free_pkt = free_pkt,
		.arg = arg,
		.mask = size - 1,
		.chains = calloc(size, sizeof(*r->chains)),
		.sources = calloc(size, sizeof(*r->sources)),
		.packets = calloc(limits->packets, sizeof(*r->packets)),
		.pieces = calloc(limits->fragments, sizeof(*r->pieces)),
	};
	list_init(&r->order);
	list_init(&r->unused);
	if (!r->chains || !r->sources || !r->packets || !r->pieces) {
		hauli_reassembly_destroy(r);
		return NULL;
	}
	for (uint32_t i = 0; i < size; i++) {
		list_init(&r->chains[i]);
		list_init(&r->sources[i].packets);
	}
	for (uint32_t i = 0; i < limits->packets; i++)
		list_append(&r->unused, &r->packets[i].order);
	for (uint32_t i = 0; i < limits->fragments; i++) {
		r->pieces[i].next = r->unused_pieces;
		r->unused_pieces = &r->pieces[i];
	}
	return r;
}

static void give_back(struct hauli_reassembly *r, struct piece *piece)
{
	r->nb_pieces--;
	r->bytes -= piece->of.len;
	piece->next = r->unused_pieces;
	r->unused_pieces = piece;
}

static void free_pieces(struct hauli_reassembly *r, struct packet *p)
{
	struct piece *next;

	for (struct piece *piece = p->first; piece; piece = next) {
		next = piece->next;
		r->free_pkt(piece->of.mbuf, r->arg);
		give_back(r, piece);
	}
	p->first = p->last = NULL;
	p->nb_pieces = 0;
}

static void forget(struct hauli_reassembly *r, struct packet *p)
{
	free_pieces(r, p);
	list_remove(&p->order);
	list_remove(&p->of_source);
	list_remove(&p->chain);
	p->source->nb_packets--;
	r->nb_packets--;
	r->nb_bad -= p->bad;
	list_append(&r->unused, &p->order);
}

static struct packet *oldest(struct hauli_reassembly *r)
{
	return packet_of(r->order.next, offsetof(struct packet, order));
}

void hauli_reassembly_destroy(struct hauli_reassembly *r)
{
	while (r->order.next != &r->order)
		forget(r, oldest(r));
	free(r->chains);
	free(r->sources);
	free(r->packets);
	free(r->pieces);
	free(r);
}

void hauli_reassembly_expire(struct hauli_reassembly *r, uint64_t now)
{
	while (r->order.next != &r->order && oldest(r)->deadline <= now) {
		r->counts.expired += !oldest(r)->bad;
		forget(r, oldest(r));
	}
}

static struct packet *find(struct link *chain, const struct key *key)
{
	for (struct link *l = chain->next; l != chain; l = l->next) {
		struct packet *p = packet_of(l, offsetof(struct packet, chain));

		if (!memcmp(&p->key, key, sizeof(*key)))
			return p;
	}
	return NULL;
}

static void give_up_oldest(struct hauli_reassembly *r)
{
	r->counts.given_up += !oldest(r)->bad;
	forget(r, oldest(r));
}

static struct packet *begin(
	struct hauli_reassembly *r, struct link *chain, const struct key *key, uint64_t now)
{
	uint64_t hash = hauli_secret_hash(&key->src, sizeof(key->src));
	struct source *source = &r->sources[hash & r->mask];

	if (source->nb_packets >= r->limits.of_source) {
		r->counts.given_up_of_source++;
		forget(r, packet_of(source->packets.next, offsetof(struct packet, of_source)));
	}
	if (r->nb_packets == r->limits.packets)
		give_up_oldest(r);

	struct packet *p = packet_of(r->unused.next, offsetof(struct packet, order));

	list_remove(&p->order);
	*p = (struct packet){.source = source, .key = *key, .deadline = now + r->limits.ns};
	list_append(&r->order, &p->order);
	list_append(&source->packets, &p->of_source);
	list_append(chain, &p->chain);
	source->nb_packets++;
	r->nb_packets++;
	return p;
}

/* The packet stays, without its pieces, so that the rest of it is refused. */
static enum haul_verdict spoil(struct hauli_reassembly *r, struct packet *p)
{
	free_pieces(r, p);
	p->bad = true;
	r->nb_bad++;
	r->counts.bad++;
	return HAUL_NET_MALFORMED;
}

/* Where the piece belongs: behind this one. NULL: in front. */
static struct piece *piece_before(const struct packet *p, const struct hauli_fragment *f)
{
	struct piece *before = NULL;

	/* Mostly behind all others. */
	if (p->last && p->last->of.at <= f->at)
		return p->last;
	for (struct piece *piece = p->first; piece && piece->of.at <= f->at; piece = piece->next)
		before = piece;
	return before;
}

static bool overlaps(
	const struct piece *before, const struct piece *after, const struct hauli_fragment *f)
{
	return (before && before->of.at + before->of.len > f->at) ||
		(after && f->at + f->len > after->of.at);
}

/* False: it contradicts what is known of the packet's end. */
static bool fits_end(const struct packet *p, const struct hauli_fragment *f)
{
	uint32_t end = f->at + f->len;

	if (!f->more)
		return p->has_end ? end == p->end
				  : !p->last || p->last->of.at + p->last->of.len <= end;
	return !p->has_end || end < p->end;
}

/* Makes room for a fragment of p. False: p itself is the oldest and has been given up. */
static bool make_room(struct hauli_reassembly *r, const struct packet *p, uint32_t len)
{
	while (!r->unused_pieces || r->bytes + len > r->limits.bytes) {
		bool own = oldest(r) == p;

		give_up_oldest(r);
		if (own)
			return false;
	}
	return true;
}

static void insert(struct hauli_reassembly *r, struct packet *p, struct piece *before,
	const struct hauli_fragment *f)
{
	struct piece *piece = r->unused_pieces;
	struct piece **link = before ? &before->next : &p->first;

	r->unused_pieces = piece->next;
	*piece = (struct piece){*f, *link};
	*link = piece;
	if (!piece->next)
		p->last = piece;
	p->nb_pieces++;
	p->bytes += f->len;
	r->nb_pieces++;
	r->bytes += f->len;
	if (!f->more) {
		p->has_end = true;
		p->end = f->at + f->len;
	}
}

/* True if nobody else can see what is behind the data of m. */
static bool is_own(struct rte_mbuf *m)
{
	return RTE_MBUF_DIRECT(m) && rte_mbuf_refcnt_read(m) == 1;
}

/*
 * Puts seg behind last, the last segment of m, and returns the last one then. What fits into last
 * is copied: PMDs drop packets of too many segments, or even stop, so the sender of fragments must
 * not choose their number. Of a segment that does not fit, the beginning is copied if much of last
 * would be empty; of full frames, nothing. So 9,000 bytes in buffers of 2 KB are 7 segments.
 */
static struct rte_mbuf *append(
	struct hauli_reassembly *r, struct rte_mbuf *m, struct rte_mbuf *last, struct rte_mbuf *seg)
{
	uint16_t n = is_own(last) ? RTE_MIN(rte_pktmbuf_tailroom(last), seg->data_len) : 0;

	if (n < seg->data_len && (n < EMPTY_MOST || !is_own(seg)))
		n = 0;
	memcpy(rte_pktmbuf_mtod_offset(last, void *, last->data_len), rte_pktmbuf_mtod(seg, void *),
		n);
	last->data_len += n;
	m->pkt_len += seg->data_len;
	if (n == seg->data_len) {
		r->free_pkt(seg, r->arg);
		return last;
	}
	/* To the front, so that the buffer has as much room as others. */
	if (n > 0)
		memmove(rte_pktmbuf_mtod(seg, void *), rte_pktmbuf_mtod_offset(seg, void *, n),
			seg->data_len - n);
	seg->data_len -= n;
	seg->pkt_len = seg->data_len; /* as of all segments but the first */
	m->nb_segs++;
	last->next = seg;
	return seg;
}

/* The pieces, which are all there, as segments of the first. */
static struct rte_mbuf *join(struct hauli_reassembly *r, struct packet *p)
{
	struct hauli_fragment first = p->first->of;
	struct rte_mbuf *m = first.mbuf, *last = rte_pktmbuf_lastseg(m);
	struct piece *piece = p->first->next;

	give_back(r, p->first);
	for (struct piece *next; piece; piece = next) {
		struct rte_mbuf *seg = piece->of.mbuf, *behind;

		next = piece->next;
		rte_pktmbuf_adj(seg, piece->of.data);
		for (; seg; seg = behind) {
			behind = seg->next;
			seg->next = NULL;
			seg->nb_segs = 1;
			last = append(r, m, last, seg);
		}
		give_back(r, piece);
	}
	p->first = p->last = NULL;
	hauli_fragment_to_packet(&first, (uint16_t)p->end);
	forget(r, p);
	r->counts.whole++;
	return m;
}

/* Headers in the first fragment may be longer than in the last, where they were counted. */
static bool is_too_long(const struct packet *p)
{
	const struct hauli_fragment *f = &p->first->of;
	uint32_t headers = f->data - f->l3 - (f->src.version == 4 ? 0 : 48);

	return headers + p->end > UINT16_MAX;
}

static enum haul_verdict add(struct hauli_reassembly *r, struct packet *p,
	const struct hauli_fragment *f, struct rte_mbuf **pkt)
{
	struct piece *before = piece_before(p, f);
	struct piece *after = before ? before->next : p->first;

	if (before && before->of.at == f->at && before->of.len == f->len &&
		before->of.more == f->more) {
		r->counts.duplicates++;
		r->free_pkt(f->mbuf, r->arg);
		return HAUL_NET_OK;
	}
	if (overlaps(before, after, f) || !fits_end(p, f) ||
		p->nb_pieces == HAULI_FRAGMENTS_OF_PACKET)
		return spoil(r, p);
	if (!make_room(r, p, f->len))
		return HAUL_NET_UNSUPPORTED;
	/* The oldest may have gone, but not the pieces of this packet. */
	insert(r, p, before, f);
	if (!p->has_end || p->bytes != p->end)
		return HAUL_NET_OK;
	if (is_too_long(p)) {
		/* Its mbuf is the caller's no more. */
		spoil(r, p);
		return HAUL_NET_OK;
	}
	*pkt = join(r, p);
	return HAUL_NET_OK;
}

enum haul_verdict hauli_reassemble(struct hauli_reassembly *r, const struct hauli_fragment *f,
	unsigned port, uint64_t now, struct rte_mbuf **pkt)
{
	struct key key = {
		.src = f->src,
		.dst = f->dst,
		.proto = f->proto,
		.vlan = f->vlan,
		.port = (uint16_t)port,
		.id_low = (uint16_t)f->id,
		.id_high = (uint16_t)(f->id >> 16),
	};

	*pkt = NULL;
	r->counts.fragments++;
	hauli_reassembly_expire(r, now);
	if (hauli_fragment_is_whole(f)) {
		hauli_fragment_to_packet(f, f->len);
		r->counts.whole++;
		*pkt = f->mbuf;
		return HAUL_NET_OK;
	}

	struct link *chain = &r->chains[hauli_secret_hash(&key, sizeof(key)) & r->mask];
	struct packet *p = find(chain, &key);

	if (!p)
		p = begin(r, chain, &key, now);
	if (p->bad) {
		r->counts.late++;
		return HAUL_NET_MALFORMED;
	}
	return add(r, p, f, pkt);
}

void hauli_reassembly_held(
	const struct hauli_reassembly *r, uint32_t *packets, uint32_t *fragments, uint32_t *bytes)
{
	*packets = r->nb_packets - r->nb_bad;
	*fragments = r->nb_pieces;
	*bytes = r->bytes;
}

const struct hauli_reassembly_counts *hauli_reassembly_counts(const struct hauli_reassembly *r)
{
	return &r->counts;
}
