/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks: the hash of a run at some of its switches between threads, evenly spread. Two runs that
 * should be the same differ first between the last marks that are equal and the next ones.
 */
#ifndef HAULI_SIM_MARKS_H
#define HAULI_SIM_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#define HAULI_SIM_MARKS 1024

struct hauli_sim_mark {
	uint64_t switches, ns, hash;
	unsigned thread;
	char name[16]; /* of the thread */
};

/* The first mark is at switch `from`, from 1, and then there is one in `every`. */
struct hauli_sim_marks {
	uint64_t from, every;
	bool ends; /* with the last mark that it has room for. Else every second one goes, and on */
	unsigned n;
	struct hauli_sim_mark at[HAULI_SIM_MARKS];
};

/* The next mark. Returns the switch of the one after it, or UINT64_MAX. */
uint64_t hauli_sim_marks_add(struct hauli_sim_marks *m, const struct hauli_sim_mark *mark);

/* The first marks at the same switch that differ; the switch of the last equal ones before them, or
 * 0. False: none differ. */
bool hauli_sim_marks_differ(const struct hauli_sim_marks *a, const struct hauli_sim_marks *b,
	const struct hauli_sim_mark **in_a, const struct hauli_sim_mark **in_b, uint64_t *equal);

#endif
