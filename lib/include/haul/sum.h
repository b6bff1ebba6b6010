/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Internet checksum (RFC 1071) over contiguous bytes: eight bytes a step, as section 2 of the
 * RFC proposes; rte_raw_cksum() takes two. From any context.
 */
#ifndef HAUL_SUM_H
#define HAUL_SUM_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Folds a sum into 16 bits; 0 only if all that was added is zero. 0xffff: the checksum in the bytes
 * is right. A header's checksum field is the complement. */
static inline uint16_t haul_sum_fold(uint64_t sum)
{
	uint32_t high = (uint32_t)(sum >> 32), low = (uint32_t)sum + high;
	uint16_t upper, lower;

	low += low < high; /* carries */
	upper = (uint16_t)(low >> 16);
	lower = (uint16_t)(low + upper);
	return (uint16_t)(lower + (lower < upper));
}

/* The sum over len bytes, in the byte order of the packet. At most 33 bits: many of these sums can
 * be added before the result is folded. For bytes that follow an odd number of others, add
 * rte_bswap16(haul_sum_fold(sum)). */
static inline uint64_t haul_sum_bytes(const void *data, uint32_t len)
{
	const uint8_t *at = (const uint8_t *)data;
	uint64_t sum = 0, word;
	uint32_t half;
	uint16_t last = 0;

	for (; len >= sizeof(word); len -= (uint32_t)sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum += word;
		sum += sum < word; /* the carry */
	}
	sum = (sum >> 32) + (uint32_t)sum;
	if (len & 4) {
		memcpy(&half, at, sizeof(half));
		sum += half;
		at += sizeof(half);
	}
	if (len & 2) {
		memcpy(&last, at, sizeof(last));
		sum += last;
		at += sizeof(last);
		last = 0;
	}
	if (len & 1) {
		memcpy(&last, at, 1); /* the first byte of a word, in either byte order */
		sum += last;
	}
	return sum;
}

#ifdef __cplusplus
}
#endif

#endif
