/* SPDX-License-Identifier: BSD-3-Clause */
/* The scheduler's side of a benchmark: carriers on the case's CPUs, plain threads, no EAL. */
#ifndef PERF_CARRIER_H
#define PERF_CARRIER_H

#include <haul/runtime.h>

/* Starts n carriers on perf_cpu(0), perf_cpu(1)..., and the sibling of --sibling. Only one set at a
 * time. 0 or -errno. */
int perf_carriers_start(unsigned n);
/* The same, with carriers that do this while they are idle. */
enum perf_idle {
	PERF_IDLE_SPINS, /* before it sleeps, if that pays: the default */
	PERF_IDLE_SLEEPS, /* at once */
	PERF_IDLE_POLLS, /* by a poller that never blocks */
};
int perf_carriers_start_idle(unsigned n, enum perf_idle idle);
/* The same with options, the plan left out. With a sibling: without them. */
int perf_carriers_start_with(unsigned n, const struct haul_runtime_opts *opts);
void perf_carriers_stop(void);

struct haul_carrier *perf_carrier(unsigned i);

/* Calls body(n) in a coroutine on carrier 0 and returns its result. */
uint64_t perf_on_carrier(uint64_t (*body)(uint64_t n), uint64_t n);

/* The number of slices of carrier 0 so far. */
uint64_t perf_slices(void);

#endif
