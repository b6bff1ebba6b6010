/* SPDX-License-Identifier: BSD-3-Clause */
/* The pollers: receive from each port's queue, pass packets to handlers, send queued packets. */
#include "io/poll.h"

#include <errno.h>

#include "base/assert.h"
#include "io/idle.h"
#include "io/ledger.h"
#include "io/packet.h"
#include "io/spread.h"
#include "io/tx.h"
#include "net/given.h"

/* The body of a handler's coroutine that is not stealable. */
static void *handle_here(void *arg)
{
	struct hauli_rxq *r = *hauli_pkt_rx(arg);

	r->on_packet(&r->rx, arg);
	hauli_counter_add(&r->ended, 1);
	return NULL;
}

/* The body of a stealable handler: it may end on another carrier. */
static void *handle_anywhere(void *arg)
{
	struct hauli_rxq *r = *hauli_pkt_rx(arg);

	hauli_glue_handler_begins(r->home);
	r->on_packet(&r->rx, arg);
	if (hauli_rxq_is_remote(r))
		hauli_u64_shared_add(&r->remote_ended, 1);
	else
		hauli_counter_add(&r->ended, 1);
	return NULL;
}

/* The body of the first handler after a wait. */
static void *handle_first(void *arg)
{
	struct hauli_rxq *r = *hauli_pkt_rx(arg);

	if (!hauli_rxq_is_remote(r))
		hauli_idle_handles(r->poller);
	return r->home ? handle_anywhere(arg) : handle_here(arg);
}

bool hauli_is_handler(haul_fn *fn)
{
	return fn == handle_here || fn == handle_anywhere || fn == handle_first;
}

static uint8_t order_of(const void *pkt)
{
	return (uint8_t)(1 + haul_net_flow(pkt) % HAUL_ORDER_KEYS);
}

/* Touches no port before all carriers have their poller. False: cancelled, because a carrier has
 * none. */
static bool begin(struct hauli_poller *p)
{
	struct hauli_rxq *r;

	while (hauli_u32_published_get(&p->may_begin) == 0)
		if (!haul_maybe_yield(false))
			return false;
	hauli_glue_poller_begins(p->carrier, order_of);
	for (r = p->rxqs; r < p->rxqs_end; r++)
		if (!r->target)
			haul_port_queue_adopt(r->port, haul_carrier_id(p->carrier));
	return true;
}

/* A poller whose rounds are cycle(). */
static inline __attribute__((always_inline)) void *poll(
	struct hauli_poller *p, hauli_cycle_fn *cycle)
{
	bool io;

	if (!begin(p))
		return NULL;
	do {
		io = cycle(p, false);
		if (!io && hauli_unlikely(p->waits))
			io = hauli_idle(p, cycle);
	} while (haul_maybe_yield(io));
	hauli_counter_add(&p->ended, 1);
	return NULL;
}

/* Receives from a queue whose carrier is a proxy: returns the packets that the carrier keeps.
 * *passed: targets have got packets. */
static __attribute__((noinline)) uint16_t receive_for_all(
	struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t most, bool *passed)
{
	uint16_t n = hauli_spread_has_room(r) ? hauli_burst_rx(&r->burst, pkts, most) : 0;
	uint16_t own;

	hauli_pkts_take(pkts, n);
	own = hauli_spread(r, pkts, n);
	hauli_counter_add(&r->empty, n == 0);
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

static inline __attribute__((always_inline)) bool cycle_burst_handler(
	struct hauli_poller *p, bool woken, bool steals)
{
	struct rte_mbuf *pkts[HAULI_BURST_MAX];
	struct hauli_rxq *r;
	bool io = false, passed = false;
	uint16_t n;

	if (hauli_unlikely(hauli_has_to_send(p)))
		hauli_tx_flush(p);
	for (r = p->rxqs; r < p->rxqs_end; r++) {
		n = receive(r, pkts, p->burst, &passed);
		if (n == 0)
			continue;
		hauli_counter_add(&r->packets, n);
		if (hauli_unlikely(p->count_bytes))
			hauli_counter_add(&r->bytes, hauli_bytes_of(pkts, n));
		if (woken && !io)
			hauli_idle_handles(p);
		if (steals && !io)
			hauli_glue_poller_is_busy(p->carrier);
		p->on_burst(&r->rx, pkts, n);
		io = true;
	}
	hauli_counter_add(&p->cycles, 1);
	return io || passed;
}

static inline __attribute__((always_inline)) bool cycle_bursts(struct hauli_poller *p, bool woken)
{
	return cycle_burst_handler(p, woken, false);
}

static inline __attribute__((always_inline)) bool cycle_bursts_stealing(
	struct hauli_poller *p, bool woken)
{
	return cycle_burst_handler(p, woken, true);
}

static void *poll_bursts_stealing(void *arg)
{
	return poll(arg, cycle_bursts_stealing);
}

/* Two instances: carriers that do not steal execute no instruction for stealing. */
void *hauli_poll_bursts(void *arg)
{
	struct hauli_poller *p = arg;

	return hauli_glue_steals(p->carrier) ? poll_bursts_stealing(p) : poll(p, cycle_bursts);
}

/* Starts a handler for each packet, in order. */
static inline __attribute__((always_inline)) void start_each(struct hauli_poller *p,
	struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n, bool woken, bool steals)
{
	haul_fn *usual = steals ? handle_anywhere : handle_here;
	haul_fn *body = woken ? handle_first : usual;
	uint16_t i;
	int err;

	for (i = 0; i < n; i++) {
		*hauli_pkt_rx(pkts[i]) = r;
		err = hauli_glue_spawn(body, pkts[i], p->coro);
		if (hauli_unlikely(err)) {
			hauli_drop_unhandled(r, pkts + i, n - i,
				err == -ECANCELED ? HAUL_DROP_STOPPING : HAUL_DROP_NO_COROUTINE);
			break;
		}
		body = usual;
	}
	hauli_counter_add(&r->started, i);
}

static __attribute__((noinline)) void start_handlers(
	struct hauli_poller *p, struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n, bool woken)
{
	start_each(p, r, pkts, n, woken, false);
}

static __attribute__((noinline)) void start_stealable(
	struct hauli_poller *p, struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n, bool woken)
{
	start_each(p, r, pkts, n, woken, true);
}

static inline __attribute__((always_inline)) bool cycle_handlers(
	struct hauli_poller *p, bool woken, bool steals)
{
	struct rte_mbuf *pkts[HAULI_BURST_MAX];
	struct hauli_rxq *r;
	bool io = false, passed = false;
	uint16_t n;

	if (hauli_has_to_send(p))
		hauli_tx_flush(p);
	for (r = p->rxqs; r < p->rxqs_end; r++) {
		if (hauli_unlikely((steals ? hauli_rxq_in_flight(r)
					   : hauli_rxq_in_flight_here(r)) >= r->max_in_flight)) {
			hauli_counter_add(&r->empty, 1);
			continue;
		}
		n = receive(r, pkts, p->burst, &passed);
		if (n == 0)
			continue;
		hauli_counter_add(&r->packets, n);
		hauli_counter_add(&r->bytes, hauli_bytes_of(pkts, n));
		if (steals)
			start_stealable(p, r, pkts, n, woken && !io);
		else
			start_handlers(p, r, pkts, n, woken && !io);
		io = true;
	}
	hauli_counter_add(&p->cycles, 1);
	return io || passed;
}

static inline __attribute__((always_inline)) bool cycle_packets(struct hauli_poller *p, bool woken)
{
	return cycle_handlers(p, woken, false);
}

static inline __attribute__((always_inline)) bool cycle_stealable(
	struct hauli_poller *p, bool woken)
{
	return cycle_handlers(p, woken, true);
}

static void *poll_stealable(void *arg)
{
	return poll(arg, cycle_stealable);
}

/* Two instances: pollers whose handlers are not stealable execute no instruction for stealing. */
void *hauli_poll_packets(void *arg)
{
	struct hauli_poller *p = arg;

	return p->rxqs->home ? poll_stealable(p) : poll(p, cycle_packets);
}

static __attribute__((noinline, cold, noreturn)) void abort_for(uint16_t n, uint16_t most)
{
	hauli_misuse(
		"haul_source_fn", "returned %u packets, and was asked for at most %u", n, most);
}

/* Calls the source for each port. Packets that the NIC has not taken go first: the NIC sets the
 * pace. */
static inline __attribute__((always_inline)) bool send_from_source(
	struct hauli_poller *p, bool receives)
{
	struct rte_mbuf *pkts[HAULI_BURST_MAX];
	struct hauli_rxq *r;
	bool io = false;
	uint16_t n;

	if (hauli_unlikely(hauli_has_to_send(p)))
		hauli_tx_flush(p);
	for (r = p->rxqs; r < p->rxqs_end; r++) {
		n = 0;
		if (hauli_likely(hauli_txq_count(r->rx.reply) == 0))
			n = p->source(&r->rx, pkts, p->burst);
		if (n == 0) {
			if (!receives)
				hauli_counter_add(&r->empty, 1);
			continue;
		}
		if (hauli_unlikely(n > p->burst))
			abort_for(n, p->burst);
		haul_tx_burst(r->rx.reply, pkts, n);
		io = true;
	}
	return io;
}

static inline __attribute__((always_inline)) bool cycle_source(struct hauli_poller *p, bool woken)
{
	bool io = send_from_source(p, false);

	hauli_counter_add(&p->cycles, 1);
	return io;
}

/* One indirect call instead of an instance for each cycle that receives. */
static inline __attribute__((always_inline)) bool cycle_both(struct hauli_poller *p, bool woken)
{
	bool sent = send_from_source(p, true);

	return p->receive(p, woken) || sent;
}

static hauli_cycle_fn *receiving_cycle(const struct hauli_poller *p)
{
	if (p->on_burst)
		return hauli_glue_steals(p->carrier) ? cycle_bursts_stealing : cycle_bursts;
	if (p->rxqs->on_packet)
		return p->rxqs->home ? cycle_stealable : cycle_packets;
	return NULL;
}

static void *poll_both(void *arg)
{
	return poll(arg, cycle_both);
}

void *hauli_poll_source(void *arg)
{
	struct hauli_poller *p = arg;

	p->receive = receiving_cycle(p);
	return p->receive ? poll_both(p) : poll(p, cycle_source);
}
