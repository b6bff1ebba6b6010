/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fragments of IP packets: making them, and making packets out of them. haul_net_parse() calls
 * fragments unsupported; a program that takes them calls haul_reassemble() first:
 *
 *	enum haul_verdict v = haul_reassemble(table, &nif, port, &mbuf);
 *
 *	if (v == HAUL_NET_OK && !mbuf)
 *		... it waits for the rest of its packet ...
 *	if (v == HAUL_NET_OK)
 *		v = haul_net_parse(&pkt, mbuf);
 *
 * No function suspends; any thread of EAL. The caller must be the only user of the packets' memory.
 */
#ifndef HAUL_DPDK_FRAGMENT_H
#define HAUL_DPDK_FRAGMENT_H

#include <haul/build.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rte_mempool;

/* The most fragments that a packet may have: those of 65,535 bytes for an MTU of 1,280 are 54. */
#define HAUL_FRAGMENTS_MAX 64

/*
 * Makes fragments for an MTU of mtu bytes, each with its IP header, of a packet that
 * haul_build_udp() and its kin have built without a limit (haul_head.mtu) and, if it is IPv4, with
 * haul_head.may_fragment. Checksums must not have been left to the NIC. Fragments are copies in one
 * mbuf of pool each, and no larger than these are.
 *
 * Returns the number of fragments; frags has them, and pkt->mbuf is freed. 1: the packet fits as
 * it is, and frags has itself. Or an error, and the packet is unchanged: -EMSGSIZE (an IPv4 packet
 * that says "don't fragment", too small an MTU, or more than HAUL_FRAGMENTS_MAX); -EINVAL (it has
 * IP options, extension headers or checksums that are missing, or is not IP); -ENOBUFS (the pool is
 * empty).
 */
HAUL_API int haul_fragment(struct haul_pkt *pkt, uint16_t mtu, struct rte_mempool *pool,
	struct rte_mbuf *frags[HAUL_FRAGMENTS_MAX]);

/* Limits of a table. 0: the default. */
struct haul_reassembly_opts {
	uint32_t packets; /* that are not whole yet; 0: 256 */
	uint32_t per_source; /* of these, with the same source address; 0: 16 */
	uint32_t fragments; /* that are held, each with its mbuf; 0: 1,024 */
	uint32_t bytes; /* of these; 0: 1,048,576 */
	uint64_t timeout_ns; /* from the first fragment of a packet to the last; 0: 30 s */
};

struct haul_reassembly_stats {
	uint64_t fragments; /* that have come */
	uint64_t whole; /* packets that became whole */
	uint64_t malformed; /* fragments that cannot be part of any packet */
	uint64_t duplicates; /* fragments that came twice, and were freed */
	uint64_t
		bad; /* packets whose fragments overlap or contradict each other, or are too many */
	uint64_t late; /* fragments of bad packets */
	uint64_t expired; /* packets whose time was over */
	uint64_t given_up; /* packets, the oldest each time, as the table was full */
	uint64_t given_up_of_source; /* the same, as their source had too many */
	uint32_t packets_held, fragments_held, bytes_held; /* now */
};

/* Fragments that wait for others: one table for all carriers, as fragments of a packet may come to
 * several. A call holds its lock for some hundred instructions. */
struct haul_reassembly;

/*
 * Makes a table. opts: NULL for the defaults. Returns 0; -EINVAL (a limit of more than a million
 * packets or fragments, or of a day); -ENOMEM.
 */
HAUL_API int haul_reassembly_create(
	struct haul_reassembly **table, const struct haul_reassembly_opts *opts);

/* Frees the table and all fragments in it, before haul_io_free(), which would miss them. NULL: does
 * nothing. */
HAUL_API void haul_reassembly_destroy(struct haul_reassembly *table);

/*
 * Gives *mbuf, which may be any frame, to the table if it is a fragment for nif: by its IP
 * addresses, and to any port and VLAN of its own. nif NULL: all fragments. port: the number of the
 * port that it has come in by.
 *
 * A table keeps its limits, whatever comes: for a new fragment it gives up the oldest packets.
 * Packets with fragments that overlap are never made whole (RFC 5722), exact copies do no harm.
 *
 * Returns OK: *mbuf is a packet, either the same frame, if it is no fragment, or one that is whole
 * now, in segments of which each but the last is nearly full or one large fragment; or *mbuf is
 * NULL: the table keeps the fragment or has freed it.
 * MALFORMED, NOT_FOR_US, UNSUPPORTED (its headers span segments, or it is larger than the table):
 * the caller keeps *mbuf and drops it.
 */
HAUL_API enum haul_verdict haul_reassemble(struct haul_reassembly *table,
	const struct haul_net_if *nif, unsigned port, struct rte_mbuf **mbuf);

/* Gives up packets whose time is over, which haul_reassemble() also does. For programs that receive
 * few fragments: call it every few seconds. */
HAUL_API void haul_reassembly_expire(struct haul_reassembly *table);

HAUL_API void haul_reassembly_get_stats(
	struct haul_reassembly *table, struct haul_reassembly_stats *stats); /* copies them */

#ifdef __cplusplus
}
#endif

#endif
