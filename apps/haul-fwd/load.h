/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The load on a queue: packets in intervals, with sums of squares for shorter windows, which tell
 * bursts from even arrivals; lengths; flows. Its size is fixed, however long it counts.
 */
#ifndef FWD_LOAD_H
#define FWD_LOAD_H

#include <rte_mbuf.h>

#include <haul-app/json.h>

#define LOAD_SCALES 4 /* window lengths, each ten times the one before */
#define LOAD_INTERVALS 4096
#define LOAD_SIZES 2048 /* longer frames count as 2047 bytes */
#define LOAD_FLOW_BITS 65536

/* Written by the thread that polls the queue. Times are in ticks. */
struct load {
	_Alignas(64) uint64_t ends; /* of the present window */
	uint64_t packets; /* in it */
	uint64_t window; /* its number */
	uint64_t start, window_ticks;
	uint64_t at[LOAD_SCALES]; /* the present window of each length, with its packets */
	uint64_t in[LOAD_SCALES];
	uint64_t interval_windows;
	uint64_t counts[LOAD_INTERVALS];
	uint64_t squares[LOAD_SCALES][LOAD_INTERVALS]; /* sums of the squares of windows' counts */
	uint64_t sizes[LOAD_SIZES];
	uint64_t flows[LOAD_FLOW_BITS / 64]; /* bits of flows that were seen */
};

/* The time is start. Loads that are added up need the same start. */
void load_init(struct load *l, uint64_t start, uint64_t tsc_hz);

/* Counts packets that are received now; never earlier than those before. */
void load_count(struct load *l, struct rte_mbuf *const *pkts, uint16_t n, uint64_t now);

/* Adds a load of another queue. Both must not be used for load_count() any more. */
void load_add(struct load *to, struct load *from);

/* Adds what haul-compare --load reads. Counting ends. */
void load_json(struct load *l, uint64_t tsc_hz, struct haul_app_json *to);

#endif
