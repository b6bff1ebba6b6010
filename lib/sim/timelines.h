/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timelines of a run: those of all carriers that it has had, with the names of their hosts, one
 * of the strikes of faults, and one for each node of its network. The run is the same as without.
 */
#ifndef HAULI_SIM_TIMELINES_H
#define HAULI_SIM_TIMELINES_H

#include <stdint.h>

/* Before a run: from now on they are kept, for a file. 0 or -errno. */
int hauli_sim_timelines_begin(const char *path);
/* Of a strike: a mark on a timeline of its own. */
void hauli_sim_timelines_mark(const char *text);
/*
 * A track of its own, such as of a node of a network. Names stay. NULL: timelines are not kept. The
 * times of frames on all tracks increase: what follows from another one is behind it.
 */
struct hauli_sim_track;
struct hauli_sim_track *hauli_sim_track_new(const char *name);
/* It belongs to this host from now on. Without a call: to the network. */
void hauli_sim_track_move(struct hauli_sim_track *t, unsigned host);
/* fate: enum haul_trace_frame; who: the other node, or why it is lost. */
void hauli_sim_track_frame(
	struct hauli_sim_track *t, unsigned fate, uint32_t number, uint32_t bytes, const char *who);

/* The end of the run: writes the file, if it was begun; once. 0 or -errno. Also in a signal handler
 * on the thread that has the simulation. */
int hauli_sim_timelines_write(void);

#endif
