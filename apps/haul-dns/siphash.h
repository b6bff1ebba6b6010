/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SipHash (Aumasson, Bernstein, INDOCRYPT 2012): a hash with a secret key. Whoever does not know
 * the key cannot choose names that collide in a table, nor make a cookie. With 1 and 3 rounds for
 * tables, with 2 and 4 for cookies (RFC 9018).
 */
#ifndef DNS_SIPHASH_H
#define DNS_SIPHASH_H

#include "wire.h"

struct dns_secret {
	uint64_t k[2];
};

struct dns_sip {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t dns_rotate(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static inline struct dns_sip dns_sip_begin(const struct dns_secret *secret)
{
	return (struct dns_sip){
		secret->k[0] ^ UINT64_C(0x736f6d6570736575),
		secret->k[1] ^ UINT64_C(0x646f72616e646f6d),
		secret->k[0] ^ UINT64_C(0x6c7967656e657261),
		secret->k[1] ^ UINT64_C(0x7465646279746573),
	};
}

static inline void dns_sip_round(struct dns_sip *s)
{
	s->v0 += s->v1;
	s->v1 = dns_rotate(s->v1, 13) ^ s->v0;
	s->v0 = dns_rotate(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = dns_rotate(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = dns_rotate(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = dns_rotate(s->v1, 17) ^ s->v2;
	s->v2 = dns_rotate(s->v2, 32);
}

static inline void dns_sip_take(struct dns_sip *s, uint64_t word, unsigned rounds)
{
	s->v3 ^= word;
	for (unsigned i = 0; i < rounds; i++)
		dns_sip_round(s);
	s->v0 ^= word;
}

static inline uint64_t dns_sip_end(struct dns_sip *s, unsigned rounds)
{
	s->v2 ^= 0xff;
	for (unsigned i = 0; i < rounds; i++)
		dns_sip_round(s);
	return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

/* SipHash-2-4 of n bytes. */
uint64_t dns_siphash(const struct dns_secret *secret, const void *bytes, size_t n);

#endif
