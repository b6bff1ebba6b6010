/* SPDX-License-Identifier: BSD-3-Clause */
#include "simnet/arrows.h"

#include <haul/trace_file.h>

#include "sim/timelines.h"
#include "simnet/device.h"

static uint32_t last; /* number */

static void put(struct hauli_node *node, unsigned fate, uint32_t number,
	const struct hauli_frame *frame, const char *who)
{
	if (!node->track)
		node->track = hauli_sim_track_new(node->name);
	if (!node->track)
		return;
	if (node->dev)
		hauli_sim_track_move(node->track, node->dev->host);
	hauli_sim_track_frame(node->track, fate, number, frame->len, who);
}

uint32_t hauli_arrow_begins(
	const struct hauli_simlink *l, const struct hauli_frame *frame, unsigned fate)
{
	if (!hauli_sim_is_traced())
		return 0;
	if (++last == 0)
		last = 1;
	put(l->from, fate, last, frame, l->to->name);
	return last;
}

void hauli_arrow_arrives(
	const struct hauli_simlink *l, const struct hauli_frame *frame, uint32_t number)
{
	if (number)
		put(l->to, HAUL_TRACE_ARRIVED, number, frame, l->from->name);
}

void hauli_arrow_is_lost(struct hauli_node *at, const struct hauli_frame *frame, uint32_t number,
	enum hauli_drop why)
{
	if (number)
		put(at, HAUL_TRACE_LOST, number, frame, hauli_drop_names[why]);
}
