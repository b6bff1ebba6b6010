/* SPDX-License-Identifier: BSD-3-Clause */
#include "path.h"

/* The byte that the path begins with, or -400; *n: the bytes that it takes there. */
static int decode(struct http_str path, size_t *n)
{
	int high, low;

	*n = 1;
	if (path.at[0] != '%')
		return (unsigned char)path.at[0];
	if (path.n < 3)
		return -400;
	high = http_hex(path.at[1]);
	low = http_hex(path.at[2]);
	if (high < 0 || low < 0)
		return -400;
	*n = 3;
	return high << 4 | low;
}

static bool is_hidden(struct http_str segment, bool is_first)
{
	static const char known[] = ".well-known";

	if (segment.at[0] != '.')
		return false;
	return !is_first || segment.n != sizeof(known) - 1 ||
		memcmp(segment.at, known, segment.n) != 0;
}

static bool is_dots(struct http_str segment, size_t n)
{
	return segment.n == n && memcmp(segment.at, "..", n) == 0;
}

/* name has the segments before, each with a '/', and then this one. Returns the new length. */
static ssize_t end_segment(char *name, size_t begin, size_t end, bool is_last)
{
	const struct http_str segment = {name + begin, end - begin};

	if (segment.n == 0 || is_dots(segment, 1))
		return (ssize_t)begin;
	if (is_dots(segment, 2)) {
		if (begin == 0)
			return -400;
		for (begin--; begin > 0 && name[begin - 1] != '/'; begin--)
			continue;
		return (ssize_t)begin;
	}
	if (is_hidden(segment, begin == 0))
		return -404;
	if (!is_last)
		name[end++] = '/';
	return (ssize_t)end;
}

ssize_t http_path_decode(struct http_str path, char *name, size_t max)
{
	size_t begin = 0, end = 0, n;
	ssize_t rc;

	for (; path.n > 0; path = http_skip(path, n)) {
		const bool is_separator = path.at[0] == '/';
		int c = decode(path, &n);

		/* Space for this byte, and for the NUL. */
		if (end + 2 > max)
			return -414;
		if (is_separator) {
			rc = end_segment(name, begin, end, false);
			if (rc < 0)
				return rc;
			begin = end = (size_t)rc;
			continue;
		}
		if (c <= 0)
			return -400;
		if (c == '/')
			return -404;
		name[end++] = (char)c;
	}
	if (max == 0)
		return -414;
	rc = end_segment(name, begin, end, true);
	if (rc >= 0)
		name[rc] = '\0';
	return rc;
}
