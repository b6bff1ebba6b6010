/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-http's small parsers under libFuzzer: the first byte of an input says which. The inputs are
 * on the heap and end where they end, so that ASan sees what is read beyond. */
#include <stdio.h>
#include <stdlib.h>

#include "../../apps/haul-http/condition.h"
#include "../../apps/haul-http/date.h"
#include "../../apps/haul-http/path.h"
#include "../../apps/haul-http/range.h"

#define CHECK(condition)                                                   \
	do {                                                               \
		if (!(condition)) {                                        \
			fprintf(stderr, "%d: %s\n", __LINE__, #condition); \
			abort();                                           \
		}                                                          \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void path(struct http_str s)
{
	char name[256];
	ssize_t n = http_path_decode(s, name, s.n % 2 ? sizeof(name) : 16);

	if (n < 0)
		return;
	CHECK(strlen(name) == (size_t)n && name[0] != '/' && !strstr(name, "//"));
	CHECK(strncmp(name, "../", 3) != 0 && !strstr(name, "/../") && strcmp(name, "..") != 0);
	CHECK(n < 3 || strcmp(name + n - 3, "/..") != 0);
}

static void range(struct http_str s)
{
	struct http_range ranges[HTTP_RANGES_MAX];
	uint64_t size, sum = 0;
	int n;

	if (s.n < sizeof(size))
		return;
	memcpy(&size, s.at, sizeof(size));
	n = http_ranges(http_skip(s, sizeof(size)), size, ranges);
	CHECK(n <= HTTP_RANGES_MAX && (n >= 0 || n == -416));
	for (int i = 0; i < n; i++) {
		CHECK(ranges[i].n > 0 && ranges[i].from < size);
		CHECK(ranges[i].n <= size - ranges[i].from && ranges[i].n <= size - sum);
		sum += ranges[i].n;
	}
}

static void date(struct http_str s)
{
	char text[HTTP_DATE_LENGTH];
	int64_t seconds, again, now;

	if (s.n < sizeof(now))
		return;
	memcpy(&now, s.at, sizeof(now));
	now = now >> 28 & INT64_C(0xffffffff);
	if (!http_date_parse(http_skip(s, sizeof(now)), now, &seconds))
		return;
	http_date_print(text, seconds);
	CHECK(http_date_parse((struct http_str){text, sizeof(text)}, now, &again));
	CHECK(again == seconds);
}

static void condition(struct http_str s)
{
	const struct http_version version = {HTTP_STR("\"a\""), 784111777};
	struct http_head h;
	int status;

	http_request_init(&h, NULL);
	if (http_head_parse(&h, s.at, s.n) <= 0)
		return;
	status = http_condition(&h, &version, version.modified + 1);
	CHECK(status == 200 || status == 304 || status == 412);
	CHECK(http_range_wanted(&h, &version, version.modified + 1).n <= s.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct http_str s = {(const char *)data + 1, size - 1};

	if (size == 0)
		return 0;
	switch (data[0] % 4) {
	case 0:
		path(s);
		break;
	case 1:
		range(s);
		break;
	case 2:
		date(s);
		break;
	default:
		condition(s);
	}
	return 0;
}
