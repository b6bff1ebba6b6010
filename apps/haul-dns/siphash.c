/* SPDX-License-Identifier: BSD-3-Clause */
#include "siphash.h"

uint64_t dns_siphash(const struct dns_secret *secret, const void *bytes, size_t n)
{
	struct dns_sip s = dns_sip_begin(secret);
	const uint8_t *at = bytes;
	uint64_t last = 0;

	for (; n - (size_t)(at - (const uint8_t *)bytes) >= 8; at += 8)
		dns_sip_take(&s, dns_load64(at), 2);
	memcpy(&last, at, n & 7);
	dns_sip_take(&s, last | (uint64_t)n << 56, 2);
	return dns_sip_end(&s, 4);
}
