/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of haul-http's parser. */
#ifndef HAUL_TESTS_HTTP_BED_H
#define HAUL_TESTS_HTTP_BED_H

#include <string.h>

#include "../../apps/haul-http/chars.h"
#include "support/guarded.h"

static inline bool bed_is(struct http_str s, const char *text)
{
	return s.n == strlen(text) && memcmp(s.at, text, s.n) == 0;
}

#endif
