/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/ident.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "conc/word.h"

#define COUNTERS 1024u

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t secret[2];
static struct hauli_ticket counters[COUNTERS];

static void choose(void)
{
	/* Fails only in a sandbox that forbids it, or before the kernel has any randomness: the
	 * addresses of this process and the time are hard to guess, too. */
	if (getrandom(secret, sizeof(secret), GRND_NONBLOCK) != sizeof(secret)) {
		secret[0] = (uint64_t)(uintptr_t)&secret ^ hauli_ticks();
		secret[1] = (uint64_t)(uintptr_t)__builtin_frame_address(0) ^ (uint64_t)time(NULL);
	}
}

static uint64_t rotate(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static void rounds(uint64_t v[4], unsigned n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

/* Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012. */
uint64_t hauli_siphash(const uint64_t key[2], const void *data, size_t len)
{
	uint64_t v[4] = {key[0] ^ UINT64_C(0x736f6d6570736575),
		key[1] ^ UINT64_C(0x646f72616e646f6d), key[0] ^ UINT64_C(0x6c7967656e657261),
		key[1] ^ UINT64_C(0x7465646279746573)};
	const uint8_t *at = data;
	uint64_t word, last = (uint64_t)len << 56;

	for (; len >= sizeof(word); len -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		v[3] ^= word;
		rounds(v, 2);
		v[0] ^= word;
	}
	for (size_t i = 0; i < len; i++)
		last |= (uint64_t)at[i] << (8 * i);
	v[3] ^= last;
	rounds(v, 2);
	v[0] ^= last;
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t hauli_secret_hash(const void *data, size_t len)
{
	pthread_once(&once, choose);
	return hauli_siphash(secret, data, len);
}

/* A Feistel network of four rounds, with a quarter of the key in each. Its rounds are weak, but its
 * key is this flow's alone. */
uint32_t hauli_ident_hide(uint64_t key, uint32_t count, unsigned bits)
{
	uint32_t half = bits / 2, mask = (1u << half) - 1;
	uint32_t left = count >> half & mask, right = count & mask;

	for (unsigned i = 0; i < 4; i++) {
		uint32_t part = (uint32_t)(key >> (16 * i)) & 0xffff;
		uint32_t mixed = ((right ^ part) + part) * UINT32_C(0x9e3779b1);
		uint32_t next = left ^ (mixed >> 16 & mask);

		left = right;
		right = next;
	}
	return left << half | right;
}

uint32_t hauli_ident(const struct haul_addr *src, const struct haul_addr *dst, uint8_t proto)
{
	struct {
		struct haul_addr src, dst;
		uint8_t proto;
	} of = {*src, *dst, proto};
	_Static_assert(sizeof(of) == 2 * sizeof(*src) + 1, "no padding is hashed");

	uint64_t hash = hauli_secret_hash(&of, sizeof(of));
	uint32_t count = hauli_ticket_take(&counters[hash % COUNTERS]);

	/* The counter knows ten bits of the hash; the key is another of the same. */
	return hauli_ident_hide(
		hauli_secret_hash(&hash, sizeof(hash)), count, src->version == 4 ? 16 : 32);
}
