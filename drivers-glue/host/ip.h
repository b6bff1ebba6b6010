/* SPDX-License-Identifier: BSD-3-Clause */
/* IP addresses as numbers of 128 bits: an IPv4 address is IPv4-mapped (RFC 4291, 2.5.5.2), so
 * that the two versions share tables. No IPv6 packet may have such an address, so none becomes one
 * of these numbers. */
#ifndef HAULI_HOST_IP_H
#define HAULI_HOST_IP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <haul/build.h>

struct hauli_ip {
	uint64_t hi, lo;
};

#define HAULI_IP4_MAPPED UINT64_C(0xffff00000000)
#define HAULI_IP4_LENGTH 96u /* of the prefix of all IPv4 addresses */

static inline uint64_t hauli_ip_half(const void *bytes)
{
	uint64_t half;

	memcpy(&half, bytes, sizeof(half));
	return __builtin_bswap64(half);
}

static inline struct hauli_ip hauli_ip4(const void *bytes)
{
	uint32_t ip;

	memcpy(&ip, bytes, sizeof(ip));
	return (struct hauli_ip){0, HAULI_IP4_MAPPED | __builtin_bswap32(ip)};
}

static inline bool hauli_ip_is_4(struct hauli_ip ip)
{
	return ip.hi == 0 && ip.lo >> 32 == HAULI_IP4_MAPPED >> 32;
}

/* True if the 16 bytes of an IPv6 address are those of an IPv4-mapped one. */
static inline bool hauli_ip6_is_mapped(const void *bytes)
{
	return hauli_ip_is_4(
		(struct hauli_ip){hauli_ip_half(bytes), hauli_ip_half((const char *)bytes + 8)});
}

/* An IPv4-mapped address becomes ::1, to which no packet goes either. */
static inline struct hauli_ip hauli_ip6(const void *bytes)
{
	if (__builtin_expect(hauli_ip6_is_mapped(bytes), 0))
		return (struct hauli_ip){0, 1};
	return (struct hauli_ip){hauli_ip_half(bytes), hauli_ip_half((const char *)bytes + 8)};
}

/* bytes: 4 or 16, in network order. */
static inline struct hauli_ip hauli_ip_of(uint8_t version, const void *bytes)
{
	return version == 4 ? hauli_ip4(bytes) : hauli_ip6(bytes);
}

static inline struct hauli_ip hauli_ip_of_addr(const struct haul_addr *addr)
{
	return hauli_ip_of(addr->version, addr->bytes);
}

static inline bool hauli_ip_equal(struct hauli_ip a, struct hauli_ip b)
{
	return a.hi == b.hi && a.lo == b.lo;
}

static inline bool hauli_ip_is_below(struct hauli_ip a, struct hauli_ip b)
{
	return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}

static inline struct haul_addr hauli_ip_addr(struct hauli_ip ip)
{
	uint64_t halves[2] = {__builtin_bswap64(ip.hi), __builtin_bswap64(ip.lo)};

	return hauli_ip_is_4(ip) ? haul_addr_from(4, (const char *)halves + 12)
				 : haul_addr_from(6, halves);
}

/* fe80::/10: each link has such addresses, so one without a port says nothing. */
static inline bool hauli_ip_is_link_local(struct hauli_ip ip)
{
	return ip.hi >> 54 == 0x3fa;
}

/* The bits of a number that lie behind a prefix of length bits, 0 to 128. */
static inline struct hauli_ip hauli_ip_host_bits(unsigned length)
{
	return (struct hauli_ip){length < 64 ? UINT64_MAX >> length : 0,
		length <= 64           ? UINT64_MAX
			: length < 128 ? UINT64_MAX >> (length - 64)
				       : 0};
}

/* True if the two share a prefix of length bits. */
static inline bool hauli_ip_within(struct hauli_ip a, struct hauli_ip b, unsigned length)
{
	struct hauli_ip host = hauli_ip_host_bits(length);

	return ((a.hi ^ b.hi) & ~host.hi) == 0 && ((a.lo ^ b.lo) & ~host.lo) == 0;
}

#endif
