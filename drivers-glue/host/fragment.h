/* SPDX-License-Identifier: BSD-3-Clause */
/* Reassembly for a host, which has more addresses than a struct haul_net_if. */
#ifndef HAULI_HOST_FRAGMENT_H
#define HAULI_HOST_FRAGMENT_H

#include <haul-dpdk/fragment.h>

#include "net/fragment.h"

/*
 * The two halves of haul_reassemble(); the caller looks at fragment->dst in between. The first
 * returns OK and *is_fragment, or an error that it has counted; the second as haul_reassemble().
 */
enum haul_verdict hauli_reassembly_find(struct haul_reassembly *table,
	struct hauli_fragment *fragment, struct rte_mbuf *mbuf, bool *is_fragment);
enum haul_verdict hauli_reassembly_take(struct haul_reassembly *table,
	const struct hauli_fragment *fragment, unsigned port, struct rte_mbuf **mbuf);

#endif
