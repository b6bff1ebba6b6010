/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses in texts that do not end with a zero, and prefixes of them. */
#ifndef DNS_ADDRESS_H
#define DNS_ADDRESS_H

#include <haul/build.h>

#include "wire.h"

struct dns_prefix {
	struct haul_addr address; /* 0 behind the prefix */
	uint8_t length; /* in bits */
};

/* "10.0.0.1" or "fd00::1". Returns 0, or -EINVAL. */
int dns_address_parse(struct haul_addr *address, const char *text, size_t n);

/* The same, or with "/24" behind it. Bits behind the prefix must be 0. Returns 0, or -EINVAL. */
int dns_prefix_parse(struct dns_prefix *p, const char *text, size_t n);

/* Bytes of an address of this version. */
static inline size_t dns_address_size(const struct haul_addr *address)
{
	return address->version == 4 ? 4 : 16;
}

/* The first length bits of 64. */
static inline uint64_t dns_first_bits(unsigned length)
{
	return length == 0 ? 0 : __builtin_bswap64(UINT64_MAX << (64 - length));
}

/* Clears the bits behind the first length ones. */
static inline void dns_address_mask(struct haul_addr *address, unsigned length)
{
	unsigned first = length < 64 ? length : 64;
	uint64_t words[2] = {dns_load64(address->bytes) & dns_first_bits(first),
		dns_load64(address->bytes + 8) & dns_first_bits(length - first)};

	memcpy(address->bytes, words, sizeof(words));
}

#endif
