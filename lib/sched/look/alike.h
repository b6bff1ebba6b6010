/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of coroutines that do the same at the same place: a list shows the first few of each
 * group. */
#ifndef HAULI_SCHED_LOOK_ALIKE_H
#define HAULI_SCHED_LOOK_ALIKE_H

#include "sched/look/snapshot.h"

#define HAULI_ALIKE_SHOWN 3
#define HAULI_ALIKE_KINDS 128
#define HAULI_ALIKE_NAME 64 /* bytes of a name that are compared */

struct hauli_alike {
	const struct haul_carrier *home;
	struct hauli_shot first; /* the memory of its name may be gone: see `name` */
	char name[HAULI_ALIKE_NAME];
	unsigned shown;
	uint64_t left_out;
	uint64_t longest_ns; /* of the waits of those left out */
};

/* All zero: none. */
struct hauli_alikes {
	unsigned n;
	struct hauli_alike of[HAULI_ALIKE_KINDS];
};

/* The entry for the coroutines of this home that are like shot: of the same name, in the same
 * state, in a wait for the same kind of object, with the same call stack. Makes a new one if there
 * is none; NULL: there are HAULI_ALIKE_KINDS others. */
struct hauli_alike *hauli_alike_find(
	struct hauli_alikes *all, const struct haul_carrier *home, const struct hauli_shot *shot);

#endif
