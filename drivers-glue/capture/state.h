/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a capture: the rings, the file, the thread that writes.
 *
 *	carriers: frames > rings > thread: blocks in the order of their time > file
 *
 * A carrier counts the frames that it has matched and those for which its ring had no room, the
 * thread those that it has written. At the end the rings are empty, and the rest is dropped.
 */
#ifndef HAULI_CAPTURE_STATE_H
#define HAULI_CAPTURE_STATE_H

#include <pthread.h>

#include <haul-dpdk/capture.h>

#include "capture/block.h"
#include "capture/clock.h"
#include "capture/file.h"
#include "capture/ring.h"

/* Of one port on one carrier. Written by the carrier. */
struct hauli_capture_count {
	struct hauli_counter matched, no_room;
};

struct hauli_capture_carrier {
	struct hauli_capture_ring ring;
	struct hauli_capture_count *ports; /* [nb_ports] */
};

/* What the thread counts for a port. */
struct hauli_capture_port {
	struct hauli_counter written, lost;
};

struct haul_capture {
	struct haul_capture_opts opts; /* constant */
	struct hauli_block_about about; /* constant */
	struct hauli_capture_carrier **carriers; /* [opts.carriers] */
	struct haul_io *io; /* NULL: no frames are captured. The thread that calls */
	struct hauli_capture_queue *queues; /* hooks on the queues of io: io/capture.c */
	unsigned queues_each; /* hooks for a carrier */

	/* The capture's thread, but for the counters and the fault, which others read. */
	HAULI_LINE struct hauli_capture_port *ports; /* [nb_ports] */
	struct hauli_capture_clock clock;
	struct hauli_capture_file file;
	uint64_t began_ns; /* the capture */
	uint64_t file_at; /* when the file was opened; haul_now()'s clock */
	bool has_frames; /* the file */
	struct hauli_counter files, bytes;
	char fault[PATH_MAX + 256];
	struct hauli_u32_published has_fault; /* 1: fault is set, and does not change any more */

	pthread_t thread;
	struct hauli_u32_published ends; /* 1: the thread empties the rings, until end_at */
	uint64_t end_at; /* constant once ends is set */
};

#endif
