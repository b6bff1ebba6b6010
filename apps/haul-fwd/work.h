/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The work of a packet, which stands for an application: computing for a time drawn from a
 * distribution, and accesses to memory. It calls no function of haul or DPDK, so that programs to
 * compare with do the same work (haul-compare).
 */
#ifndef FWD_WORK_H
#define FWD_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "arrivals.h"
#include "conc/word.h"
#include "service_dist.h"

/* Constant while packets are served. */
struct fwd_work_plan {
	struct fwd_service_dist dist;
	bool computes; /* there is a time: dist is set */
	uint64_t lines; /* of memory, for each packet */
	uint64_t table_lines;
	double ticks_per_ns;
	uint64_t late_max; /* ticks */
	struct hauli_u8_owned ends; /* 1: the program ends, and leaves long work undone */
};

/* The state of a thread, which alone writes it. */
struct fwd_work {
	_Alignas(64) uint64_t late; /* ticks by which the last deadline was missed */
	uint8_t *table;
	struct arrivals_random random;
};

/* Sets *plan: service as --service takes it, or NULL; memory in bytes, for each packet. Returns
 * NULL, or what is wrong with service. */
const char *fwd_work_plan(
	struct fwd_work_plan *plan, const char *service, uint64_t memory, uint64_t table_mb);

/* Before the first packet, once the frequency of the TSC is known. */
void fwd_work_set_clock(struct fwd_work_plan *plan, uint64_t tsc_hz);

static inline bool fwd_work_is_any(const struct fwd_work_plan *plan)
{
	return plan->computes || plan->lines > 0;
}

/* False: there is no memory for the table. fwd_work_fini() is to be called in any case. */
bool fwd_work_init(struct fwd_work *w, const struct fwd_work_plan *plan, uint64_t seed);
void fwd_work_fini(struct fwd_work *w);

/* Does the work of n packets. */
void fwd_work_do(struct fwd_work *w, const struct fwd_work_plan *plan, unsigned n);

/* The parts of it: the accesses to memory of one packet; a time in ns from the distribution. */
void fwd_work_touch(struct fwd_work *w, const struct fwd_work_plan *plan);
uint64_t fwd_work_draw_ns(struct fwd_work *w, const struct fwd_work_plan *plan);

#endif
