/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A filter in front of PMDs that take frames which do not fit their device, and then send something
 * else or nothing, without a word; or that hand out frames of which the end is missing. Such a PMD
 * is called through the filter's burst calls (as in spread.h): transmit ends before the first frame
 * that does not fit, as with PMDs that refuse it, and receive drops what may be cut.
 */
#ifndef HAULI_GLUE_FILTER_H
#define HAULI_GLUE_FILTER_H

#include "base/counter.h"
#include "kind.h"
#include "poll_burst.h"

struct hauli_filter {
	struct hauli_counter cut; /* received frames that were dropped. Poller */

	/* Constant. */
	struct hauli_burst pmd;
	const struct haul_port *port;
	struct rte_eth_fp_ops ops;
	void *queue, *no_callbacks;
};

/* Whether it is a frame that goes through the filter to be sent. */
bool hauli_filter_fits(const struct haul_port *port, const struct rte_mbuf *pkt);

/* Of a queue whose kind has a filter, and its burst calls in place of the PMD's. NULL: no memory.
 * The caller frees it by free(). */
struct hauli_filter *hauli_filter_create(const struct haul_port *port, struct hauli_burst pmd);
struct hauli_burst hauli_filter_burst(const struct hauli_filter *filter);

#endif
