/* SPDX-License-Identifier: BSD-3-Clause */
/* Coroutines that do the same at the same place, of which a list shows the first few. */
#ifndef HAULI_SCHED_LOOK_ALIKE_H
#define HAULI_SCHED_LOOK_ALIKE_H

#include "sched/look/snapshot.h"

#define HAULI_ALIKE_SHOWN 3
#define HAULI_ALIKE_KINDS 128
#define HAULI_ALIKE_NAME 64 /* bytes of a name that are looked at */

struct hauli_alike {
	const struct haul_carrier *home;
	struct hauli_shot first; /* its name may be gone */
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

/* The entry for coroutines of this home that are as shot says: of the same name, in the same state,
 * in a wait for the same kind of object, with the same call stack. A new one if there is none;
 * NULL: it would be one too many. */
struct hauli_alike *hauli_alike_find(
	struct hauli_alikes *all, const struct haul_carrier *home, const struct hauli_shot *shot);

#endif
