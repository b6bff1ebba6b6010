/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes of bytes, and text in somebody else's buffer. */
#ifndef HTTP_CHARS_H
#define HTTP_CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* RFC 9110, 5.6.2 and 5.5; RFC 3986, appendix A. */
enum http_class {
	HTTP_TOKEN = 1, /* methods, names of fields */
	HTTP_TEXT = 2, /* values of fields: all but control characters, of which a tab is allowed */
	HTTP_PATH = 4, /* paths, without '%' */
	HTTP_QUERY = 8, /* what browsers send in queries: more than the RFC allows, but no '#' */
	HTTP_HOST = 16, /* names of hosts, without '%' */
	HTTP_DIGIT = 32,
};

extern const uint8_t http_classes[256];

/* Not terminated by a NUL. */
struct http_str {
	const char *at;
	size_t n;
};

#define HTTP_STR(literal)                      \
	(struct http_str)                      \
	{                                      \
		(literal), sizeof(literal) - 1 \
	}

static inline bool http_is(char c, enum http_class class)
{
	return http_classes[(unsigned char)c] & class;
}

/* The value of a hexadecimal digit, or -1. */
int http_hex(char c);

/* The number of leading bytes that are of the class. */
static inline size_t http_span_of(struct http_str s, enum http_class class)
{
	size_t n = 0;

	while (n < s.n && http_is(s.at[n], class))
		n++;
	return n;
}

/* The number of leading bytes of the class HTTP_TEXT, eight at a time: heads are mostly such. */
size_t http_text_length(struct http_str s);

static inline bool http_is_all(struct http_str s, enum http_class class)
{
	return http_span_of(s, class) == s.n;
}

static inline struct http_str http_skip(struct http_str s, size_t n)
{
	return (struct http_str){s.at + n, s.n - n};
}

/* Without blanks and tabs at both ends. */
struct http_str http_trim(struct http_str s);

/* Both without regard to the case of letters. */
bool http_is_text(struct http_str s, const char *text);
bool http_starts_with(struct http_str s, const char *text);

/* Takes the next element, trimmed, from a list that is separated by commas (RFC 9110, 5.6.1), and
 * skips empty ones. Returns false at the end of the list. Not for lists with quoted strings. */
bool http_list_next(struct http_str *list, struct http_str *element);

/* Digits only, at least one. A number above UINT64_MAX becomes UINT64_MAX. */
bool http_number(struct http_str s, uint64_t *number);

#endif
