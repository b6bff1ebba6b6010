/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether this is compiled for simulation (tests/sim), as a constant. */
#ifndef HAULI_BASE_SIMULATED_H
#define HAULI_BASE_SIMULATED_H

#include <stdbool.h>

#ifdef HAUL_SIMULATED
#define HAULI_SIM 1
#else
#define HAULI_SIM 0
#endif

/* True on a simulated thread; false, as a constant, but in a simulation. */
static inline bool hauli_is_simulated(void)
{
#if HAULI_SIM
	return hauli_sim_is_on();
#else
	return false;
#endif
}

/* True if an allocation is to fail; false, as a constant, but in a simulation. */
static inline bool hauli_no_memory(void)
{
#if HAULI_SIM
	return hauli_sim_no_memory();
#else
	return false;
#endif
}

/* The calling thread only watches: in a simulation in which all others wait for ever, time does not
 * go on for it. */
static inline void hauli_only_watches(void)
{
#if HAULI_SIM
	hauli_sim_background();
#endif
}

#endif
