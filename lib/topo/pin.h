/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives the calling thread its name and its CPU. */
#ifndef HAULI_TOPO_PIN_H
#define HAULI_TOPO_PIN_H

#include <haul/topo.h>

#define HAULI_THREAD_NAME 16 /* Linux: 15 characters and the zero */

/* Carrier, cluster and CPU: "haul3.c0.p5"; "h255.c31.p1023" where that is too long; "haul4.c0" for
 * a carrier that floats. */
void hauli_place_name(char name[HAULI_THREAD_NAME], const struct haul_place *place, unsigned id);

/*
 * Names the calling thread after carrier id and pins it to the place's CPU. At a place that floats
 * the thread may run on all CPUs of the process, whatever mask it has inherited. Call it first on a
 * carrier's thread. 0, or -errno: the thread has its name but is not pinned.
 */
int hauli_place_enter(const struct haul_place *place, unsigned id);

#endif
