/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often names were asked for, of all names in bounded memory: a count-min sketch (Cormode,
 * Muthukrishnan 2005). A name has four counters of four bits in a cache line, and was asked for no
 * more often than the least of them says. All are halved as time goes on: a word for every eight
 * additions, so that no call takes long.
 */
#ifndef DNS_SKETCH_H
#define DNS_SKETCH_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	DNS_SKETCH_MAX = 15,
	DNS_SKETCH_ROWS = 4,
	DNS_SKETCH_LINE = 8, /* words of 16 counters */
	DNS_SKETCH_PERIOD = 8, /* additions until another word is halved */
};

struct dns_sketch {
	uint64_t *words;
	uint64_t mask; /* of lines */
	uint64_t added;
};

/* Of n words, a power of two, at least DNS_SKETCH_LINE. Returns 0 or -ENOMEM. */
static inline int dns_sketch_init(struct dns_sketch *s, uint64_t n)
{
	s->words = aligned_alloc(64, n * sizeof(*s->words));
	if (!s->words)
		return -ENOMEM;
	memset(s->words, 0, n * sizeof(*s->words));
	s->mask = n / DNS_SKETCH_LINE - 1;
	s->added = 0;
	return 0;
}

static inline void dns_sketch_fini(struct dns_sketch *s)
{
	free(s->words);
}

/* Where the counter of a row is: one of two words of the name's line. */
static inline uint64_t *dns_sketch_word(
	const struct dns_sketch *s, uint64_t hash, unsigned row, unsigned *shift)
{
	unsigned bits = (unsigned)(hash >> (32 + 5 * row));

	*shift = (bits & 15) * 4;
	return &s->words[(hash & s->mask) * DNS_SKETCH_LINE + 2 * row + (bits >> 4 & 1)];
}

/* How often the name was asked for lately, at most. */
static inline unsigned dns_sketch_get(const struct dns_sketch *s, uint64_t hash)
{
	unsigned least = DNS_SKETCH_MAX;

	for (unsigned row = 0; row < DNS_SKETCH_ROWS; row++) {
		unsigned shift, n;
		const uint64_t *word = dns_sketch_word(s, hash, row, &shift);

		n = (unsigned)(*word >> shift) & 15;
		least = n < least ? n : least;
	}
	return least;
}

/* Once more. Only counters that are least grow: the others count other names, too. */
static inline void dns_sketch_add(struct dns_sketch *s, uint64_t hash)
{
	unsigned least = dns_sketch_get(s, hash);

	for (unsigned row = 0; least < DNS_SKETCH_MAX && row < DNS_SKETCH_ROWS; row++) {
		unsigned shift;
		uint64_t *word = dns_sketch_word(s, hash, row, &shift);

		if ((*word >> shift & 15) == least)
			*word += UINT64_C(1) << shift;
	}
	if (++s->added % DNS_SKETCH_PERIOD == 0) {
		uint64_t *word =
			&s->words[s->added / DNS_SKETCH_PERIOD % ((s->mask + 1) * DNS_SKETCH_LINE)];

		*word = *word >> 1 & UINT64_C(0x7777777777777777);
	}
}

#endif
