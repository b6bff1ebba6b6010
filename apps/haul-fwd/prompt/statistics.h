/* SPDX-License-Identifier: BSD-3-Clause */
/* Forward statistics: what was forwarded since the last start. */
#ifndef FWD_PROMPT_STATISTICS_H
#define FWD_PROMPT_STATISTICS_H

#include "command.h"

/* Counts from 0. */
void fwd_statistics_begin(const struct haul_app *app);

/* Prints the blocks of testpmd, for each port and for all. */
void fwd_statistics_print(const struct fwd_call *call);

/* A receive queue, and where its packets go: the carrier that polls it sends on a queue of its own,
 * which has its number. */
struct fwd_stream {
	const struct haul_app *app;
	unsigned port, queue, to, carrier;
	struct haul_queue_stats stats;
};
/* Calls fn, if it is not NULL, for each stream of a carrier or HAUL_ALL. Returns their number. */
unsigned fwd_streams(const struct haul_app *app, unsigned carrier,
	void (*fn)(const struct fwd_stream *stream, FILE *out), FILE *out);

/* "io packet forwarding - ports=2 - cores=1 ...", and where each queue forwards to. */
void fwd_print_forwarding(const struct fwd_call *call);
/* "  io packet forwarding packets/burst=32 ...", and the queues of each port. */
void fwd_print_rxtx(const struct fwd_call *call);

#endif
