/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of each carrier (haul/carrier.h). */
#ifndef HAULI_SCHED_WAIT_LOCAL_H
#define HAULI_SCHED_WAIT_LOCAL_H

struct haul_carrier;

/* The carrier's thread, at its end. */
void hauli_locals_release(struct haul_carrier *c);

#endif
