/* SPDX-License-Identifier: BSD-3-Clause */
/* The pollers: receive from each port's queue, pass packets to handlers, send queued packets. */
#include "io/poll.h"

#include "base/assert.h"
#include "base/simulated.h"
#include "io/handler.h"
#include "io/idle.h"
#include "io/share.h"
#include "io/shed.h"
#include "io/spread.h"
#include "io/times.h"
#include "io/tx.h"
#include "net/given.h"

/* Touches no port before all carriers have their poller. False: cancelled, because a carrier has
 * none. */
static bool begin(struct hauli_poller *p)
{
	struct hauli_rxq *r;

	while (hauli_u32_published_get(&p->may_begin) == 0)
		if (!hauli_glue_go_on(p->carrier, hauli_glue_is_virtual(p->carrier)))
			return false;
	hauli_glue_poller_begins(p->carrier, &p->cycles, hauli_handler_order);
	for (r = p->rxqs; r < p->rxqs_end; r++) {
		hauli_handler_init(r);
		hauli_shed_begin(r);
	}
	for (struct hauli_rxq **active = p->active; *active; active++)
		if (!(*active)->target)
			haul_port_queue_adopt((*active)->port, (*active)->rx.queue);
	return true;
}

/* Receives from a queue whose carrier is a proxy: returns the packets that the carrier keeps.
 * *passed: targets have got packets. */
static __attribute__((noinline)) uint16_t receive_for_all(
	struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t most, bool *passed)
{
	uint16_t n, own;
	bool has_room;

	if (hauli_unlikely(r->proxy->back != NULL)) {
		n = hauli_spread_take_back(r->proxy, pkts, most);
		if (r->shed)
			r->shed->got = n;
		return n;
	}
	has_room = hauli_spread_has_room(r);
	n = has_room ? hauli_burst_rx(&r->burst, pkts, most) : 0;
	if (r->shed)
		r->shed->got = has_room ? n : UINT16_MAX;
	if (n > 0)
		hauli_share_works(r->poller);
	hauli_pkts_take(pkts, n);
	own = hauli_spread(r, pkts, n);
	hauli_counter_add(&r->empty, n == 0);
	hauli_counter_add(&r->held, !has_room);
	*passed |= own < n;
	return own;
}

static inline __attribute__((always_inline)) uint16_t receive(
	struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t most, bool *passed)
{
	uint16_t n;

	if (hauli_unlikely(r->proxy != NULL))
		return receive_for_all(r, pkts, most, passed);
	n = hauli_burst_rx(&r->burst, pkts, most);
	hauli_pkts_take(pkts, n);
	if (n == 0)
		hauli_counter_add(&r->empty, 1);
	return n;
}

/* The same where packets may be shed. */
static uint16_t receive_got(
	struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t most, bool *passed, uint16_t *got)
{
	uint16_t n = receive(r, pkts, most, passed);

	*got = r->proxy ? r->shed->got : n;
	return n;
}

/* Empties a late queue, drops the excess, and returns the packets that begin. first: the number of
 * packets that pkts holds already. */
static __attribute__((noinline)) uint16_t receive_late(
	struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t first, uint64_t now, bool *passed)
{
	struct hauli_poller *p = r->poller;
	const uint16_t most = RTE_MIN(p->burst, (uint16_t)HAULI_SHED_BURST);
	struct hauli_shed_batch batch;
	uint16_t n, got;

	hauli_shed_open(&batch, r, now);
	for (n = 0; n < first; n += got) {
		got = RTE_MIN((uint16_t)(first - n), (uint16_t)HAULI_SHED_BURST);
		hauli_shed_sort(&batch, pkts + n, got);
	}
	do {
		n = receive_got(r, pkts, most, passed, &got);
		if (n > 0)
			hauli_share_works(p);
		hauli_shed_sort(&batch, pkts, n);
	} while (got == most && hauli_shed_goes_on(&batch));
	*passed |= batch.taken > 0;
	return hauli_shed_close(&batch, pkts, got < most);
}

static uint16_t receive_or_shed(
	struct hauli_rxq *r, struct rte_mbuf **pkts, uint64_t now, bool *passed)
{
	uint16_t n = 0, got;

	if (!r->shed->late.is_late) {
		n = receive_got(r, pkts, r->poller->burst, passed, &got);
		if (hauli_shed_is_calm(r, now, got, r->poller->burst))
			return n;
	}
	return receive_late(r, pkts, n, now, passed);
}

static __attribute__((noinline, cold, noreturn)) void abort_for(uint16_t n, uint16_t most)
{
	hauli_misuse(
		"haul_source_fn", "returned %u packets, and was asked for at most %u", n, most);
}

/*
 * Calls the source for each port. Packets that the NIC has not taken go before those of the source,
 * and in the same call of the PMD, which may be a system call: with AF_XDP, testpmd's packets went
 * 19 a call, and 16 when what was left over had a call of its own.
 */
static inline __attribute__((always_inline)) bool send_from_source(
	struct hauli_poller *p, bool receives)
{
	struct rte_mbuf *pkts[HAULI_BURST_MAX];
	struct hauli_rxq *r, *end = p->rxqs + p->nb_ports;
	bool io = false, behind = false, spared = hauli_u32_published_get(&p->spared);
	uint32_t queued;
	uint16_t n, room;

	for (r = p->rxqs; r < end; r++) {
		queued = hauli_txq_count(r->rx.reply);
		room = hauli_likely(queued < p->burst) ? (uint16_t)(p->burst - queued) : 0;
		n = hauli_likely(!spared && !hauli_tx_of(r->rx.reply)->no_source)
			? p->source(&r->rx, pkts, room)
			: 0;
		if (n == 0) {
			behind |= queued > 0;
			if (!receives)
				hauli_counter_add(&r->empty, 1);
			continue;
		}
		if (hauli_unlikely(n > room))
			abort_for(n, room);
		hauli_share_works(p);
		haul_tx_burst(r->rx.reply, pkts, n);
		io = true;
	}
	if (hauli_unlikely(hauli_has_to_send(p)) && (behind || !io))
		hauli_tx_flush(p);
	return io;
}

/* Beside a handler: not inlined, so that cycles without a source stay short. */
static __attribute__((noinline)) bool send_too(struct hauli_poller *p)
{
	return send_from_source(p, true);
}

/*
 * What a poller does. The cycle and the loop around it are written once, and inlined for each form
 * that is a constant: such a poller executes no instruction for what it does not do.
 */
struct form {
	enum { NO_HANDLER, BURSTS, PACKETS } handler;
	bool steals; /* handlers may be stolen, or the carrier may be a thief */
	bool timed; /* stages are recorded */
	bool sheds; /* overload control */
	bool traced; /* the carrier keeps a timeline */
};

static struct form form_of(const struct hauli_poller *p)
{
	const struct hauli_rxq *r = p->rxqs;
	struct form form = {.steals = hauli_glue_steals(p->carrier),
		.timed = r->times != NULL,
		.sheds = r->shed != NULL,
		.traced = hauli_glue_is_traced(p->carrier)};

	if (p->on_burst)
		form.handler = BURSTS;
	else if (r->on_packet)
		form.handler = PACKETS, form.steals = r->home != NULL;
	return form;
}

static inline __attribute__((always_inline)) bool is_full(const struct hauli_rxq *r, bool steals)
{
	return (steals ? hauli_rxq_in_flight(r) : hauli_rxq_in_flight_here(r)) >= r->max_in_flight;
}

/* The first packets of a cycle, for a burst handler. */
static inline __attribute__((always_inline)) void begin_bursts(
	struct hauli_poller *p, bool woken, bool steals)
{
	if (woken)
		hauli_idle_handles(p);
	if (steals)
		hauli_glue_poller_is_busy(p->carrier);
}

static inline __attribute__((always_inline)) bool cycle(
	struct hauli_poller *p, bool woken, const struct form form)
{
	struct rte_mbuf *pkts[HAULI_BURST_MAX];
	struct hauli_rxq *r, **active;
	bool sent = false, io = false, passed = false;
	uint64_t dequeued = 0, now = 0;
	uint16_t n;

	if (form.handler == NO_HANDLER) {
		sent = send_from_source(p, false);
		hauli_counter_add(&p->cycles, 1);
		return sent;
	}
	if (hauli_unlikely(p->source != NULL))
		sent = send_too(p);
	if (hauli_has_to_send(p))
		hauli_tx_flush(p);
	for (active = p->active; (r = *active) != NULL; active++) {
		if (form.sheds)
			now = hauli_timer_ticks();
		if (form.sheds ? !hauli_shed_polls(
					 r, now, form.handler == PACKETS && is_full(r, form.steals))
			       : form.handler == PACKETS &&
					hauli_unlikely(is_full(r, form.steals))) {
			hauli_counter_add(&r->empty, 1);
			hauli_counter_add(&r->held, 1);
			continue;
		}
		n = form.sheds ? receive_or_shed(r, pkts, now, &passed)
			       : receive(r, pkts, p->burst, &passed);
		if (n == 0)
			continue;
		if (form.timed)
			dequeued = hauli_ticks();
		hauli_share_works(p);
		hauli_counter_add(&r->packets, n);
		if (hauli_unlikely(p->count_bytes))
			hauli_counter_add(&r->bytes, hauli_bytes_of(pkts, n));
		if (form.handler == PACKETS) {
			if (form.timed)
				hauli_times_dequeued(r, pkts, n, dequeued);
			if (form.steals || (woken && !io) || !hauli_handler_run(r, pkts, n))
				hauli_handler_start(r, pkts, n, woken && !io);
			if (form.sheds)
				hauli_shed_started(r, now);
		} else {
			if (!io)
				begin_bursts(p, woken, form.steals);
			hauli_pkts_hand(pkts, n, (uintptr_t)p->on_burst);
			if (form.timed)
				hauli_times_burst(r, p->on_burst, pkts, n, dequeued);
			else
				p->on_burst(&r->rx, pkts, n);
		}
		io = true;
	}
	hauli_counter_add(&p->cycles, 1);
	return io || passed || sent;
}

/* Tells the timeline of a cycle with packets. */
static __attribute__((noinline)) void trace_cycle(struct hauli_poller *p, uint64_t began)
{
	uint64_t packets = 0;

	hauli_unseen_begin();
	for (struct hauli_rxq **r = p->active; *r; r++)
		packets += hauli_counter_read(&(*r)->packets);
	hauli_glue_has_polled(p->carrier, began, hauli_timer_ticks(), packets - p->told);
	hauli_unseen_end();
	p->told = packets;
}

static inline __attribute__((always_inline)) bool cycle_traced(
	struct hauli_poller *p, bool woken, const struct form form)
{
	uint64_t began = form.traced ? hauli_glue_trace_now() : 0;
	bool io = cycle(p, woken, form);

	if (form.traced && io)
		trace_cycle(p, began);
	return io;
}

/* A cycle around a wait, of any poller. */
static bool cycle_any(struct hauli_poller *p, bool woken)
{
	return cycle_traced(p, woken, form_of(p));
}

/* io: the cycle had packets. Returns true if it had, or packets came meanwhile. */
static inline __attribute__((always_inline)) bool after_cycle(struct hauli_poller *p, bool io)
{
	if (!io && p->works)
		hauli_share_work_ends(p);
	if (!io)
		return p->waits && hauli_idle(p, cycle_any);
	if (p->waits)
		hauli_idle_ends(p);
	return true;
}

static inline __attribute__((always_inline)) void *poll(
	struct hauli_poller *p, const struct form form)
{
	bool io;

	if (!begin(p))
		return NULL;
	p->runs = true;
	hauli_share_begin(p);
	do {
		io = cycle_traced(p, false, form);
		if (hauli_unlikely(p->works | p->waits))
			io = after_cycle(p, io);
		if (HAULI_SIM && !io && !p->waits)
			hauli_glue_only_spins(p->carrier);
	} while (hauli_glue_go_on(p->carrier, io));
	hauli_glue_poller_ends(p->carrier);
	hauli_share_end(p);
	p->runs = false;
	hauli_counter_add(&p->ended, 1);
	return NULL;
}

static __attribute__((noinline)) void *poll_bursts(struct hauli_poller *p)
{
	return poll(p, (struct form){.handler = BURSTS});
}

static __attribute__((noinline)) void *poll_bursts_stealing(struct hauli_poller *p)
{
	return poll(p, (struct form){.handler = BURSTS, .steals = true});
}

static __attribute__((noinline)) void *poll_packets(struct hauli_poller *p)
{
	return poll(p, (struct form){.handler = PACKETS});
}

static __attribute__((noinline)) void *poll_packets_stealing(struct hauli_poller *p)
{
	return poll(p, (struct form){.handler = PACKETS, .steals = true});
}

static __attribute__((noinline)) void *poll_source(struct hauli_poller *p)
{
	return poll(p, (struct form){.handler = NO_HANDLER});
}

/* The form is no constant here: what these pollers do costs more than testing it. */
static __attribute__((noinline)) void *poll_observed(struct hauli_poller *p)
{
	poll(p, form_of(p));
	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end && r->shed; r++)
		hauli_shed_end(r);
	return NULL;
}

void *hauli_poll(void *arg)
{
	struct hauli_poller *p = arg;
	const struct form form = form_of(p);

	if (form.timed || form.traced || form.sheds)
		return poll_observed(p);
	if (form.handler == NO_HANDLER)
		return poll_source(p);
	if (form.handler == BURSTS)
		return form.steals ? poll_bursts_stealing(p) : poll_bursts(p);
	return form.steals ? poll_packets_stealing(p) : poll_packets(p);
}
