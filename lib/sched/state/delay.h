/* SPDX-License-Identifier: BSD-3-Clause */
/* The run delay of a carrier (base/delay.h). */
#ifndef HAULI_SCHED_STATE_DELAY_H
#define HAULI_SCHED_STATE_DELAY_H

#include "base/delay.h"

struct haul_carrier;

/* Any thread. The run delay of c since the call before with this d, in ns; 0 in the first call, and
 * where the kernel does not tell. A thread that has not begun waits for a CPU all the time. */
uint64_t hauli_delay_since(const struct haul_carrier *c, struct hauli_delay *d);

#endif
