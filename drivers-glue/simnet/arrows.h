/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames on the timeline: each node has a track, and an arrow leads over each link. */
#ifndef HAULI_SIMNET_ARROWS_H
#define HAULI_SIMNET_ARROWS_H

#include "simnet/link.h"

/* A frame begins its way at l->from; fate: HAUL_TRACE_SENT, or DUPLICATED. Returns the number of
 * the arrow, or 0: there is no timeline, and other calls do nothing. */
uint32_t hauli_arrow_begins(
	const struct hauli_simlink *l, const struct hauli_frame *frame, unsigned fate);
void hauli_arrow_arrives(
	const struct hauli_simlink *l, const struct hauli_frame *frame, uint32_t number);
/* At l->from or l->to. */
void hauli_arrow_is_lost(struct hauli_node *at, const struct hauli_frame *frame, uint32_t number,
	enum hauli_drop why);

#endif
