/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identifications of packets that may be fragmented. The fragments of a packet are known by the two
 * addresses, the protocol and this number, so it should not come again while fragments of an
 * earlier packet may arrive (RFC 6864), and nobody else may guess it, or he could add fragments of
 * his own (RFC 7739).
 *
 * The number is a count that a permutation hides. A keyed hash of addresses and protocol
 * (SipHash-2-4) gives the permutation, and chooses one of many counters. So each flow gets all
 * numbers before one comes again, unless others share its counter; whoever sees those of his own
 * flow learns nothing about another's, nor how fast its counter runs. Any thread; the counters are
 * shared by all threads, and fragments are rare.
 */
#ifndef HAULI_NET_IDENT_H
#define HAULI_NET_IDENT_H

#include <haul/build.h>

/* 16 bits for IPv4, 32 for IPv6. */
uint32_t hauli_ident(const struct haul_addr *src, const struct haul_addr *dst, uint8_t proto);

/* A hash that nobody can foresee, so nobody can make others collide: for tables. */
uint64_t hauli_secret_hash(const void *data, size_t len);

/* For tests: the permutation alone, of 16 or 32 bits. */
uint32_t hauli_ident_hide(uint64_t key, uint32_t count, unsigned bits);
/* For tests: SipHash-2-4. */
uint64_t hauli_siphash(const uint64_t key[2], const void *data, size_t len);

#endif
