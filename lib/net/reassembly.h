/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets out of fragments. One carrier uses a table; there are no locks.
 *
 * Whatever arrives, a table holds no more than its limits allow, and a fragment costs on average a
 * number of steps that is bounded by HAULI_FRAGMENTS_OF_PACKET:
 * - Packets are found by a hash with a secret key, so nobody can fill one chain.
 * - All packets are in the order of their first fragments, which is the order of their deadlines.
 *   For room the oldest is given up: fragments of one packet come close together, so those of a
 *   peer that is not attacked are whole long before they are the oldest.
 * - Packets of one source are in an order of their own. A source with too many gives up its oldest,
 *   not that of others.
 * - Fragments of a packet are in the order of their data. One that overlaps another, or does not
 *   fit the end of the packet, makes the packet bad (RFC 5722): what has arrived is freed, and what
 *   arrives until the packet's deadline is refused. A copy with the range of an earlier fragment is
 *   dropped, as networks may double frames.
 */
#ifndef HAULI_NET_REASSEMBLY_H
#define HAULI_NET_REASSEMBLY_H

#include "net/fragment.h"

/* A packet of 65,535 bytes in fragments for an MTU of 1,280 has 54. */
#define HAULI_FRAGMENTS_OF_PACKET 64

struct hauli_reassembly_limits {
	uint32_t packets; /* that are not whole yet */
	uint32_t of_source; /* of these, with the same source */
	uint32_t fragments; /* that are held; each holds an mbuf, or more */
	uint32_t bytes; /* of these */
	uint64_t ns; /* from the first fragment of a packet to the last */
};

struct hauli_reassembly_counts {
	uint64_t fragments; /* all that arrived */
	uint64_t whole; /* packets that became whole */
	uint64_t duplicates; /* fragments */
	uint64_t bad; /* packets with overlaps, several ends, or too many fragments */
	uint64_t late; /* fragments of bad packets */
	uint64_t expired; /* packets */
	uint64_t given_up; /* packets, for room */
	uint64_t given_up_of_source; /* packets, as their source had too many */
};

struct hauli_reassembly;

/* free_pkt frees a packet with all segments. NULL: no memory. */
struct hauli_reassembly *hauli_reassembly_create(const struct hauli_reassembly_limits *limits,
	void (*free_pkt)(struct rte_mbuf *pkt, void *arg), void *arg);
/* Frees all fragments, too. */
void hauli_reassembly_destroy(struct hauli_reassembly *r);

/*
 * Takes a fragment that hauli_fragment_find() has found and that has come in by this port. Returns
 * OK: *pkt is the packet, if it is whole now, or NULL: the table has the mbuf, or has freed it.
 * MALFORMED (the packet is bad), UNSUPPORTED (larger than the table): the caller keeps the
 * fragment. now: in nanoseconds, and never less than before.
 */
enum haul_verdict hauli_reassemble(struct hauli_reassembly *r,
	const struct hauli_fragment *fragment, unsigned port, uint64_t now, struct rte_mbuf **pkt);

/* Gives up packets whose time is over. */
void hauli_reassembly_expire(struct hauli_reassembly *r, uint64_t now);

/* Packets that are not whole, without bad ones; fragments that are held, and their bytes. */
void hauli_reassembly_held(
	const struct hauli_reassembly *r, uint32_t *packets, uint32_t *fragments, uint32_t *bytes);
const struct hauli_reassembly_counts *hauli_reassembly_counts(const struct hauli_reassembly *r);

#endif
