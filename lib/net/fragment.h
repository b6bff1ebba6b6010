/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments of IPv4 and IPv6 (RFC 791, RFC 8200, 4.5): what one says, and making them. */
#ifndef HAULI_NET_FRAGMENT_H
#define HAULI_NET_FRAGMENT_H

#include <haul/build.h>

/* A received fragment. Offsets count from the beginning of the frame. */
struct hauli_fragment {
	struct rte_mbuf *mbuf;
	struct haul_addr src, dst;
	uint32_t id;
	uint8_t proto; /* IPv4: the upper protocol; IPv6: 0, as there it tells no packets apart */
	uint8_t next; /* IPv6: the header behind the fragment header */
	bool more; /* it is not the last one */
	uint16_t vlan; /* number of the VLAN; 0: no tag */
	uint16_t l3; /* offset of the IP header */
	uint16_t next_at; /* IPv6: offset of the field that announces the fragment header */
	uint16_t data; /* offset of the fragment's data */
	uint16_t at; /* where the data belong in the packet */
	uint16_t len; /* of the data */
};

/*
 * Finds out whether m, which may be any frame, is a fragment. If so, *fragment says what it is, and
 * Ethernet's padding is trimmed. *is_fragment: false for all other frames, which are not looked at
 * any further. Returns OK; MALFORMED; UNSUPPORTED (headers that span segments, padding that cannot
 * be trimmed).
 */
enum haul_verdict hauli_fragment_find(
	struct hauli_fragment *fragment, struct rte_mbuf *m, bool *is_fragment);

/* An IPv6 fragment that is a whole packet (RFC 6946). */
static inline bool hauli_fragment_is_whole(const struct hauli_fragment *f)
{
	return f->at == 0 && !f->more;
}

/* Turns the first fragment, whose mbuf holds all len bytes of data now, into the packet. */
void hauli_fragment_to_packet(const struct hauli_fragment *first, uint16_t len);

/*
 * The number of fragments of a packet for this MTU; 1: it fits as it is. -EMSGSIZE: it does not,
 * and may not be fragmented, or the MTU is too small for any data. -EINVAL: it has IP options or
 * extension headers, its upper checksum is left to the NIC, or it is no IP.
 */
int hauli_fragments(const struct haul_pkt *pkt, uint16_t mtu);

/* The identification of all fragments of a packet. */
uint32_t hauli_fragments_id(const struct haul_pkt *pkt);

/* Writes fragment i of a packet for which hauli_fragments() has returned more than 1 into an empty
 * mbuf. 0; -ENOBUFS: it is too small. */
int hauli_fragment_write(
	const struct haul_pkt *pkt, uint16_t mtu, unsigned i, uint32_t id, struct rte_mbuf *into);

#endif
