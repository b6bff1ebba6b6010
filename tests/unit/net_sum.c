/* SPDX-License-Identifier: BSD-3-Clause */
/* The Internet checksum: against a byte by byte sum, for all lengths, alignments and carries. */
#include <stdlib.h>

#include <haul/sum.h>

#include "support/suite.h"

#define LONGEST 200

static uint8_t bytes[LONGEST + 8];

/* As RFC 1071 defines it: 16-bit words in network byte order, a zero byte after an odd last one. */
static uint16_t expected(const uint8_t *data, unsigned len)
{
	uint32_t sum = 0;
	uint8_t both[2];
	uint16_t as_stored;

	for (unsigned i = 0; i < len; i++)
		sum += i & 1 ? data[i] : (uint32_t)data[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	both[0] = (uint8_t)(sum >> 8);
	both[1] = (uint8_t)sum;
	memcpy(&as_stored, both, sizeof(as_stored));
	return as_stored;
}

static void fill(int kind)
{
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = kind == 0 ? 0 : kind == 1 ? 0xff : (uint8_t)rand();
}

START_TEST(a_sum_is_that_of_the_rfc)
{
	fill(_i);
	for (unsigned off = 0; off < 8; off++)
		for (unsigned len = 0; len <= LONGEST; len++)
			ck_assert_uint_eq(haul_sum_fold(haul_sum_bytes(bytes + off, len)),
				expected(bytes + off, len));
}
END_TEST

START_TEST(sums_of_parts_add_up)
{
	fill(2);
	for (unsigned cut = 0; cut <= LONGEST; cut += 2)
		ck_assert_uint_eq(haul_sum_fold(haul_sum_bytes(bytes, cut) +
					  haul_sum_bytes(bytes + cut, LONGEST - cut)),
			expected(bytes, LONGEST));
}
END_TEST

START_TEST(carries_are_folded)
{
	static const struct {
		uint64_t sum;
		uint16_t folded;
	} cases[] = {{0, 0}, {1, 1}, {0xffff, 0xffff}, {0x10000, 1}, {0x1fffe, 0xffff},
		{UINT32_MAX, 0xffff}, {UINT64_C(1) << 32, 1}, {UINT64_MAX, 0xffff},
		{UINT64_MAX - 1, 0xfffe}, {UINT64_C(0xffff0000ffff0001), 1}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_uint_eq(haul_sum_fold(cases[i].sum), cases[i].folded);
}
END_TEST

SUITE_MAIN("net_sum", {a_sum_is_that_of_the_rfc, 8}, {sums_of_parts_add_up}, {carries_are_folded})
