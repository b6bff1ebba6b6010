/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capturing the frames of queues: a queue's burst calls are replaced by the capture's (as filter.h
 * does it), which copy frames into the carrier's ring. Sent frames are copied before the PMD gets
 * them, since it may free them at once, and published after it, as far as it took them; frames that
 * it did not take are offered again later, and copied again.
 */
#ifndef HAULI_IO_CAPTURE_H
#define HAULI_IO_CAPTURE_H

#include <haul-dpdk/capture.h>

#include "io/state.h"

/* On the carrier, or while no poller runs: the queues of a port have these burst calls now, and
 * still have them when the capture stops. */
void hauli_capture_replace(
	struct haul_capture *c, struct hauli_poller *p, unsigned port, struct hauli_burst burst);

/* The same, of a port that is back: they have burst calls of a PMD, and are captured again. */
void hauli_capture_resume(struct haul_capture *c, struct hauli_poller *p, unsigned port);

/* Before io is freed. */
void hauli_capture_end(struct haul_io *io);

#endif
