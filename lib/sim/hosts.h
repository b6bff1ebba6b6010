/* SPDX-License-Identifier: BSD-3-Clause */
/* What is left of a host when its threads are gone (world.h), and goes after them. */
#ifndef HAULI_SIM_HOSTS_H
#define HAULI_SIM_HOSTS_H

#include <stdbool.h>

/* Memory of haul's that a thread of the host has taken by malloc(), from its begin. */
bool hauli_sim_memory_has(unsigned host, const void *at);
void hauli_sim_memory_free(unsigned host);

/* The runtimes of a host that was killed are no longer known: nothing of haul's refers to the
 * memory of the host any more. */
void hauli_sim_forget_runtimes(unsigned host);

#endif
