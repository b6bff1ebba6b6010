/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/net: identifications of packets that may be fragmented. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <haul/build.h>

#include "base/random.h"
#include "net/ident.h"
#include "support/suite.h"

/* From the appendix of the paper, and of the program of its authors. */
START_TEST(siphash)
{
	static const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
	static const uint64_t want[] = {[0] = UINT64_C(0x726fdb47dd0e0e31),
		[1] = UINT64_C(0x74f839c593dc67fd),
		[8] = UINT64_C(0x93f5f5799a932462),
		[15] = UINT64_C(0xa129ca6149be45e5)};
	uint8_t data[16];

	for (uint8_t i = 0; i < sizeof(data); i++)
		data[i] = i;
	for (unsigned len = 0; len < 16; len++)
		if (want[len])
			ck_assert_msg(hauli_siphash(key, data, len) == want[len],
				"%u bytes: %" PRIx64, len, hauli_siphash(key, data, len));
}
END_TEST

START_TEST(each_number_once)
{
	static uint8_t seen[UINT16_MAX + 1];
	struct hauli_random r;

	hauli_random_init(&r, 1);
	for (unsigned round = 0; round < 20; round++) {
		uint64_t key = round ? hauli_random_next(&r) : 0;

		memset(seen, 0, sizeof(seen));
		for (uint32_t i = 0; i <= UINT16_MAX; i++) {
			uint32_t id = hauli_ident_hide(key, i, 16);

			/* An assertion would take longer than all else. */
			if (id > UINT16_MAX || seen[id]++)
				ck_abort_msg("%u of %u, key %" PRIx64, id, i, key);
		}
	}
}
END_TEST

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

START_TEST(wide_numbers_do_not_repeat)
{
	static uint32_t ids[200000];
	struct hauli_random r;

	hauli_random_init(&r, 2);

	uint64_t key = hauli_random_next(&r);

	for (uint32_t i = 0; i < 200000; i++)
		ids[i] = hauli_ident_hide(key, i < 100000 ? i : UINT32_MAX - i, 32);
	qsort(ids, 200000, sizeof(*ids), compare);
	for (uint32_t i = 1; i < 200000; i++)
		if (ids[i] == ids[i - 1])
			ck_abort_msg("%u twice", ids[i]);
}
END_TEST

/* Distances between numbers of a flow. */
START_TEST(no_pattern)
{
	struct haul_addr src, dst;
	uint32_t before = 0, steps[65536] = {0}, most = 0;

	haul_addr_parse(&src, "10.0.0.1");
	haul_addr_parse(&dst, "10.0.0.2");
	for (uint32_t i = 0; i < 65536; i++) {
		uint32_t id = hauli_ident(&src, &dst, 17);
		uint32_t step = (id - before) & 0xffff;

		if (id > UINT16_MAX)
			ck_abort_msg("%u", id);
		most = ++steps[step] > most ? steps[step] : most;
		before = id;
	}
	/* Even steps would be 1 each; a plain count has one of 65535. */
	ck_assert_uint_lt(most, 64);
	haul_addr_parse(&src, "fd00::1");
	ck_assert(hauli_ident(&src, &src, 17) > UINT16_MAX ||
		hauli_ident(&src, &src, 17) > UINT16_MAX);
}
END_TEST

/* All numbers of a flow, in their order, are those of no other flow. */
START_TEST(each_flow_has_an_order_of_its_own)
{
	static uint16_t order[4][65536];
	struct haul_addr a = {4, {10, 0, 0, 1}}, b = {4, {10, 0, 0, 2}}, c = {4, {10, 0, 0, 3}};

	for (uint32_t i = 0; i < 65536; i++)
		order[0][i] = (uint16_t)hauli_ident(&a, &b, 17);
	for (uint32_t i = 0; i < 65536; i++)
		order[1][i] = (uint16_t)hauli_ident(&a, &b, 1);
	for (uint32_t i = 0; i < 65536; i++)
		order[2][i] = (uint16_t)hauli_ident(&a, &c, 17);
	for (uint32_t i = 0; i < 65536; i++)
		order[3][i] = (uint16_t)hauli_ident(&c, &b, 17);
	for (unsigned x = 1; x < 4; x++)
		for (unsigned y = 0; y < x; y++) {
			unsigned same = 0;

			for (uint32_t i = 0; i < 65536; i++)
				same += order[x][i] == order[y][i];
			ck_assert_uint_lt(same, 1000);
		}
}
END_TEST

SUITE_MAIN("net_ident", {siphash}, {each_number_once}, {wide_numbers_do_not_repeat}, {no_pattern},
	{each_flow_has_an_order_of_its_own})
