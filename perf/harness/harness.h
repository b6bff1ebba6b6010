/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The harness of every benchmark: one program per question, each a table of cases given to
 * perf_main(). A case asks one question of several sides, ours first, its peers after it. The
 * harness pins the process, warms up, alternates the sides in one process, and reports median, best
 * and spread of each, and the ratio of ours to each peer's.
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
	/* Called before the first run, on the harness's thread; may be NULL. 0, or -errno: the side
	 * is left out with a note. param is the case's. */
	int (*setup)(uint64_t param);
	/* Does n operations; returns their time in nanoseconds. */
	uint64_t (*run)(uint64_t n);
	void (*teardown)(void); /* called after the last run; may be NULL */
	/* Instead of the three functions: a program beside this one that answers to --once CASE
	 * SIDE N with perf_print_once()'s line. It runs once per run. */
	const char *program;
};

struct perf_case {
	const char *name; /* question, or question/param */
	const char *question; /* the unit of the figures */
	struct perf_side sides[PERF_SIDES_MAX]; /* the first side without a name ends the list */
	uint64_t param;
	uint64_t unit; /* n is a multiple of it; 0: 1 */
	uint64_t max; /* the largest n; 0: no limit but the time of a run */
	unsigned cpus; /* number of CPUs that the sides need; 0: 1 */
	bool isolated; /* each run in a process of its own, for cases that leave memory behind */
};

/* A side whose library was missing in this build: left out, with a note. */
#define PERF_ABSENT(side)                          \
	{                                          \
		.name = side, .setup = perf_absent \
	}
int perf_absent(uint64_t param);

/* The main() of a benchmark; a case without a name ends cases. */
int perf_main(int argc, char **argv, const struct perf_case *cases);

/* The CPU of the case (i == 0), and the other CPUs that it asked for. */
unsigned perf_cpu(unsigned i);

/* --sibling: carriers start with stealing, and with one more, which is busy all the time, so that
 * it steals nothing. */
bool perf_has_sibling(void);

/* Adds a figure of the run other than time; name must outlive the run. */
void perf_extra(const char *name, double value);

/* Ends the program with a line if err, -errno, is not 0: a benchmark that cannot spawn measures
 * nothing. */
void perf_must(int err, const char *what);

/* Nanoseconds of a monotonic clock. */
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
