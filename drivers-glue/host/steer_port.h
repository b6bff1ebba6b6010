/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of how a port's packets reach carriers. */
#ifndef HAULI_HOST_STEER_PORT_H
#define HAULI_HOST_STEER_PORT_H

#include <haul-dpdk/io.h>

#include "host/steer.h"

/* Sets steer up for a port of io, whose pollers run. Any thread. 0 or -ENOMEM. */
int hauli_steer_init(struct hauli_steer *steer, const struct haul_io *io, unsigned port);

#endif
