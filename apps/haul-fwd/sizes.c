/* SPDX-License-Identifier: BSD-3-Clause */
#include "sizes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 7 frames of 64 bytes, 4 of 594, 1 of 1518, without FCS, spread evenly. */
static const struct sizes imix = {
	.list = {60, 590, 60, 60, 590, 60, 1514, 60, 590, 60, 60, 590}, .n = 12};

/* Returns the end, or NULL. */
static const char *parse_one(const char *text, uint16_t *size)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || n > UINT16_MAX)
		return NULL;
	*size = (uint16_t)n;
	return end;
}

/* False: not a list or a range. */
static bool parse(struct sizes *s, const char *text)
{
	const char *at = parse_one(text, &s->from);

	if (at && *at == '-') {
		at = parse_one(at + 1, &s->to);
		return at && !*at && s->from <= s->to;
	}
	for (at = text; s->n < SIZES_MAX; at++) {
		at = parse_one(at, &s->list[s->n]);
		if (!at || (*at && *at != ','))
			return false;
		s->n++;
		if (!*at)
			return true;
	}
	return false;
}

static void find_extremes(const struct sizes *s, uint16_t *least, uint16_t *most)
{
	*least = s->n > 0 ? s->list[0] : s->from;
	*most = s->n > 0 ? s->list[0] : s->to;
	for (unsigned i = 1; i < s->n; i++) {
		*least = s->list[i] < *least ? s->list[i] : *least;
		*most = s->list[i] > *most ? s->list[i] : *most;
	}
}

int sizes_parse(struct sizes *s, const char *text, uint16_t least, uint16_t most, char *errbuf,
	size_t errlen)
{
	uint16_t smallest, largest;

	memset(s, 0, sizeof(*s));
	if (!text) {
		s->list[s->n++] = least;
		return 0;
	}
	if (strcmp(text, "imix") == 0) {
		*s = imix;
		for (unsigned i = 0; i < s->n; i++)
			s->list[i] = s->list[i] < least ? least : s->list[i];
		return 0;
	}
	if (!parse(s, text)) {
		snprintf(errbuf, errlen,
			"--sizes %s: give sizes such as 64,512 (at most %u), a range such as "
			"64-1514, or imix",
			text, SIZES_MAX);
		return -EINVAL;
	}
	find_extremes(s, &smallest, &largest);
	if (smallest >= least && largest <= most)
		return 0;
	snprintf(errbuf, errlen,
		"--sizes %s: with these headers and a stamp, frames have %u to %u bytes, without "
		"FCS",
		text, least, most);
	return -EINVAL;
}
