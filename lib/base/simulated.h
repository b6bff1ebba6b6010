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

/* Between these the caller writes down what happens: in a simulation that is no step and takes no
 * time, so that a run that is watched is the same as one that is not. It does not wait. */
static inline void hauli_unseen_begin(void)
{
#if HAULI_SIM
	hauli_sim_unseen_begin();
#endif
}
static inline void hauli_unseen_end(void)
{
#if HAULI_SIM
	hauli_sim_unseen_end();
#endif
}

/* True in a simulation of which all timelines are kept: those of each runtime, whatever its options
 * say. */
static inline bool hauli_is_traced(void)
{
#if HAULI_SIM
	return hauli_sim_is_traced();
#else
	return false;
#endif
}

/* There, timelines in a row, which stay until the end of the simulation. */
static inline void hauli_keep_timelines(void *first, unsigned n)
{
#if HAULI_SIM
	hauli_sim_keep_timelines(first, n);
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
