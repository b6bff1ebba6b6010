/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace of steps: what a carrier does between two polls, or one call. Each has a time, and what
 * the kernel counted meanwhile, so that what is haul's is told apart from what is the machine's.
 * One thread.
 */
#ifndef PERF_STEPS_TRACE_H
#define PERF_STEPS_TRACE_H

#include <stdint.h>

/* Why a step was long. The first that is true. */
enum cause {
	CAUSE_SWITCHED, /* another thread had the CPU */
	CAUSE_FAULT, /* pages were touched for the first time */
	CAUSE_STOLEN, /* the thread did not run: the host had the CPU, or an interrupt */
	CAUSE_REST, /* haul, caches, and interrupts that count as the thread's time */
	CAUSES,
};

#define TRACE_LONG_US 5
#define TRACE_VERY_LONG_US 20

struct trace {
	uint64_t steps;
	double longest_us[CAUSES];
	uint64_t over_5[CAUSES], over_20[CAUSES];
	uint64_t run_delay_ns; /* waits for a CPU */
	double worst_us[16]; /* the longest steps of the rest, with what they did */
	uint64_t worst_work[16];
	/* Of the step before. */
	uint64_t ticks, cpu_ns, switches, faults, delay_ns;
};

void trace_begin(struct trace *t);

/* A step ends, and the next one begins. work: what it did, as the program counts it. Returns its
 * time. */
double trace_step(struct trace *t, uint64_t work);

void trace_print(const struct trace *t, const char *name, const char *work);

#endif
