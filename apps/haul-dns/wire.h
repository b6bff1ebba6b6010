/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of the DNS (RFC 1035, and the registry of IANA), and bytes in network order. */
#ifndef DNS_WIRE_H
#define DNS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Sizes in bytes. */
enum {
	DNS_HEADER = 12,
	DNS_LABEL_MAX = 63,
	DNS_NAME_MAX = 255, /* with its last, empty label */
	DNS_MESSAGE_MAX = 65535,
	DNS_UDP_PLAIN = 512, /* without EDNS */
	DNS_UDP_SAFE = 1232, /* not fragmented anywhere: DNS flag day 2020 */
	DNS_OPT = 11, /* without options */
};

/* The second 16 bits of a header. */
enum {
	DNS_QR = 0x8000,
	DNS_OPCODE = 0x7800,
	DNS_AA = 0x0400,
	DNS_TC = 0x0200,
	DNS_RD = 0x0100,
	DNS_RA = 0x0080,
	DNS_AD = 0x0020,
	DNS_CD = 0x0010,
	DNS_RCODE = 0x000f,
};

enum dns_rcode {
	DNS_NOERROR = 0,
	DNS_FORMERR = 1,
	DNS_SERVFAIL = 2,
	DNS_NXDOMAIN = 3,
	DNS_NOTIMP = 4,
	DNS_REFUSED = 5,
	DNS_YXDOMAIN = 6,
	DNS_BADVERS = 16, /* from here on EDNS carries the upper bits */
	DNS_BADCOOKIE = 23,
};

enum dns_type {
	DNS_A = 1,
	DNS_NS = 2,
	DNS_CNAME = 5,
	DNS_SOA = 6,
	DNS_PTR = 12,
	DNS_HINFO = 13,
	DNS_MX = 15,
	DNS_TXT = 16,
	DNS_SIG = 24,
	DNS_AAAA = 28,
	DNS_SRV = 33,
	DNS_NAPTR = 35,
	DNS_DNAME = 39,
	DNS_OPT_TYPE = 41,
	DNS_RRSIG = 46,
	DNS_NSEC = 47,
	DNS_NSEC3 = 50,
	DNS_HTTPS = 65,
	DNS_TSIG = 250,
	DNS_IXFR = 251,
	DNS_AXFR = 252,
	DNS_ANY = 255,
};

enum { DNS_IN = 1, DNS_CH = 3, DNS_CLASS_NONE = 254, DNS_CLASS_ANY = 255 };

enum { DNS_OPTION_COOKIE = 10, DNS_OPTION_EDE = 15 };

/* RFC 8914: why an answer is as it is. */
enum dns_ede {
	DNS_EDE_OTHER = 0,
	DNS_EDE_STALE = 3,
	DNS_EDE_CACHED_ERROR = 13,
	DNS_EDE_PROHIBITED = 18,
	DNS_EDE_NO_REACHABLE = 22,
	DNS_EDE_NETWORK = 23,
	DNS_EDE_NONE = 65535, /* no option */
};

static inline uint16_t dns_get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap16(v);
}

static inline uint32_t dns_get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}

static inline void dns_put16(uint8_t *p, unsigned v)
{
	uint16_t swapped = __builtin_bswap16((uint16_t)v);

	memcpy(p, &swapped, sizeof(swapped));
}

static inline void dns_put32(uint8_t *p, uint32_t v)
{
	uint32_t swapped = __builtin_bswap32(v);

	memcpy(p, &swapped, sizeof(swapped));
}

/* In the order of the host, which is little-endian here. */
static inline uint64_t dns_load64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "dns_get16() and others swap");

#endif
