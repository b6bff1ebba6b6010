/* SPDX-License-Identifier: BSD-3-Clause */
/* The timelines of a run: those of all carriers that it has had, with the names of their hosts, and
 * one of the strikes of faults. The run is the same as without. */
#ifndef HAULI_SIM_TIMELINES_H
#define HAULI_SIM_TIMELINES_H

/* Before a run: from now on they are kept, for a file. 0 or -errno. */
int hauli_sim_timelines_begin(const char *path);
/* Of a strike: a mark on a timeline of its own. */
void hauli_sim_timelines_mark(const char *text);
/* The end of the run: writes the file, if it was begun; once. 0 or -errno. Also in a signal handler
 * on the thread that has the simulation. */
int hauli_sim_timelines_write(void);

#endif
