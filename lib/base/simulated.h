/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether this is compiled for simulation (tests/sim), as a constant. */
#ifndef HAULI_BASE_SIMULATED_H
#define HAULI_BASE_SIMULATED_H

#ifdef HAULI_SIMULATED
#define HAULI_SIM 1
#else
#define HAULI_SIM 0
#endif

#endif
