/* SPDX-License-Identifier: BSD-3-Clause */
/* One direction of a link. */
#ifndef HAULI_SIMNET_LINK_H
#define HAULI_SIMNET_LINK_H

#include <haul-sim/net.h>

#include "base/random.h"
#include "simnet/net.h"

/* What it is like: see haul_sim_net(). */
struct hauli_simlink_nature {
	uint64_t rate, delay, jitter, tail; /* bits of a second, ns */
	double loss, burst, duplicate, reorder, flip;
	uint64_t queue, mtu;
};

struct hauli_simlink {
	struct hauli_simlink *back; /* the other direction */
	struct hauli_simlink *next; /* of all */
	struct hauli_node *from, *to;
	struct hauli_simlink_nature nature;
	struct hauli_random random;
	bool is_down, loses; /* loses: within a row of losses */
	unsigned to_lose; /* the next ones, by a fault */
	uint64_t free_at; /* when the last frame will have left the queue */
	uint64_t last_at; /* when the last one arrives */
	uint64_t clogged_until, second; /* second: the last one with traffic (weather.c) */
	struct haul_sim_link_stats stats;
	uint64_t *leaves; /* a ring, of `room`: when each of those in the queue leaves it */
	unsigned first, queued, room;
	struct hauli_sim_pcap *pcap; /* of both directions; NULL: none */
};

/* The direction; makes a link if there is none. NULL: one of the nodes has another one. */
struct hauli_simlink *hauli_simlink_between(struct hauli_node *from, struct hauli_node *to);
/* NULL: there is none. */
struct hauli_simlink *hauli_simlink_find(
	const struct hauli_node *from, const struct hauli_node *to);

/* Room for one more frame in the queue of a port with a ring of that size. */
bool hauli_simlink_has_room(struct hauli_simlink *l, unsigned ring);
/* When the next frame leaves a queue without room. */
uint64_t hauli_simlink_room_at(const struct hauli_simlink *l);
void hauli_simlink_send(struct hauli_simlink *l, struct hauli_frame *frame);
void hauli_simlink_clog(struct hauli_simlink *l, uint64_t ns);
/* Of both directions. */
void hauli_simlink_set_up(struct hauli_simlink *l, bool up);
/* Ends rows of losses that faults have begun. */
void hauli_simlinks_calm(void);
bool hauli_simlink_is_up(const struct hauli_simlink *l);
uint32_t hauli_simlink_mbps(const struct hauli_simlink *l);

#endif
