/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets for the tests of lib/net: captured samples, mbufs without an EAL, an independent
 * checksum. */
#ifndef NET_SAMPLES_H
#define NET_SAMPLES_H

#include <rte_mbuf.h>

#include <haul/net.h>

/* A request and its reply, as bytes. */
struct net_sample {
	const char *name;
	const char *request_hex;
	const char *reply_hex;
};

extern const struct net_sample net_samples[];
extern const unsigned net_nb_samples;

/* The samples' receiver: 02:00:00:00:00:02, 10.0.0.2/24, fd00::2/64. */
extern const struct haul_net_if net_me;

struct net_bytes {
	uint8_t b[2048];
	uint32_t len;
};

struct net_bytes net_request(const char *name);
struct net_bytes net_reply(const char *name);

/* Sets the checksums of an Ethernet frame without VLAN tag: IPv4 header, ICMP, ICMPv6, UDP. Leaves
 * a checksum alone if it covers more bytes than the frame has. */
void net_fix_cksums(struct net_bytes *p);

/* True if the checksums are right and the lengths fit the frame exactly. */
bool net_cksums_right(const struct net_bytes *p);

/*
 * An mbuf on the heap whose buffer ends at the end of its data, so that a sanitizer finds each
 * access beyond; room adds that number of bytes. split > 0: a second segment begins at that offset.
 */
struct rte_mbuf *net_segment(const uint8_t *b, uint32_t len, uint16_t headroom,
	uint16_t tailroom); /* b: NULL if len is 0 */
struct rte_mbuf *net_mbuf(const struct net_bytes *p, uint32_t split, uint16_t room);
struct net_bytes net_mbuf_bytes(const struct rte_mbuf *m);
void net_mbuf_free(struct rte_mbuf *m);

/* Parses an exactly sized mbuf with p and answers it; *reply (may be NULL) receives the result. */
enum haul_verdict net_try(const struct net_bytes *p, struct net_bytes *reply);

#endif
