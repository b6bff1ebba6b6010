/* SPDX-License-Identifier: BSD-3-Clause */
/* The pollers: receive from each port's queue, pass packets to handlers, send queued packets. */
#include "io/poll.h"

#include <errno.h>

#include "base/assert.h"
#include "io/idle.h"
#include "io/ledger.h"
#include "io/packet.h"
#include "io/share.h"
#include "io/spread.h"
#include "io/times.h"
#include "io/tx.h"
#include "net/given.h"

static inline __attribute__((always_inline)) void call_handler(
	struct hauli_rxq *r, struct rte_mbuf *pkt, bool anywhere, bool timed)
{
	if (anywhere)
		hauli_glue_handler_begins(r->home);
	hauli_pkts_hand(&pkt, 1, (uintptr_t)r->on_packet);
	if (timed)
		hauli_times_packet(r, pkt, anywhere);
	else
		r->on_packet(&r->rx, pkt);
}

/*
 * The body of a handler's coroutine; arg is the packet's record. anywhere: it is stealable, and may
 * end on another carrier; timed: its stages are recorded. Each has instances of its own, so that
 * the others execute no instruction for it.
 */
static inline __attribute__((always_inline)) void *handle(void *arg, bool anywhere, bool timed)
{
	struct hauli_rxq *r = hauli_rxq_of_record(arg);

	call_handler(r, hauli_pkt_of_record(arg), anywhere, timed);
	if (anywhere && hauli_rxq_is_remote(r))
		hauli_u64_shared_add(&r->remote_ended, 1);
	else
		hauli_counter_add(&r->ended, 1);
	return NULL;
}

static void *handle_here(void *arg)
{
	return handle(arg, false, false);
}

static void *handle_anywhere(void *arg)
{
	return handle(arg, true, false);
}

static void *handle_here_timed(void *arg)
{
	return handle(arg, false, true);
}

static void *handle_anywhere_timed(void *arg)
{
	return handle(arg, true, true);
}

static haul_fn *body_of(const struct hauli_rxq *r)
{
	static haul_fn *const bodies[2][2] = {
		{handle_here, handle_here_timed}, {handle_anywhere, handle_anywhere_timed}};

	return bodies[r->home != NULL][r->times != NULL];
}

/*
 * The same for records: entries of stacks, which run one handler after another. What the body has
 * looked up for one packet stays in registers for the next.
 */
static inline __attribute__((always_inline)) void run(
	const struct hauli_start *start, struct hauli_record *record, bool anywhere, bool timed)
{
	call_handler(hauli_rxq_of_start(start), hauli_pkt_of_record(record), anywhere, timed);
}

static inline void run_here(const struct hauli_start *start, struct hauli_record *record)
{
	run(start, record, false, false);
}

static inline void run_anywhere(const struct hauli_start *start, struct hauli_record *record)
{
	run(start, record, true, false);
}

static inline void run_here_timed(const struct hauli_start *start, struct hauli_record *record)
{
	run(start, record, false, true);
}

static inline void run_anywhere_timed(const struct hauli_start *start, struct hauli_record *record)
{
	run(start, record, true, true);
}

static inline void has_run(const struct hauli_start *start, bool remote)
{
	struct hauli_rxq *r = hauli_rxq_of_start(start);

	if (hauli_unlikely(remote))
		hauli_u64_shared_add(&r->remote_ended, 1);
	else
		hauli_counter_add(&r->ended, 1);
}

static void begin_here(void *pass)
{
	hauli_record_body(pass, (struct hauli_body){run_here, has_run, false});
}

static void begin_anywhere(void *pass)
{
	hauli_record_body(pass, (struct hauli_body){run_anywhere, has_run, true});
}

static void begin_here_timed(void *pass)
{
	hauli_record_body(pass, (struct hauli_body){run_here_timed, has_run, false});
}

static void begin_anywhere_timed(void *pass)
{
	hauli_record_body(pass, (struct hauli_body){run_anywhere_timed, has_run, true});
}

static void (*entry_of(const struct hauli_rxq *r))(void *pass)
{
	static void (*const entries[2][2])(void *pass) = {
		{begin_here, begin_here_timed}, {begin_anywhere, begin_anywhere_timed}};

	return entries[r->home != NULL][r->times != NULL];
}

/* The body of the first handler after a wait. */
static void *handle_first(void *arg)
{
	struct hauli_rxq *r = hauli_rxq_of_record(arg);

	if (!hauli_rxq_is_remote(r))
		hauli_idle_handles(r->poller);
	return body_of(r)(arg);
}

bool hauli_is_handler(haul_fn *fn)
{
	return fn == handle_here || fn == handle_anywhere || fn == handle_here_timed ||
		fn == handle_anywhere_timed || fn == handle_first;
}

static uint8_t order_of(const void *record)
{
	const struct rte_mbuf *pkt = hauli_pkt_of_record((struct hauli_record *)record);

	return (uint8_t)(1 + haul_net_flow(pkt) % HAUL_ORDER_KEYS);
}

/* For a handler that gets no stack. */
static void drop_record(struct hauli_record *record)
{
	struct hauli_rxq *r = hauli_rxq_of_record(record);
	struct rte_mbuf *pkt = hauli_pkt_of_record(record);

	hauli_counter_add(&r->started, UINT64_MAX); /* it was counted */
	hauli_drop_unhandled(r, &pkt, 1, HAUL_DROP_NO_COROUTINE);
}

/* Touches no port before all carriers have their poller. False: cancelled, because a carrier has
 * none. */
static bool begin(struct hauli_poller *p)
{
	struct hauli_rxq *r;

	while (hauli_u32_published_get(&p->may_begin) == 0)
		if (!hauli_glue_go_on(p->carrier, hauli_glue_is_virtual(p->carrier)))
			return false;
	hauli_glue_poller_begins(p->carrier, &p->cycles, order_of);
	for (r = p->rxqs; r < p->rxqs_end; r++) {
		const struct haul_coro_opts opts = r->start.opts;

		r->spawns = hauli_glue_start_init(
				    &r->start, p->carrier, body_of(r), drop_record, &opts) != 0;
		hauli_glue_start_at(&r->start, entry_of(r));
		if (!r->target)
			haul_port_queue_adopt(r->port, r->rx.queue);
	}
	return true;
}

/* io: the cycle had packets. Returns true if it had, or packets came meanwhile. */
static inline __attribute__((always_inline)) bool after_cycle(
	struct hauli_poller *p, hauli_cycle_fn *cycle, bool io)
{
	if (!io && p->works)
		hauli_share_work_ends(p);
	if (!io)
		return p->waits && hauli_idle(p, cycle);
	if (p->waits)
		hauli_idle_ends(p);
	return true;
}

/* A poller whose rounds are cycle(). */
static inline __attribute__((always_inline)) void *poll(
	struct hauli_poller *p, hauli_cycle_fn *cycle)
{
	bool io;

	if (!begin(p))
		return NULL;
	hauli_share_begin(p);
	do {
		io = cycle(p, false);
		if (hauli_unlikely(p->works | p->waits))
			io = after_cycle(p, cycle, io);
	} while (hauli_glue_go_on(p->carrier, io));
	hauli_glue_poller_ends(p->carrier);
	hauli_share_end(p);
	hauli_counter_add(&p->ended, 1);
	return NULL;
}

/* Receives from a queue whose carrier is a proxy: returns the packets that the carrier keeps.
 * *passed: targets have got packets. */
static __attribute__((noinline)) uint16_t receive_for_all(
	struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t most, bool *passed)
{
	bool has_room = hauli_spread_has_room(r);
	uint16_t n = has_room ? hauli_burst_rx(&r->burst, pkts, most) : 0;
	uint16_t own;

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

static inline __attribute__((always_inline)) bool cycle_burst_handler(
	struct hauli_poller *p, bool woken, bool steals, bool timed)
{
	struct rte_mbuf *pkts[HAULI_BURST_MAX];
	struct hauli_rxq *r;
	bool io = false, passed = false;
	uint64_t dequeued = 0;
	uint16_t n;

	if (hauli_unlikely(hauli_has_to_send(p)))
		hauli_tx_flush(p);
	for (r = p->rxqs; r < p->rxqs_end; r++) {
		n = receive(r, pkts, p->burst, &passed);
		if (n == 0)
			continue;
		if (timed)
			dequeued = hauli_ticks();
		hauli_share_works(p);
		hauli_counter_add(&r->packets, n);
		if (hauli_unlikely(p->count_bytes))
			hauli_counter_add(&r->bytes, hauli_bytes_of(pkts, n));
		if (woken && !io)
			hauli_idle_handles(p);
		if (steals && !io)
			hauli_glue_poller_is_busy(p->carrier);
		hauli_pkts_hand(pkts, n, (uintptr_t)p->on_burst);
		if (timed)
			hauli_times_burst(r, p->on_burst, pkts, n, dequeued);
		else
			p->on_burst(&r->rx, pkts, n);
		io = true;
	}
	hauli_counter_add(&p->cycles, 1);
	return io || passed;
}

static inline __attribute__((always_inline)) bool cycle_bursts(struct hauli_poller *p, bool woken)
{
	return cycle_burst_handler(p, woken, false, false);
}

static inline __attribute__((always_inline)) bool cycle_bursts_stealing(
	struct hauli_poller *p, bool woken)
{
	return cycle_burst_handler(p, woken, true, false);
}

static inline __attribute__((always_inline)) bool cycle_bursts_timed(
	struct hauli_poller *p, bool woken)
{
	return cycle_burst_handler(p, woken, hauli_glue_steals(p->carrier), true);
}

static void *poll_bursts_stealing(void *arg)
{
	return poll(arg, cycle_bursts_stealing);
}

static void *poll_bursts_timed(void *arg)
{
	return poll(arg, cycle_bursts_timed);
}

/* Instances: carriers that do not steal execute no instruction for stealing, and those that do not
 * record stages none for that. */
void *hauli_poll_bursts(void *arg)
{
	struct hauli_poller *p = arg;

	if (p->rxqs->times)
		return poll_bursts_timed(p);
	return hauli_glue_steals(p->carrier) ? poll_bursts_stealing(p) : poll(p, cycle_bursts);
}

/* Starts a handler for each packet, in order, each by a spawn. The first one runs body. */
static __attribute__((noinline)) void spawn_handlers(struct hauli_poller *p, struct hauli_rxq *r,
	struct rte_mbuf **pkts, uint16_t n, haul_fn *body)
{
	uint16_t i;
	int err;

	for (i = 0; i < n; i++, body = body_of(r)) {
		hauli_pkt_record(pkts[i])->start = &r->start;
		err = hauli_glue_spawn(body, hauli_pkt_record(pkts[i]), &r->start.opts);
		if (hauli_unlikely(err)) {
			hauli_drop_unhandled(r, pkts + i, n - i,
				err == -ECANCELED ? HAUL_DROP_STOPPING : HAUL_DROP_NO_COROUTINE);
			break;
		}
	}
	hauli_counter_add(&r->started, i);
}

/* Starts a handler for each packet, in order. woken: the first packets after a wait. */
static __attribute__((noinline)) void start_handlers(
	struct hauli_poller *p, struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n, bool woken)
{
	if (hauli_unlikely(woken)) {
		spawn_handlers(p, r, pkts, 1, handle_first);
		pkts++;
		n--;
	}
	if (hauli_unlikely(r->spawns))
		spawn_handlers(p, r, pkts, n, body_of(r));
	else if (hauli_likely(hauli_glue_start(
			 p->carrier, &r->start, (void *const *)pkts, hauli_pkt_at, n)))
		hauli_counter_add(&r->started, n);
	else
		hauli_drop_unhandled(r, pkts, n, HAUL_DROP_STOPPING);
}

static inline __attribute__((always_inline)) bool cycle_handlers(
	struct hauli_poller *p, bool woken, bool steals, bool timed)
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
			hauli_counter_add(&r->held, 1);
			continue;
		}
		n = receive(r, pkts, p->burst, &passed);
		if (n == 0)
			continue;
		hauli_share_works(p);
		hauli_counter_add(&r->packets, n);
		hauli_counter_add(&r->bytes, hauli_bytes_of(pkts, n));
		if (timed)
			hauli_times_dequeued(r, pkts, n);
		start_handlers(p, r, pkts, n, woken && !io);
		io = true;
	}
	hauli_counter_add(&p->cycles, 1);
	return io || passed;
}

static inline __attribute__((always_inline)) bool cycle_packets(struct hauli_poller *p, bool woken)
{
	return cycle_handlers(p, woken, false, false);
}

static inline __attribute__((always_inline)) bool cycle_stealable(
	struct hauli_poller *p, bool woken)
{
	return cycle_handlers(p, woken, true, false);
}

static inline __attribute__((always_inline)) bool cycle_packets_timed(
	struct hauli_poller *p, bool woken)
{
	return cycle_handlers(p, woken, p->rxqs->home != NULL, true);
}

static void *poll_stealable(void *arg)
{
	return poll(arg, cycle_stealable);
}

static void *poll_packets_timed(void *arg)
{
	return poll(arg, cycle_packets_timed);
}

/* Instances, as above, for handlers that are stealable or timed. */
void *hauli_poll_packets(void *arg)
{
	struct hauli_poller *p = arg;

	if (p->rxqs->times)
		return poll_packets_timed(p);
	return p->rxqs->home ? poll_stealable(p) : poll(p, cycle_packets);
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
	bool io = false, behind = false;
	uint32_t queued;
	uint16_t n, room;

	for (r = p->rxqs; r < end; r++) {
		queued = hauli_txq_count(r->rx.reply);
		room = hauli_likely(queued < p->burst) ? (uint16_t)(p->burst - queued) : 0;
		n = p->source(&r->rx, pkts, room);
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
	if (p->rxqs->times && p->on_burst)
		return cycle_bursts_timed;
	if (p->rxqs->times && p->rxqs->on_packet)
		return cycle_packets_timed;
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
