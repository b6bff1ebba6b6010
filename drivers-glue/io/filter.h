/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A filter for PMDs that accept frames which do not fit their device and silently send wrong frames
 * or none, and for PMDs that pass on truncated frames. haul calls such a PMD through the filter's
 * burst calls (as in spread.h): transmit stops before the first frame that does not fit, as if the
 * PMD refused it, and receive drops frames that may be truncated. For PMDs that unmap memory, which
 * burst calls read, the filter tells when a call is under way (port/unmap.h).
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
	/* Constant. */
	bool unmaps; /* the port may have been closed before the filter is destroyed */
	const struct haul_port *port;
	struct rte_eth_fp_ops ops;
	void *queue, *no_callbacks;
};

/* True if the filter lets the frame be sent. */
bool hauli_filter_fits(const struct haul_port *port, const struct rte_mbuf *pkt);

/* Creates the filter of a queue, and replaces the PMD's burst calls by its own. NULL: no memory. */
struct hauli_filter *hauli_filter_create(const struct haul_port *port, struct hauli_burst pmd);
/* The port's device was opened again: these are its PMD's burst calls. Carrier */
void hauli_filter_replace(struct hauli_filter *filter, struct hauli_burst pmd);
void hauli_filter_destroy(struct hauli_filter *filter); /* NULL: nothing */
struct hauli_burst hauli_filter_burst(const struct hauli_filter *filter);

#endif
