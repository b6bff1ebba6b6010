/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets for the tests of lib/net: what was captured, mbufs without an EAL, an own checksum. */
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

/* Sets the checksums of an Ethernet frame without VLAN tag right: IPv4 header, ICMP, ICMPv6, UDP.
 * Leaves those alone that are of more than is there. */
void net_fix_cksums(struct net_bytes *p);

/* Whether they are right; false too when the lengths do not fit the frame exactly. */
bool net_cksums_right(const struct net_bytes *p);

/*
 * An mbuf on the heap whose buffer ends where the data ends, so that a sanitizer sees each byte
 * beyond; with room, that many bytes later. split > 0: a second segment begins at that offset.
 */
struct rte_mbuf *net_mbuf(const struct net_bytes *p, uint32_t split, uint16_t room);
struct net_bytes net_mbuf_bytes(const struct rte_mbuf *m);
void net_mbuf_free(struct rte_mbuf *m);

/* Parses and answers an exactly sized mbuf with p; *reply (may be NULL) gets what became of it. */
enum haul_verdict net_try(const struct net_bytes *p, struct net_bytes *reply);

#endif
