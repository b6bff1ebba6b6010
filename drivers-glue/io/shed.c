/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overload control: which packets of a late queue begin, and which are dropped.
 *
 * How old the oldest packet in a queue is, no PMD tells. But it came after the queue was last seen
 * empty, and after the moment since which as many packets were received as the queue holds: what
 * was in it then is out. The later of both bounds its age. A late queue is emptied in each cycle,
 * so there the bound is the length of a cycle, and nothing is lost in the NIC while haul can drop
 * faster than packets come. The window depends on the part of a cycle in which handlers run: the
 * other part, in which packets are dropped, is a quarter of the target at most.
 *
 * Which packets begin: those of the sources that have sent least lately (net/sketch.h), so that a
 * flood takes only what others leave. They are the smallest ones of a heap, as its top, the highest
 * count, goes when a smaller one comes; for a packet of a flood that is one comparison.
 * While handlers wait for too long in the run queue, only packets of small sources begin.
 *
 * Packets of a flow stay in order: those of the first class begin before others, and in each class
 * the order is that of arrival. (A classifier that puts packets of one flow into different classes
 * gives up their order.)
 */
#include "io/shed.h"

#include <rte_malloc.h>
#include <rte_prefetch.h>

#include "base/assert.h"
#include "base/clock.h"
#include "io/ledger.h"
#include "net/flow.h"
#include "net/given.h"
#include "net/ident.h"
#include "port/fill_time.h"

#define ROOM_UNKNOWN 4096 /* a queue whose capacity nobody tells, as that between carriers */

#define BEHIND 4 /* packets of small sources begin behind so many windows */
#define SMALL 8 /* a small source sends less than the limit by this factor */

/* A burst call that returns fewer has emptied the queue. PMDs with vectors return at most 32. */
#define SHORT 32

enum haul_class haul_class_default(struct haul_rx *rx, const struct rte_mbuf *pkt)
{
	bool is_control;

	HAUL_MISUSE_IF(!pkt, "the packet is NULL");
	hauli_net_source(pkt, &is_control);
	return is_control ? HAUL_CLASS_FIRST : HAUL_CLASS_OTHER;
}

static void set_up(const struct haul_io *io, struct hauli_rxq *r, struct hauli_shed *s)
{
	const struct haul_overload *o = &io->opts.overload;
	uint64_t interval = o->interval_ns ? o->interval_ns : 10 * o->target_ns;
	unsigned room = 0;

	hauli_late_init(&s->late, hauli_ticks_from_ns(o->target_ns), hauli_ticks_from_ns(interval));
	s->classify = o->classify == haul_class_default ? NULL : o->classify;
	if (!r->target && !r->port->detached)
		room = hauli_queue_room(r->port, r->rx.queue);
	s->room = room > 0 ? room : ROOM_UNKNOWN;
	r->shed = s;
}

bool hauli_shed_create(const struct haul_io *io, struct hauli_poller *p)
{
	const uint32_t id = haul_carrier_id(p->carrier);
	const size_t n = (size_t)(p->rxqs_end - p->rxqs);
	struct hauli_crowd *crowd;
	struct hauli_shed *s;

	if (io->opts.overload.target_ns == 0)
		return true;
	s = rte_zmalloc_socket("haul_shed", n * sizeof(*s) + sizeof(*crowd), HAULI_CACHE_LINE,
		haul_carrier_place(p->carrier)->node);
	if (!s)
		return false;
	crowd = (struct hauli_crowd *)(s + n);
	hauli_sketch_init(&crowd->sketch, hauli_secret_hash(&id, sizeof(id)),
		hauli_secret_hash("haul_shed", sizeof("haul_shed")));
	crowd->limit = UINT32_MAX;
	for (size_t i = 0; i < n; i++) {
		s[i].crowd = crowd;
		set_up(io, &p->rxqs[i], &s[i]);
	}
	return true;
}

void hauli_shed_free(struct hauli_poller *p)
{
	rte_free(p->rxqs->shed); /* the first of all */
}

/* Handlers so far that were to begin. */
static uint64_t started(const struct hauli_rxq *r)
{
	return hauli_counter_read(&r->started) + hauli_counter_read(&r->shed->undone);
}

static uint64_t begun(const struct hauli_shed *s)
{
	return hauli_counter_read(&s->begun) + hauli_u64_shared_get(&s->remote_begun);
}

static void is_late_no_more(struct hauli_shed *s)
{
	hauli_stopwatch_stop(&s->late_time, hauli_ticks());
}

void hauli_shed_end(struct hauli_rxq *r)
{
	if (r->shed->late.is_late)
		is_late_no_more(r->shed);
	r->shed->late.is_late = false;
}

void hauli_shed_begin(struct hauli_rxq *r)
{
	struct hauli_shed *s = r->shed;

	if (!s)
		return;
	hauli_late_init(&s->late, s->late.target, s->late.interval);
	s->young_since = s->lap_at = s->lap = 0;
	s->nb_waiting = 0;
	/* Burst handlers have counted none. */
	hauli_counter_add(&s->begun, started(r) - begun(s));
}

static uint64_t since(uint64_t then, uint64_t now)
{
	return now > then ? now - then : 0;
}

static bool is_short(uint16_t got, uint16_t most)
{
	return got < RTE_MIN(most, SHORT);
}

/* got packets were received at that time; all others in the queue came after young_since. */
static void count_lap(struct hauli_shed *s, uint64_t now, uint64_t got)
{
	s->lap += got;
	if (s->lap < s->room)
		return;
	s->young_since = RTE_MAX(s->young_since, s->lap_at);
	s->lap_at = now;
	s->lap = 0;
}

static void is_empty_at(struct hauli_shed *s, uint64_t now)
{
	s->young_since = s->lap_at = now;
	s->lap = 0;
}

/* How long the oldest handler has waited that has not begun. */
static uint64_t waits(struct hauli_shed *s, uint64_t now)
{
	uint64_t done = begun(s);

	while (s->nb_waiting > 0 && s->waiting[s->oldest].end <= done) {
		s->oldest = (s->oldest + 1) % HAULI_SHED_WAITING;
		s->nb_waiting--;
	}
	return s->nb_waiting > 0 ? since(s->waiting[s->oldest].at, now) : 0;
}

void hauli_shed_started(struct hauli_rxq *r, uint64_t at)
{
	struct hauli_shed *s = r->shed;
	uint64_t end = started(r);
	unsigned last = (s->oldest + s->nb_waiting + HAULI_SHED_WAITING - 1) % HAULI_SHED_WAITING;

	if (end <= begun(s))
		return;
	if (s->nb_waiting == HAULI_SHED_WAITING) {
		s->waiting[last].end = end; /* as old as the burst before: an upper bound */
		return;
	}
	last = (s->oldest + s->nb_waiting++) % HAULI_SHED_WAITING;
	s->waiting[last].end = end;
	s->waiting[last].at = at;
}

/* A calm queue of this age. True: it is still calm. */
static bool stays_calm(struct hauli_rxq *r, uint64_t now, uint64_t age)
{
	struct hauli_shed *s = r->shed;

	if (hauli_likely(!hauli_late_look(
		    &s->late, now, age, RTE_MIN((unsigned)r->poller->burst, HAULI_SHED_ROOM))))
		return true;
	s->serves_since = 0;
	hauli_counter_add(&s->episodes, 1);
	hauli_stopwatch_start(&s->late_time, hauli_ticks());
	return false;
}

bool hauli_shed_is_calm(struct hauli_rxq *r, uint64_t now, uint16_t got, uint16_t most)
{
	struct hauli_shed *s = r->shed;

	if (is_short(got, most) || s->young_since == 0)
		is_empty_at(s, now);
	else
		count_lap(s, now, got);
	return stays_calm(r, now, RTE_MAX(since(s->young_since, now), waits(s, now)));
}

bool hauli_shed_polls(struct hauli_rxq *r, uint64_t now, bool full)
{
	struct hauli_shed *s = r->shed;
	uint64_t waited = waits(s, now);

	if (!s->late.is_late) {
		if (hauli_likely(!full && waited <= s->late.target))
			return true;
		if (s->young_since == 0)
			is_empty_at(s, now);
		(void)stays_calm(r, now, RTE_MAX(since(s->young_since, now), waited));
	}
	return s->late.is_late &&
		(!full || hauli_rxq_in_flight(r) < r->max_in_flight + r->max_in_flight / 4);
}

/* The counts fade, so that they tell of about the last two intervals: that of a source with its
 * share is the mean after this, and twice as much before the next time. */
static void fade(struct hauli_crowd *c, uint64_t now, uint64_t interval)
{
	uint64_t age = since(c->halved, now);

	if (age < interval)
		return;
	c->halved = now;
	if (age < 8 * interval) {
		hauli_sketch_halve(&c->sketch);
		c->total /= 2;
		c->limit = 1 + (uint32_t)(2 * c->total / (1 + hauli_sketch_sources(&c->sketch)));
	} else {
		hauli_sketch_clear(&c->sketch); /* of an earlier episode */
		c->total = 0;
		c->limit = UINT32_MAX;
	}
}

void hauli_shed_open(struct hauli_shed_batch *b, struct hauli_rxq *r, uint64_t now)
{
	struct hauli_shed *s = r->shed;
	uint64_t in_flight = r->on_packet ? hauli_rxq_in_flight(r) : 0;
	uint64_t free = in_flight < r->max_in_flight ? r->max_in_flight - in_flight : 0;
	uint64_t waiting = r->on_packet ? since(begun(s), started(r)) : 0;

	b->r = r;
	b->began = now;
	b->end = now + s->late.target / 4;
	b->taken = 0;
	b->room = hauli_late_room(&s->late, waits(s, now), waiting);
	b->greedy_room = b->room;
	b->small_room = waiting < BEHIND * s->late.window_max ? s->late.window_max : 0;
	if (r->on_packet) {
		uint64_t reserve = since(in_flight, r->max_in_flight + r->max_in_flight / 8);

		b->greedy_room = (unsigned)RTE_MIN((uint64_t)b->room, free);
		b->room = (unsigned)RTE_MIN((uint64_t)b->room, reserve);
		b->small_room = (unsigned)RTE_MIN((uint64_t)b->small_room, reserve);
	}
	b->nb_first = b->nb_kept = b->nb_late = b->nb_over = b->seen = 0;
	fade(s->crowd, now, s->late.interval);
}

/* r->packets counts them, as the cycle does those that begin. */
static void drop(struct hauli_rxq *r, struct rte_mbuf **pkts, unsigned *n, enum haul_drop reason)
{
	hauli_counter_add(&r->packets, *n);
	if (r->poller->count_bytes)
		hauli_counter_add(&r->bytes, hauli_bytes_of(pkts, *n));
	hauli_drop_unhandled(r, pkts, (uint16_t)*n, reason);
	*n = 0;
}

static void drop_late(struct hauli_shed_batch *b, struct rte_mbuf *pkt)
{
	b->late[b->nb_late++] = pkt;
	if (b->nb_late == HAULI_SHED_BURST)
		drop(b->r, b->late, &b->nb_late, HAUL_DROP_LATE);
}

static void drop_over(struct hauli_shed_batch *b, struct rte_mbuf *pkt)
{
	b->over[b->nb_over++] = pkt;
	if (b->nb_over == HAULI_SHED_BURST)
		drop(b->r, b->over, &b->nb_over, HAUL_DROP_OVER_SHARE);
}

/* True: a goes before b. The older one of two with equal counts stays. */
static bool goes_first(const struct hauli_shed_pkt *a, const struct hauli_shed_pkt *b)
{
	return a->count > b->count || (a->count == b->count && a->number > b->number);
}

static void sink(struct hauli_shed_pkt *heap, unsigned n, struct hauli_shed_pkt p)
{
	unsigned at = 0, child;

	while ((child = 2 * at + 1) < n) {
		if (child + 1 < n && goes_first(&heap[child + 1], &heap[child]))
			child++;
		if (!goes_first(&heap[child], &p))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = p;
}

static void rise(struct hauli_shed_pkt *heap, unsigned at, struct hauli_shed_pkt p)
{
	for (; at > 0 && goes_first(&p, &heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = p;
}

/* What a source sends that sends less than a quarter of the mean adds little to what waits already,
 * and must not be lost whenever that is too much. */
static unsigned room_for(const struct hauli_shed_batch *b, uint32_t count)
{
	uint32_t limit = b->r->shed->crowd->limit;

	if (count > limit)
		return b->greedy_room;
	return limit != UINT32_MAX && count <= limit / SMALL ? b->small_room : b->room;
}

/* Keeps a packet if it is of those with the smallest counts; drops the one that is too many. */
static void keep(struct hauli_shed_batch *b, struct hauli_shed_pkt p)
{
	struct hauli_shed_pkt out = p;

	if (b->nb_kept < room_for(b, p.count)) {
		rise(b->kept, b->nb_kept++, p);
		return;
	}
	if (b->nb_kept > 0 && goes_first(&b->kept[0], &p)) {
		out = b->kept[0];
		sink(b->kept, b->nb_kept, p);
	}
	if (out.count > b->r->shed->crowd->limit)
		drop_over(b, out.pkt);
	else
		drop_late(b, out.pkt);
}

static void sort(struct hauli_shed_batch *b, struct rte_mbuf *pkt)
{
	struct hauli_shed *s = b->r->shed;
	struct hauli_crowd *c = s->crowd;
	bool is_control;
	uint32_t count = hauli_sketch_add(&c->sketch, hauli_net_source(pkt, &is_control));
	enum haul_class class = is_control ? HAUL_CLASS_FIRST : HAUL_CLASS_OTHER;

	c->total++;
	if (s->classify)
		class = s->classify(&b->r->rx, pkt);
	if (class == HAUL_CLASS_FIRST) {
		hauli_counter_add(&s->first, 1);
		if (count <= c->limit || count <= b->r->poller->burst) {
			b->first[b->nb_first++] = pkt;
			return;
		}
		hauli_counter_add(&s->demoted, 1);
	} else {
		hauli_counter_add(&s->other, 1);
	}
	keep(b, (struct hauli_shed_pkt){pkt, count, b->seen++});
}

void hauli_shed_sort(struct hauli_shed_batch *b, struct rte_mbuf **pkts, uint16_t n)
{
	b->taken += n;
	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
	for (uint16_t i = 0; i < n; i++)
		sort(b, pkts[i]);
}

/* More than the queue holds need not be taken, and a flood that comes faster than haul drops must
 * not take all time: then the NIC drops too. */
bool hauli_shed_goes_on(const struct hauli_shed_batch *b)
{
	return b->nb_first + HAULI_SHED_BURST <= HAULI_SHED_FIRST && b->taken < b->r->shed->room &&
		hauli_timer_ticks() < b->end;
}

/* Puts them into the order of arrival: few, as a window is. */
static void put_in_order(struct hauli_shed_pkt *kept, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		struct hauli_shed_pkt p = kept[i];
		unsigned at = i;

		for (; at > 0 && kept[at - 1].number > p.number; at--)
			kept[at] = kept[at - 1];
		kept[at] = p;
	}
}

uint16_t hauli_shed_close(struct hauli_shed_batch *b, struct rte_mbuf **pkts, bool is_empty)
{
	struct hauli_rxq *r = b->r;
	struct hauli_shed *s = r->shed;
	uint64_t served = since(s->serves_since ? s->serves_since : s->young_since, b->began);
	uint64_t age = RTE_MAX(served, waits(s, b->began));
	unsigned n = 0;

	for (unsigned i = 0; i < b->nb_first; i++)
		pkts[n++] = b->first[i];
	put_in_order(b->kept, b->nb_kept);
	for (unsigned i = 0; i < b->nb_kept; i++)
		pkts[n++] = b->kept[i].pkt;
	if (b->nb_late > 0)
		drop(r, b->late, &b->nb_late, HAUL_DROP_LATE);
	if (b->nb_over > 0)
		drop(r, b->over, &b->nb_over, HAUL_DROP_OVER_SHARE);
	s->serves_since = hauli_timer_ticks();
	if (is_empty)
		is_empty_at(s, s->serves_since);
	else
		count_lap(s, b->began, b->taken);
	hauli_late_emptied(&s->late, b->began, age, b->seen - b->nb_kept);
	if (!s->late.is_late)
		is_late_no_more(s);
	return (uint16_t)n;
}

void hauli_shed_add(const struct hauli_rxq *r, struct haul_overload_stats *st)
{
	const struct hauli_shed *s = r->shed;

	if (!s)
		return;
	st->episodes += hauli_counter_read(&s->episodes);
	st->late_ns += hauli_ns_from_ticks(hauli_stopwatch_read(&s->late_time, hauli_ticks()));
	st->first += hauli_counter_read(&s->first);
	st->other += hauli_counter_read(&s->other);
	st->demoted += hauli_counter_read(&s->demoted);
	st->is_late |= hauli_stopwatch_runs(&s->late_time);
}
