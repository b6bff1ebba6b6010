/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs that haul-compare compares haul with have in common: options, the work of a
 * packet, the end by a signal, figures as JSON. No code of haul's libraries, so that they show what
 * a program without haul costs.
 */
#ifndef PEER_H
#define PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../haul-fwd/work.h"

#define PEER_BURST_MAX 512

enum peer_exit { PEER_DONE = 0, PEER_FAILED = 1, PEER_USAGE = 2 };

/* --name value. */
struct peer_option {
	const char *name; /* NULL ends a table */
	const char *value; /* the name of its value in --help */
	const char **text; /* where it goes: one of these two */
	uint64_t *number;
	uint64_t min, max;
	const char *help;
};

/* A figure of the program, for the output. */
struct peer_figure {
	const char *name; /* NULL ends a list */
	uint64_t value;
};

struct peer {
	const char *name; /* of the program, and of the poller in reports */
	const char *purpose, *example; /* lines for --help */
	const struct peer_option *options; /* beside the common ones */

	/* Common options, set by peer_parse(). */
	uint64_t burst;
	uint64_t cpu; /* PEER_NO_CPU: any */
	struct fwd_work_plan plan;

	struct fwd_work work;
	int signals; /* a signalfd of SIGINT and SIGTERM */
	uint64_t began_ns, began_user_ns, began_system_ns, began_voluntary, began_involuntary;
};

#define PEER_NO_CPU UINT64_MAX

/* Prints "NAME: ..." as one line on stderr. Returns PEER_FAILED. */
int peer_say(const struct peer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Parses the command line. Returns true, or false with an exit code in *rc, after --help too. */
bool peer_parse(struct peer *p, int argc, char **argv, int *rc);

/*
 * peer_prepare() binds the thread to --cpu, allocates what the work needs, and opens the signalfd.
 * Returns an exit code, after a line.
 * peer_begin() prints "ready" on stdout and begins to measure. peer_end() prints the figures,
 * seconds, CPU time and context switches of the calling thread as a JSON object in one line, and
 * frees all. Returns an exit code.
 */
int peer_prepare(struct peer *p);
int peer_begin(struct peer *p);
int peer_end(struct peer *p, const struct peer_figure *figures);

/* The frequency of the TSC is known: measured by peer_prepare(), or told by a program that knows
 * it better. */
void peer_set_clock(struct peer *p, uint64_t tsc_hz);

/* Does the work of n packets. */
static inline void peer_work(struct peer *p, unsigned n)
{
	if (fwd_work_is_any(&p->plan))
		fwd_work_do(&p->work, &p->plan, n);
}

#endif
