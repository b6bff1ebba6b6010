/* SPDX-License-Identifier: BSD-3-Clause */
/* Taking a place: the calling thread gets its name and its CPU. */
#ifndef HAULI_TOPO_PIN_H
#define HAULI_TOPO_PIN_H

#include <haul/topo.h>

#define HAULI_THREAD_NAME 16 /* Linux: 15 characters and the end */

/* Carrier, cluster and CPU: "haul3.c0.p5", "h255.c31.p1023" when that is too long, "haul4.c0" when
 * it floats. */
void hauli_place_name(char name[HAULI_THREAD_NAME], const struct haul_place *place, unsigned id);

/*
 * Names the calling thread for carrier id and pins it to the place's CPU; at a place that floats it
 * may run wherever the process may, whatever thread it was started from. Call it first on a
 * carrier's thread. 0, or -errno: not pinned, but all else is as it should be.
 */
int hauli_place_enter(const struct haul_place *place, unsigned id);

#endif
