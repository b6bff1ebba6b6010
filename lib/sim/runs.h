/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs in child processes, several at a time. */
#ifndef HAULI_SIM_RUNS_H
#define HAULI_SIM_RUNS_H

#include <sys/types.h>

#include "sim/run.h"

/* A place for a run. */
struct hauli_sim_slot {
	pid_t pid; /* 0: none runs */
	struct hauli_sim_spec spec; /* of the run that is here, or was last */
	struct hauli_sim_outcome *out; /* shared with the child */
	int shared; /* a file: the memory of out */
	int output; /* a file: what the run has printed */
	uint64_t began; /* real ns */
	uint64_t tag; /* the caller's */
};

struct hauli_sim_runs {
	unsigned n, busy;
	struct hauli_sim_slot *slots;
};

/* 0 or -errno. One at a time in a process; SIGINT and SIGTERM interrupt. */
int hauli_sim_runs_init(struct hauli_sim_runs *runs, unsigned n);
void hauli_sim_runs_fini(struct hauli_sim_runs *runs);

/* A slot without a run, or NULL. */
struct hauli_sim_slot *hauli_sim_runs_free(struct hauli_sim_runs *runs);

/* Begins a run in a free slot; marks: from where, as in marks.h (every 0: from the beginning). 0 or
 * -errno. */
int hauli_sim_runs_begin(struct hauli_sim_runs *runs, struct hauli_sim_slot *slot,
	const struct hauli_sim_spec *spec, const struct hauli_sim_marks *marks);

/* Waits for a run that ends: its slot is free then, and out tells of it until the next run there.
 * NULL: none has ended within ms, or a signal has come. */
struct hauli_sim_slot *hauli_sim_runs_wait(struct hauli_sim_runs *runs, unsigned ms);

/* Ends all runs, without a result. */
void hauli_sim_runs_kill(struct hauli_sim_runs *runs);

/* Prints the last lines that the run of a slot has printed. */
void hauli_sim_slot_print(const struct hauli_sim_slot *slot, unsigned lines);

/* One run at a time: waits for its end. False: interrupted, or it could not begin. */
bool hauli_sim_runs_one(struct hauli_sim_runs *runs, struct hauli_sim_slot *slot,
	const struct hauli_sim_spec *spec, const struct hauli_sim_marks *marks);

bool hauli_sim_interrupted(void);

/* In a process that a run with spec.anew has started: its outcome. NULL: this is none. */
struct hauli_sim_outcome *hauli_sim_runs_adopt(void);

#endif
