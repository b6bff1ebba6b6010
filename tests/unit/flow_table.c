/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of flows, compared with a list of what was added. */
#include <string.h>

#include "base/random.h"
#include "host/table.h"
#include "support/suite.h"

#define MOST 3000
#define STEPS 60000

struct one {
	struct hauli_flow_link link;
	bool in;
	bool seen;
};

static struct one all[MOST];
static struct hauli_flow_table t;

/* Keys that differ in one place only: ports, protocol, version, each address. */
static void make_key(struct hauli_flow_key *key, unsigned i)
{
	uint8_t local[16] = {0}, remote[16] = {0};
	unsigned v = i / 6 + 1;
	uint16_t ports[2] = {0, 0};

	switch (i % 6) {
	case 0:
		ports[0] = (uint16_t)v;
		break;
	case 1:
		ports[1] = (uint16_t)v;
		break;
	case 2:
		memcpy(local, &v, sizeof(v));
		break;
	case 3:
		memcpy(remote, &v, sizeof(v));
		break;
	case 4:
		memcpy(local + 12, &v, sizeof(v));
		break;
	default:
		memcpy(remote + 12, &v, sizeof(v));
		break;
	}
	/* With IPv4 the last two would all be the same. */
	hauli_flow_key_set(
		key, i % 6 >= 4 || v % 2, v % 3 ? 17 : 1, local, ports[0], remote, ports[1]);
}

static void start(size_t n)
{
	memset(all, 0, sizeof(all));
	for (unsigned i = 0; i < MOST; i++)
		make_key(&all[i].link.key, i);
	ck_assert_int_eq(hauli_flow_table_init(&t, n), 0);
}

static void toggle(struct one *one)
{
	if (one->in)
		hauli_flow_table_remove(&t, &one->link);
	else
		ASSERT_EACH(hauli_flow_table_add(&t, &one->link) == 0);
	one->in = !one->in;
}

static void is_right(struct one *one)
{
	struct hauli_flow_key key = one->link.key;

	ASSERT_EACH(hauli_flow_table_find(&t, &key) == (one->in ? &one->link : NULL));
}

static void all_are_right(void)
{
	uint64_t used = 0;

	for (unsigned i = 0; i < MOST; i++) {
		is_right(&all[i]);
		used += all[i].in;
	}
	ck_assert_uint_eq(t.used, used);
}

START_TEST(keys_have_what_they_were_made_of)
{
	uint8_t local[16], remote[16];
	struct hauli_flow_key key;
	unsigned n = _i ? 16 : 4;

	for (unsigned i = 0; i < 16; i++) {
		local[i] = (uint8_t)(i + 1);
		remote[i] = (uint8_t)(i + 101);
	}
	hauli_flow_key_set(&key, _i, 17, local, 65535, remote, 53);
	ck_assert_uint_eq(hauli_flow_local_port(&key), 65535);
	ck_assert_uint_eq(hauli_flow_remote_port(&key), 53);
	ck_assert_uint_eq(hauli_flow_protocol(&key), 17);
	ck_assert_int_eq(hauli_flow_is_ip6(&key), _i);
	ck_assert_mem_eq(hauli_flow_local(&key), local, n);
	ck_assert_mem_eq(hauli_flow_remote(&key), remote, n);
}
END_TEST

START_TEST(a_key_with_another_byte_is_another)
{
	uint8_t local[16] = {1}, remote[16] = {2};
	struct hauli_flow_key key, other;

	hauli_flow_key_set(&key, true, 17, local, 1000, remote, 53);
	for (unsigned i = 0; i < sizeof(key); i++) {
		other = key;
		((uint8_t *)&other)[i] ^= 4; /* not the bit that says IPv6 */
		ck_assert(!hauli_flow_key_equal(&key, &other));
		ck_assert(!hauli_flow_key_equal(&other, &key));
	}
	other = key;
	ck_assert(hauli_flow_key_equal(&key, &other));
}
END_TEST

START_TEST(random_flows_come_and_go)
{
	struct hauli_random random;
	/* Of few, of many, and of some that come and go while others stay. */
	unsigned most = (unsigned[]){40, MOST, 400}[_i % 3];

	hauli_random_init(&random, 1 + (uint64_t)_i);
	start(_i % 2 ? 0 : most);
	for (unsigned i = 0; i < STEPS; i++) {
		struct one *one = &all[hauli_random_below(&random, most)];

		is_right(one);
		toggle(one);
		is_right(one);
		if (i % (STEPS / 20) == 0)
			all_are_right();
	}
	all_are_right();
	hauli_flow_table_fini(&t);
}
END_TEST

START_TEST(a_walk_sees_each_and_may_remove_it)
{
	struct hauli_flow_link *link;
	struct hauli_random random;
	uint64_t at = 0;

	hauli_random_init(&random, 100 + (uint64_t)_i);
	start(0);
	for (unsigned i = 0; i < MOST; i += 1 + hauli_random_below(&random, 5))
		toggle(&all[i]);
	do {
		while ((link = hauli_flow_table_walk(&t, &at, 10)) != NULL) {
			struct one *one = (struct one *)link;

			ASSERT_EACH(one->in);
			one->seen = true;
			if (hauli_random_below(&random, 2)) {
				toggle(one);
				hauli_flow_table_back(&at);
			}
		}
	} while (at != 0);
	for (unsigned i = 0; i < MOST; i++)
		ASSERT_EACH(!all[i].in || all[i].seen);
	all_are_right();
	hauli_flow_table_fini(&t);
}
END_TEST

/* Who knows neither secret nor table cannot fill one place: remote addresses and ports in a row
 * lie as scattered as random ones. */
START_TEST(flows_in_a_row_are_scattered)
{
	uint64_t far = 0;

	start(MOST);
	for (unsigned i = 0; i < MOST; i++)
		toggle(&all[i]);
	for (uint64_t i = 0; i <= t.mask; i++)
		if (t.slots[i].link)
			far += (i - t.slots[i].hash) & t.mask;
	/* With half of the slots used, linear probing passes by half a slot on average. */
	ck_assert_uint_lt(far, 2 * MOST);
	hauli_flow_table_fini(&t);
}
END_TEST

SUITE_MAIN("flow_table", {keys_have_what_they_were_made_of, 2},
	{a_key_with_another_byte_is_another, 1}, {random_flows_come_and_go, 12},
	{a_walk_sees_each_and_may_remove_it, 8}, {flows_in_a_row_are_scattered, 20})
