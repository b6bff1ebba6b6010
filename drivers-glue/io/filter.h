/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A filter for PMDs that accept frames which do not fit their device and silently send wrong frames
 * or none, and for PMDs that pass on truncated frames. haul calls such a PMD through the filter's
 * burst calls (as in spread.h): transmit stops before the first frame that does not fit, as if the
 * PMD refused it, and receive drops frames that may be truncated. For PMDs that unmap memory, which
 * burst calls read, the filter tells when a call is under way (port/unmap.h). Each queue has one,
 * since its port may get a device of another kind; PMDs of most kinds are called without it.
 */
#ifndef HAULI_IO_FILTER_H
#define HAULI_IO_FILTER_H

#include "base/counter.h"
#include "io/burst.h"
#include "port/kind.h"
#include "port/unmap.h"

struct hauli_filter {
	struct hauli_counter cut; /* received frames that were dropped. Poller */
	struct hauli_unmap_reader reader; /* the poller, if the PMD unmaps memory */

	struct hauli_burst pmd; /* carrier */
	/* Constant while the port has a device. */
	bool unmaps; /* reader is in the list: until the filter is destroyed */
	const struct haul_port *port;
	struct rte_eth_fp_ops ops;
	void *queue, *no_callbacks;
};

/* True if the filter lets the frame be sent. */
bool hauli_filter_fits(const struct haul_port *port, const struct rte_mbuf *pkt);

/* Creates the filter of a queue. NULL: no memory. */
struct hauli_filter *hauli_filter_create(const struct haul_port *port);
/* The port has a device, of another kind perhaps. No other thread uses the filter meanwhile. */
void hauli_filter_choose(struct hauli_filter *filter);
/* The burst calls for a queue of this PMD: the filter's, if its kind needs one. Carrier */
struct hauli_burst hauli_filter_burst(struct hauli_filter *filter, struct hauli_burst pmd);
void hauli_filter_destroy(struct hauli_filter *filter); /* NULL: nothing */

#endif
