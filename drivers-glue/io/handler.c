/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/handler.h"

#include <errno.h>

#include "io/idle.h"
#include "io/ledger.h"
#include "io/packet.h"
#include "io/shed.h"
#include "io/times.h"
#include "net/given.h"

static inline bool is_observed(const struct hauli_rxq *r)
{
	return r->times || r->shed;
}

static inline __attribute__((always_inline)) void call(
	struct hauli_rxq *r, struct rte_mbuf *pkt, bool anywhere, bool observed)
{
	if (anywhere)
		hauli_glue_handler_begins(r->home);
	if (observed && r->shed)
		hauli_shed_begins(r, anywhere);
	hauli_pkts_hand(&pkt, 1, (uintptr_t)r->on_packet);
	if (observed && r->times)
		hauli_times_packet(r, pkt, anywhere);
	else
		r->on_packet(&r->rx, pkt);
}

static inline void has_run(const struct hauli_prototype *prototype, bool remote)
{
	struct hauli_rxq *r = hauli_rxq_of_prototype(prototype);

	if (hauli_unlikely(remote))
		hauli_u64_shared_add(&r->remote_ended, 1);
	else
		hauli_counter_add(&r->ended, 1);
}

/* Handlers that begin at once. */
#define AT_ONCE(name, observed)                                                                  \
	static inline void run_packet_##name(const struct hauli_prototype *prototype, void *pkt) \
	{                                                                                        \
		call(hauli_rxq_of_prototype(prototype), pkt, false, observed);                   \
	}                                                                                        \
	static HAULI_AT_ONCE struct hauli_record *name(                                          \
		struct haul_carrier *c, struct haul_coro *me)                                    \
	{                                                                                        \
		return hauli_record_at_once(c, me, run_packet_##name, has_run);                  \
	}
AT_ONCE(at_once, false)
AT_ONCE(at_once_observed, true)

/*
 * Entry functions of stacks: each runs the handlers of records one after another, so what it has
 * looked up for one packet stays in registers for the next. anywhere: the handlers are stealable,
 * and may end on another carrier; observed: their stages are recorded, or overload control counts
 * them. One function for each combination, so that none executes instructions for what it does not
 * do.
 */
#define ENTRY(where, anywhere, observed, mark)                                                     \
	static inline void run_##where(                                                            \
		const struct hauli_prototype *prototype, struct hauli_record *record)              \
	{                                                                                          \
		call(hauli_rxq_of_prototype(prototype), hauli_pkt_of_record(record), anywhere,     \
			observed);                                                                 \
	}                                                                                          \
	static mark void begin_##where(void *pass)                                                 \
	{                                                                                          \
		hauli_record_body(pass,                                                            \
			(struct hauli_body){.run = run_##where,                                    \
				.at_once =                                                         \
					anywhere ? NULL : (observed ? at_once_observed : at_once), \
				.ended = has_run,                                                  \
				.steals = anywhere});                                              \
	}
ENTRY(here, false, false, )
ENTRY(here_observed, false, true, )
ENTRY(anywhere, true, false, HAULI_CALLS_PROGRAM)
ENTRY(anywhere_observed, true, true, HAULI_CALLS_PROGRAM)

/* The same for one handler, whose coroutine did not begin as a record, or was stolen before it
 * began; arg is the packet's record. */
static HAULI_CALLS_PROGRAM void *handle(void *arg)
{
	struct hauli_rxq *r = hauli_rxq_of_record(arg);

	call(r, hauli_pkt_of_record(arg), r->home != NULL, is_observed(r));
	has_run(&r->prototype, hauli_rxq_is_remote(r));
	return NULL;
}

/* The first handler after a wait. */
static void *handle_first(void *arg)
{
	struct hauli_rxq *r = hauli_rxq_of_record(arg);

	if (!hauli_rxq_is_remote(r))
		hauli_idle_handles(r->poller);
	return handle(arg);
}

bool hauli_is_handler(haul_fn *fn)
{
	return fn == handle || fn == handle_first;
}

uint8_t hauli_handler_order(const void *record)
{
	const struct rte_mbuf *pkt = hauli_pkt_of_record((struct hauli_record *)record);

	return (uint8_t)(1 + haul_net_flow(pkt) % HAUL_ORDER_KEYS);
}

/* For a handler that gets no stack. */
static void drop(struct hauli_record *record)
{
	struct hauli_rxq *r = hauli_rxq_of_record(record);
	struct rte_mbuf *pkt = hauli_pkt_of_record(record);

	hauli_counter_add(&r->started, UINT64_MAX); /* it was counted */
	if (r->shed) {
		hauli_counter_add(&r->shed->undone, 1);
		hauli_shed_begins(r, false);
	}
	hauli_drop_unhandled(r, &pkt, 1, HAUL_DROP_NO_COROUTINE);
}

void hauli_handler_init(struct hauli_rxq *r)
{
	static void (*const entries[2][2])(void *pass) = {
		{begin_here, begin_here_observed}, {begin_anywhere, begin_anywhere_observed}};
	const struct haul_coro_opts opts = r->prototype.opts;

	r->spawns = hauli_glue_prototype_init(
			    &r->prototype, r->poller->carrier, handle, drop, &opts) != 0;
	hauli_glue_set_entry(&r->prototype, entries[r->home != NULL][is_observed(r)]);
}

/* Spawns a coroutine for each packet. The first one runs body. */
static __attribute__((noinline)) void spawn(
	struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n, haul_fn *body)
{
	uint16_t i;
	int err;

	for (i = 0; i < n; i++, body = handle) {
		hauli_pkt_record(pkts[i])->prototype = &r->prototype;
		err = hauli_glue_spawn(body, hauli_pkt_record(pkts[i]), &r->prototype.opts);
		if (hauli_unlikely(err)) {
			hauli_drop_unhandled(r, pkts + i, n - i,
				err == -ECANCELED ? HAUL_DROP_STOPPING : HAUL_DROP_NO_COROUTINE);
			break;
		}
	}
	hauli_counter_add(&r->started, i);
}

void hauli_handler_start(struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n, bool woken)
{
	if (hauli_unlikely(woken)) {
		spawn(r, pkts, 1, handle_first);
		pkts++;
		n--;
	}
	if (hauli_unlikely(r->spawns))
		spawn(r, pkts, n, handle);
	else if (hauli_likely(hauli_glue_spawn_records(
			 r->poller->carrier, &r->prototype, (void *const *)pkts, hauli_pkt_at, n)))
		hauli_counter_add(&r->started, n);
	else
		hauli_drop_unhandled(r, pkts, n, HAUL_DROP_STOPPING);
}
