/* SPDX-License-Identifier: BSD-3-Clause */
/* The field Range (RFC 9110, 14). */
#ifndef HTTP_RANGE_H
#define HTTP_RANGE_H

#include "chars.h"

enum { HTTP_RANGES_MAX = 16 };

struct http_range {
	uint64_t from, n; /* bytes; n > 0 */
};

/*
 * The ranges of something of size bytes that the field asks for; they may overlap, and come as
 * asked for. Returns their number, 0 if the field is to be ignored, or -416 if there is none of
 * them. Ignored is what is wrong or of another unit, and, as it is an attack or a mistake, what has
 * more than HTTP_RANGES_MAX ranges, or more bytes than all.
 */
int http_ranges(struct http_str value, uint64_t size, struct http_range ranges[HTTP_RANGES_MAX]);

#endif
