/* SPDX-License-Identifier: BSD-3-Clause */
/* The run delay of a carrier (base/delay.h). */
#ifndef HAULI_SCHED_STATE_DELAY_H
#define HAULI_SCHED_STATE_DELAY_H

#include "base/delay.h"

struct haul_carrier;

/* Any thread. The run delay of c since the previous call with this d, in ns. 0 in the first call,
 * and if the kernel does not report it. A thread that has not begun counts as waiting for a CPU. */
uint64_t hauli_delay_since(const struct haul_carrier *c, struct hauli_delay *d);

#endif
