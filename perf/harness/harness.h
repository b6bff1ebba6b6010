/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The harness of every benchmark: one program per question, each a table of cases given to
 * perf_main(). A case asks one question of several sides, ours first, its peers after. The
 * harness pins the process, warms up, lets the sides take turns in one process, and reports
 * median, best and spread of each, and the ratio of ours to each peer's.
 */
#ifndef PERF_HARNESS_H
#define PERF_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define PERF_SIDES_MAX 4

struct perf_side {
	const char *name;
	/* Before the first run, on the harness's thread; may be NULL. 0, or -errno: the side is
	 * left out with a note. param is the case's. */
	int (*setup)(uint64_t param);
	/* Does n operations; returns the nanoseconds that they took. */
	uint64_t (*run)(uint64_t n);
	void (*teardown)(void); /* after the last run; may be NULL */
	/* Instead of the three: a program beside this one that answers to --once CASE SIDE N with
	 * perf_print_once()'s line. It runs once per run. */
	const char *program;
};

struct perf_case {
	const char *name; /* question, or question/param */
	const char *question; /* what one operation is */
	struct perf_side sides[PERF_SIDES_MAX]; /* ends with the first that has no name */
	uint64_t param;
	uint64_t unit; /* n is a multiple of it; 0: 1 */
	uint64_t max; /* n is at most that; 0: as many as fill the time of a run */
	unsigned cpus; /* how many CPUs the sides need; 0: 1 */
	bool isolated; /* each run in a process of its own, for what is left behind in memory */
};

/* A side whose library was missing when this was built: left out, with a note. */
#define PERF_ABSENT(side)                          \
	{                                          \
		.name = side, .setup = perf_absent \
	}
int perf_absent(uint64_t param);

/* The main() of a benchmark; cases ends with one without a name. */
int perf_main(int argc, char **argv, const struct perf_case *cases);

/* The CPU that the case is pinned to (i == 0), and the others that it asked for. */
unsigned perf_cpu(unsigned i);

/* A figure of the run other than time, by a name that outlives it: shown and written beside it. */
void perf_extra(const char *name, double value);

/* Ends the program, with a line, when err, -errno, is not 0: a benchmark that cannot spawn measures
 * nothing. */
void perf_must(int err, const char *what);

/* Nanoseconds on a clock that only goes forward. */
static inline uint64_t perf_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Forces x to be computed here; clobbers memory. */
#define PERF_KEEP(x) asm volatile("" : : "g"(x) : "memory")

/* Hides the variable's value from the compiler. */
#define PERF_HIDE(x) asm volatile("" : "+m"(x))

#endif
