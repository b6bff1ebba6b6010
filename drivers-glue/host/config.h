/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a host's addresses and routes. */
#ifndef HAULI_HOST_CONFIG_H
#define HAULI_HOST_CONFIG_H

#include "host/state.h"

/* Returns once no carrier uses anything that was replaced before. rt: NULL: there are no carriers.
 * Returns 0 or an error of haul_on_each(). */
int hauli_host_quiesce(struct haul_runtime *rt) HAUL_SUSPENDS;

/* Builds the routes anew and publishes them: after a change under the lock, or of the ports'
 * addresses. Returns 0 or -ENOMEM: nothing was published. */
int hauli_host_publish(struct haul_host *host) HAUL_SUSPENDS;

/* The host's io, routes or ports have changed. Under the lock. */
void hauli_host_changed(struct haul_host *host);

/* Frees all that is left. */
void hauli_host_free_routes(struct haul_host *host);

#endif
