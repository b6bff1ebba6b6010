/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending packets of flows. */
#ifndef HAULI_HOST_FLOW_SEND_H
#define HAULI_HOST_FLOW_SEND_H

#include "host/flow_state.h"

/* Echo requests are sent with this sequence number; other flows ignore it. */
struct hauli_send_opts {
	uint8_t hops; /* 0: 64 */
	uint8_t tos;
	uint16_t sequence;
};

/* haul_flow_send() with the options of this packet. */
int hauli_flow_send(struct haul_flow *flow, struct rte_mbuf *payload,
	const struct hauli_send_opts *opts, uint64_t deadline) HAUL_SUSPENDS;

/* The same with a copy of data. -ENOMEM; -EINVAL (more than UDP allows). */
int hauli_flow_send_copy(struct haul_flow *flow, const void *data, size_t len,
	const struct hauli_send_opts *opts, uint64_t deadline) HAUL_SUSPENDS;

/* Copies a packet that was received, as far as there is room, and frees it. Returns its length. */
int hauli_flow_copy(struct rte_mbuf *pkt, void *reply, size_t room);

#endif
