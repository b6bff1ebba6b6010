/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sum of the Internet checksum (RFC 1071) over bytes that lie together. Eight bytes a step, as
 * section 2 of the RFC proposes; rte_raw_cksum() takes two.
 */
#ifndef HAULI_NET_SUM_H
#define HAULI_NET_SUM_H

#include <stdint.h>
#include <string.h>

/* Folds a sum into 16 bits; 0 only if all that was added is zero. */
static inline uint16_t hauli_sum_fold(uint64_t sum)
{
	sum = (sum >> 32) + (uint32_t)sum;
	sum = (sum >> 16) + (uint16_t)sum; /* at most 18 bits */
	sum = (sum >> 16) + (uint16_t)sum;
	return (uint16_t)((sum >> 16) + (uint16_t)sum);
}

/* At most 33 bits: many of these sums can be added before the result is folded. */
static inline uint64_t hauli_sum_bytes(const void *data, uint32_t len)
{
	const uint8_t *at = data;
	uint64_t sum = 0, word;
	uint32_t half;
	uint16_t last = 0;

	for (; len >= sizeof(word); len -= sizeof(word), at += sizeof(word)) {
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

#endif
