/* SPDX-License-Identifier: BSD-3-Clause */
#include "chars.h"

#include <endian.h>

#define ANY (HTTP_TOKEN | HTTP_TEXT | HTTP_PATH | HTTP_QUERY | HTTP_HOST)
#define DELIM (HTTP_TEXT | HTTP_PATH | HTTP_QUERY | HTTP_HOST)

/* clang-format off */
const uint8_t http_classes[256] = {
	['\t'] = HTTP_TEXT, [' '] = HTTP_TEXT,
	['0' ... '9'] = ANY | HTTP_DIGIT, ['A' ... 'Z'] = ANY, ['a' ... 'z'] = ANY,
	['-'] = ANY, ['.'] = ANY, ['_'] = ANY, ['~'] = ANY,
	['!'] = ANY, ['$'] = ANY, ['&'] = ANY, ['\''] = ANY, ['*'] = ANY, ['+'] = ANY,
	['('] = DELIM, [')'] = DELIM, [','] = DELIM, [';'] = DELIM, ['='] = DELIM,
	['/'] = HTTP_TEXT | HTTP_PATH | HTTP_QUERY,
	[':'] = HTTP_TEXT | HTTP_PATH | HTTP_QUERY,
	['@'] = HTTP_TEXT | HTTP_PATH | HTTP_QUERY,
	['#'] = HTTP_TEXT | HTTP_TOKEN,
	['%'] = HTTP_TEXT | HTTP_TOKEN | HTTP_QUERY,
	['^'] = HTTP_TEXT | HTTP_TOKEN | HTTP_QUERY,
	['`'] = HTTP_TEXT | HTTP_TOKEN | HTTP_QUERY,
	['|'] = HTTP_TEXT | HTTP_TOKEN | HTTP_QUERY,
	['?'] = HTTP_TEXT | HTTP_QUERY, ['['] = HTTP_TEXT | HTTP_QUERY,
	['\\'] = HTTP_TEXT | HTTP_QUERY, [']'] = HTTP_TEXT | HTTP_QUERY,
	['{'] = HTTP_TEXT | HTTP_QUERY, ['}'] = HTTP_TEXT | HTTP_QUERY,
	['"'] = HTTP_TEXT, ['<'] = HTTP_TEXT, ['>'] = HTTP_TEXT,
	[0x80 ... 0xff] = HTTP_TEXT,
};
/* clang-format on */

int http_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * The highest bit of each of eight bytes that is below 0x20, or is 0x7f. It is right for the lowest
 * such byte; the bits above it may be wrong, as a difference borrows from the next byte.
 */
static uint64_t controls(uint64_t w)
{
	const uint64_t each = 0x0101010101010101, high = 0x80 * each, del = w ^ 0x7f * each;

	return (((w - 0x20 * each) & ~w) | ((del - each) & ~del)) & high;
}

size_t http_text_length(struct http_str s)
{
	size_t n = 0;

	for (;;) {
		uint64_t w, found = 0;

		for (; s.n - n >= sizeof(w); n += sizeof(w)) {
			memcpy(&w, s.at + n, sizeof(w));
			found = controls(le64toh(w));
			if (found) {
				n += (size_t)__builtin_ctzll(found) / 8;
				break;
			}
		}
		if (!found)
			return n + http_span_of(http_skip(s, n), HTTP_TEXT);
		if (s.at[n] != '\t')
			return n;
		n++;
	}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct http_str http_trim(struct http_str s)
{
	while (s.n > 0 && is_blank(s.at[0]))
		s = http_skip(s, 1);
	while (s.n > 0 && is_blank(s.at[s.n - 1]))
		s.n--;
	return s;
}

/* Not tolower(), which depends on the locale. */
static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

bool http_starts_with(struct http_str s, const char *text)
{
	for (size_t i = 0; text[i]; i++)
		if (i == s.n || lower(s.at[i]) != lower(text[i]))
			return false;
	return true;
}

bool http_is_text(struct http_str s, const char *text)
{
	return s.n == strlen(text) && http_starts_with(s, text);
}

bool http_list_next(struct http_str *list, struct http_str *element)
{
	while (list->n > 0) {
		const char *comma = memchr(list->at, ',', list->n);
		size_t n = comma ? (size_t)(comma - list->at) : list->n;

		*element = http_trim((struct http_str){list->at, n});
		*list = http_skip(*list, comma ? n + 1 : n);
		if (element->n > 0)
			return true;
	}
	return false;
}

bool http_number(struct http_str s, uint64_t *number)
{
	uint64_t sum = 0;

	if (s.n == 0 || !http_is_all(s, HTTP_DIGIT))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
			__builtin_add_overflow(sum, (uint64_t)(s.at[i] - '0'), &sum)) {
			sum = UINT64_MAX;
			break;
		}
	*number = sum;
	return true;
}
