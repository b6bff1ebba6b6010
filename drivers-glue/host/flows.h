/* SPDX-License-Identifier: BSD-3-Clause */
/* All flows of a host: packets for them, start and stop. */
#ifndef HAULI_HOST_FLOWS_H
#define HAULI_HOST_FLOWS_H

#include "host/flow_state.h"

/*
 * For haul_host_start(), haul_host_stop(), haul_host_free(), haul_host_takes().
 * start: 0; -ENOMEM, -ECANCELED.
 * stop: all waits for packets end. Suspends a coroutine, blocks a thread.
 * free_closed: after stop, when each carrier knows of it: flows that other carriers have closed.
 *     Suspends a coroutine, blocks a thread.
 * takes: for packets to the host's addresses. True: the packet was one of a flow, and is gone; else
 *     it is unchanged. Does not suspend.
 */
int hauli_flows_start(struct haul_host *host, struct haul_io *io) HAUL_SUSPENDS;
void hauli_flows_stop(struct haul_host *host) HAUL_SUSPENDS;
void hauli_flows_free_closed(struct haul_host *host) HAUL_SUSPENDS;
void hauli_flows_free(struct haul_host *host);
bool hauli_flow_takes(struct haul_host *host, struct haul_rx *rx, const struct haul_pkt *pkt);

#endif
