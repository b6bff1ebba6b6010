/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of time: stall, slow, late, clock-step. */
#ifndef HAULI_SIM_DELAY_H
#define HAULI_SIM_DELAY_H

#include <stdint.h>

#include "sim/thread.h"

/* Before a run. */
void hauli_sim_delays_begin(void);

/* At a switch: how long the thread stays away; 0: it does not. */
uint64_t hauli_sim_away_ns(struct hauli_sim_thread *t, uint64_t now);

/* How late a wait ends. */
uint64_t hauli_sim_late_ns(void);

#endif
