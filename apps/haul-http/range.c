/* SPDX-License-Identifier: BSD-3-Clause */
#include "range.h"

/* FIRST-, FIRST-LAST or -LENGTH: from and end, of which the latter may be beyond the size. */
static bool parse(struct http_str spec, uint64_t size, uint64_t *from, uint64_t *end)
{
	const char *dash = memchr(spec.at, '-', spec.n);
	struct http_str first, last;
	uint64_t n;

	if (!dash)
		return false;
	first = (struct http_str){spec.at, (size_t)(dash - spec.at)};
	last = http_skip(spec, first.n + 1);
	*end = UINT64_MAX;
	if (first.n == 0) {
		if (!http_number(last, &n))
			return false;
		*from = n < size ? size - n : 0;
		return true;
	}
	if (!http_number(first, from))
		return false;
	if (last.n == 0)
		return true;
	if (!http_number(last, &n) || n < *from)
		return false;
	*end = n < UINT64_MAX ? n + 1 : n;
	return true;
}

int http_ranges(struct http_str value, uint64_t size, struct http_range ranges[HTTP_RANGES_MAX])
{
	static const char unit[] = "bytes=";
	struct http_str spec;
	uint64_t sum = 0;
	int n = 0;
	bool any = false;

	if (!http_starts_with(value, unit))
		return 0;
	value = http_skip(value, sizeof(unit) - 1);
	for (; http_list_next(&value, &spec); any = true) {
		uint64_t from, end;

		if (!parse(spec, size, &from, &end))
			return 0;
		if (from >= size)
			continue;
		if (end > size)
			end = size;
		if (n == HTTP_RANGES_MAX || end - from > size - sum)
			return 0;
		sum += end - from;
		ranges[n++] = (struct http_range){from, end - from};
	}
	return n > 0 ? n : any ? -416 : 0;
}
