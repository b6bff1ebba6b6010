/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the process: in a simulation it is that of all its hosts, and stays when one of them is
 * killed. */
#ifndef HAULI_BASE_SHARED_H
#define HAULI_BASE_SHARED_H

/* What is allocated between these is of the process, although a host's thread does so. */
static inline void hauli_shared_begin(void)
{
#ifdef HAUL_SIMULATED
	hauli_sim_shared_begin();
#endif
}
static inline void hauli_shared_end(void)
{
#ifdef HAUL_SIMULATED
	hauli_sim_shared_end();
#endif
}

#endif
