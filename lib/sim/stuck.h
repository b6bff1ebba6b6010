/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a simulation does not go on. */
#ifndef HAULI_SIM_STUCK_H
#define HAULI_SIM_STUCK_H

/* At its end, on the thread of haul_sim_run(): prints on stderr what threads and coroutines wait
 * for, and who waits for whom. */
void hauli_sim_tell_stuck(void);

#endif
