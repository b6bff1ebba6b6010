/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes are found by name, and cuts by the pair of nodes: nothing here grows with the number of
 * pairs that could talk. */
#include "simnet/net.h"

#include <stdlib.h>
#include <string.h>

#include "sim/world.h"
#include "simnet/link.h"
#include "simnet/switch.h"

#define BUCKETS 4096

const char *const hauli_drop_names[HAULI_DROPS] = {"", "loss", "queue", "mtu", "cut", "down",
	"no port", "stopped", "too long", "filtered", "no mbuf", "rx full"};

static struct hauli_node *nodes[BUCKETS];
static unsigned nb_nodes;

struct cut {
	const struct hauli_node *from, *to;
};
static struct cut *cuts;
static unsigned nb_cuts, room;

static unsigned bucket_of(const char *name)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	while (*name)
		hash = (hash ^ (uint8_t)*name++) * 16777619u;
	return hash % BUCKETS;
}

struct hauli_node *hauli_net_node(const char *name)
{
	struct hauli_node **first = &nodes[bucket_of(name)], *node = *first;

	while (node && strcmp(node->name, name) != 0)
		node = node->next;
	if (node || !name[0] || strlen(name) >= HAULI_NODE_NAME)
		return node;
	node = calloc(1, sizeof(*node));
	if (!node)
		return NULL;
	strcpy(node->name, name);
	nb_nodes++;
	/* A locally administered address. */
	node->mac[0] = 2;
	node->mac[3] = (uint8_t)(nb_nodes >> 16);
	node->mac[4] = (uint8_t)(nb_nodes >> 8);
	node->mac[5] = (uint8_t)nb_nodes;
	node->next = *first;
	*first = node;
	return node;
}

void hauli_net_make_switch(struct hauli_node *node)
{
	node->is_switch = true;
	if (!node->sw)
		node->sw = hauli_switch_new();
}

struct hauli_frame *hauli_frame_new(uint32_t len)
{
	struct hauli_frame *frame = malloc(sizeof(*frame) + len);

	if (frame)
		*frame = (struct hauli_frame){.refs = 1, .len = len};
	return frame;
}

struct hauli_frame *hauli_frame_get(struct hauli_frame *frame)
{
	frame->refs++;
	return frame;
}

void hauli_frame_put(struct hauli_frame *frame)
{
	if (--frame->refs == 0)
		free(frame);
}

enum hauli_drop hauli_net_arrive(
	struct hauli_node *node, const struct hauli_simlink *by, struct hauli_frame *frame)
{
	if (node->is_switch) {
		hauli_switch_forward(node->sw, by, frame);
		return HAULI_DROP_NONE;
	}
	if (nb_cuts && hauli_net_is_cut(frame->from, node))
		return HAULI_DROP_CUT;
	return node->dev ? hauli_simnet_arrive(node->dev, frame) : HAULI_DROP_NO_PORT;
}

static struct cut *find(const struct hauli_node *from, const struct hauli_node *to)
{
	for (unsigned i = 0; i < nb_cuts; i++)
		if (cuts[i].from == from && cuts[i].to == to)
			return &cuts[i];
	return NULL;
}

bool hauli_net_is_cut(const struct hauli_node *from, const struct hauli_node *to)
{
	return find(from, to);
}

void hauli_net_cut(const struct hauli_node *from, const struct hauli_node *to, bool cut)
{
	struct cut *c = find(from, to);

	if (c && !cut)
		*c = cuts[--nb_cuts];
	if (c || !cut)
		return;
	if (nb_cuts == room) {
		room = 2 * room + 16;
		cuts = hauli_sim_needed(realloc(cuts, room * sizeof(cuts[0])));
	}
	cuts[nb_cuts++] = (struct cut){from, to};
}

void hauli_net_heal(void)
{
	nb_cuts = 0;
}
