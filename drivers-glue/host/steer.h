/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which carrier a packet of a flow will come to: the port's RSS chooses the queue, the queue's
 * carrier may pass it on by its flow (io/spread.h). So a flow can have a source port whose replies
 * come to its carrier.
 */
#ifndef HAULI_HOST_STEER_H
#define HAULI_HOST_STEER_H

#include <stdbool.h>
#include <stdint.h>

#include "host/table.h"

#define HAULI_STEER_UNKNOWN UINT32_MAX

#define HAULI_STEER_BYTES 36 /* that RSS hashes: two IPv6 addresses, two ports */

/* How the packets of a queue reach carriers. */
struct hauli_steer_queue {
	unsigned ways; /* 1 and the number of RPS targets */
	unsigned *carriers; /* [ways]; the first one polls the queue */
};

/* Of one port. Constant once it is set up. */
struct hauli_steer {
	unsigned nb_queues;
	struct hauli_steer_queue *queues;
	/* RSS hashes addresses and ports of UDP over IPv4, IPv6; else it is not known where they
	 * come. Not needed for one queue. */
	bool rss[2];
	uint16_t *reta; /* queue by hash; NULL: RSS is not known */
	uint32_t reta_mask;
	/* The hash is linear: the sum, without carries, of what each byte adds. */
	uint32_t (*adds)[256]; /* [HAULI_STEER_BYTES] */
};

/* Sets steer->adds of a Toeplitz hash with this key, of at least HAULI_STEER_BYTES + 4 bytes. 0 or
 * -ENOMEM. */
int hauli_steer_set_key(struct hauli_steer *steer, const uint8_t *key);

/* RSS's hash of a packet from the remote to the local end of a flow. */
uint32_t hauli_steer_rss(const struct hauli_steer *steer, const struct hauli_flow_key *key);

/* The carrier that a packet from the remote end comes to, or HAULI_STEER_UNKNOWN. */
unsigned hauli_steer_carrier(const struct hauli_steer *steer, const struct hauli_flow_key *key);

void hauli_steer_fini(struct hauli_steer *steer);

#endif
