/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes of a simulated network, and frames. */
#ifndef HAULI_SIMNET_NET_H
#define HAULI_SIMNET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HAULI_NODE_NAME 32

struct hauli_sim_track;
struct hauli_simlink;
struct hauli_simnet_dev;
struct hauli_switch;

struct hauli_node {
	char name[HAULI_NODE_NAME];
	uint8_t mac[6];
	bool is_switch;
	struct hauli_simnet_dev *dev; /* NULL: no host has opened it */
	struct hauli_simlink *out; /* of a node that is no switch; NULL: none yet */
	struct hauli_switch *sw;
	struct hauli_sim_track *track; /* of the timeline; NULL: none yet */
	struct hauli_node *next; /* of the same bucket */
};

/* What links and switches carry. Several may refer to it. */
struct hauli_frame {
	const struct hauli_node *from; /* the sender, with a port */
	unsigned refs;
	uint32_t len;
	uint8_t data[];
};

/* Reasons, in the order of hauli_drop_names. */
enum hauli_drop {
	HAULI_DROP_NONE,
	HAULI_DROP_LOSS,
	HAULI_DROP_QUEUE, /* of the link */
	HAULI_DROP_MTU,
	HAULI_DROP_CUT,
	HAULI_DROP_DOWN,
	HAULI_DROP_NO_PORT, /* nobody has opened it */
	HAULI_DROP_STOPPED,
	HAULI_DROP_LONG,
	HAULI_DROP_FILTERED,
	HAULI_DROP_NO_MBUF,
	HAULI_DROP_RX_FULL,
	HAULI_DROPS,
};
extern const char *const hauli_drop_names[HAULI_DROPS];

/* The node of that name, which is made if there is none. NULL: no memory, or no name of a node. */
struct hauli_node *hauli_net_node(const char *name);
/* Makes it a switch. */
void hauli_net_make_switch(struct hauli_node *node);

/* NULL: no memory. */
struct hauli_frame *hauli_frame_new(uint32_t len);
struct hauli_frame *hauli_frame_get(struct hauli_frame *frame);
void hauli_frame_put(struct hauli_frame *frame);

/* A frame has come to a node. NONE: it is in a queue there, or a switch has sent it on. */
enum hauli_drop hauli_net_arrive(
	struct hauli_node *node, const struct hauli_simlink *by, struct hauli_frame *frame);
/* Into a queue of the device. */
enum hauli_drop hauli_simnet_arrive(struct hauli_simnet_dev *dev, const struct hauli_frame *frame);

/* True if a frame of one may not reach the other. */
bool hauli_net_is_cut(const struct hauli_node *from, const struct hauli_node *to);
void hauli_net_cut(const struct hauli_node *from, const struct hauli_node *to, bool cut);
void hauli_net_heal(void);

#endif
