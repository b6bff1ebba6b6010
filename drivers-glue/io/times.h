/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stages of a packet's time: one histogram for each stage, carrier and port, if haul_io_opts.times
 * asks for them. A carrier's histograms have one writer, its thread: a stolen handler adds to those
 * of the carrier on which it runs.
 */
#ifndef HAULI_IO_TIMES_H
#define HAULI_IO_TIMES_H

#include "base/clock.h"
#include "io/state.h"
#include "net/stamp.h"

struct hauli_times {
	struct haul_hist stages[HAUL_STAGES];
	uint64_t offered[HAULI_OFFER_MAX]; /* stamps of the packets offered to the PMD */

	/* Constant. */
	uint64_t ns_per_tick; /* 32 fractional bits */
	bool has_arrival; /* the PMD stamps packets by the kernel's clock */
	struct hauli_times *const *of_carriers; /* of the same port, by carrier */
};

/* For all carriers and ports, if the options ask for it. False: no memory. Call it before the first
 * poller runs; free after the last one. */
bool hauli_times_create(struct haul_io *io);
/* The pollers are other ones. */
void hauli_times_connect(struct haul_io *io);
void hauli_times_free(struct haul_io *io);

static inline uint64_t hauli_times_since(uint64_t then, uint64_t now)
{
	return now > then ? now - then : 0; /* CPUs' counters may differ by a few ticks */
}

static inline void hauli_times_add(
	struct hauli_times *t, enum haul_stage stage, uint64_t ticks, uint64_t n)
{
	uint64_t ns = (uint64_t)(((unsigned __int128)ticks * t->ns_per_tick) >> 32);

	haul_hist_add(&t->stages[stage], ns, n);
}

/* Calls on_burst, and records the stages of its packets. */
void hauli_times_burst(struct hauli_rxq *r, haul_burst_fn *on_burst, struct rte_mbuf **pkts,
	uint16_t n, uint64_t dequeued);

/* Stamps packets with the time when they were dequeued, for hauli_times_packet(). */
void hauli_times_dequeued(
	struct hauli_rxq *r, struct rte_mbuf **pkts, uint16_t n, uint64_t dequeued);

/* The histograms of the carrier that runs the caller, a handler of r's. */
static inline struct hauli_times *hauli_times_here(const struct hauli_rxq *r)
{
	if (hauli_rxq_is_remote(r))
		return r->times->of_carriers[haul_carrier_id(haul_carrier_self())];
	return r->times;
}

/* Calls r's on_packet, and records the stages of the packet. anywhere, a constant: the handler may
 * be stolen. */
static inline __attribute__((always_inline)) void hauli_times_packet(
	struct hauli_rxq *r, struct rte_mbuf *pkt, bool anywhere)
{
	uint64_t dequeued = *hauli_pkt_stamp(pkt);
	uint64_t began = hauli_ticks();

	hauli_times_add(anywhere ? hauli_times_here(r) : r->times, HAUL_STAGE_START,
		hauli_times_since(dequeued, began), 1);
	r->on_packet(&r->rx, pkt);
	hauli_times_add(anywhere ? hauli_times_here(r) : r->times, HAUL_STAGE_HANDLER,
		hauli_times_since(began, hauli_ticks()), 1);
}

/* Before a call that offers at most HAULI_OFFER_MAX stamped packets to the PMD, and after it: the
 * PMD has taken the first n. */
void hauli_times_offer(struct hauli_times *t, struct rte_mbuf **pkts, uint16_t n);
void hauli_times_taken(struct hauli_times *t, uint16_t n);

#endif
