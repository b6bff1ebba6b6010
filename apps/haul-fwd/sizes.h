/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of generated frames: a list in turn, the mix of RFC 6985's "simple IMIX", or a range. */
#ifndef FWD_SIZES_H
#define FWD_SIZES_H

#include <stddef.h>
#include <stdint.h>

#define SIZES_MAX 16

struct sizes {
	uint16_t list[SIZES_MAX]; /* used in turn */
	unsigned n;
	uint16_t from, to; /* if n is 0: random in this range */
};

/* Parses "64,512,...", "imix" or "A-B"; NULL: the shortest. least, most: of possible frames. Sizes
 * of imix below least become least. Returns 0, or -EINVAL with the mistake in errbuf. */
int sizes_parse(struct sizes *sizes, const char *text, uint16_t least, uint16_t most, char *errbuf,
	size_t errlen);

/* The size of frame number i, with a random number for ranges. */
static inline uint16_t sizes_pick(const struct sizes *s, uint64_t i, uint64_t random)
{
	if (s->n == 1)
		return s->list[0];
	if (s->n > 0)
		return s->list[i % s->n];
	return (uint16_t)(s->from + (((random >> 32) * (s->to - s->from + 1u)) >> 32));
}

#endif
