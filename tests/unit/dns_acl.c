/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dns: who may ask: by hand, and random lists against a search through all prefixes. */
#include "../../apps/haul-dns/acl.h"

#include <errno.h>

#include "dns_bed.h"

static struct dns_acl *acl;

static int parse(const char *text, size_t *wrong)
{
	size_t n = strlen(text);

	return dns_acl_parse(&acl, (const char *)bed_copy(text, n), n, wrong);
}

static bool allows(const char *client)
{
	struct haul_addr address;

	ck_assert_int_eq(dns_address_parse(&address, client, strlen(client)), 0);
	return dns_acl_allows(acl, &address);
}

START_TEST(the_longest_prefix_counts)
{
	size_t wrong;

	ck_assert_int_eq(
		parse("10.0.0.0/8, !10.6.0.0/16 10.6.6.0/24\n# 1.1.1.1\n::1,fd00::/8#x", &wrong),
		0);
	ck_assert(allows("10.0.0.0") && allows("10.255.255.255") && allows("10.6.6.6"));
	ck_assert(!allows("10.6.0.0") && !allows("10.6.255.255") && !allows("11.0.0.0"));
	ck_assert(!allows("9.255.255.255") && !allows("1.1.1.1"));
	ck_assert(allows("::1") && allows("fd12::") && !allows("::") && !allows("fe00::"));
	dns_acl_free(acl);
	ck_assert_int_eq(parse("", &wrong), 0);
	ck_assert(!allows("10.0.0.1") && !allows("::"));
	dns_acl_free(acl);
}
END_TEST

/* ::/0 has no IPv4, 0.0.0.0/0 no IPv6 that begins alike. */
START_TEST(all_of_one_kind)
{
	size_t wrong;

	ck_assert_int_eq(parse("::/0", &wrong), 0);
	ck_assert(allows("::") && allows("fd00::1") && !allows("0.0.0.0") && !allows("10.0.0.1"));
	dns_acl_free(acl);
	ck_assert_int_eq(parse("0.0.0.0/0", &wrong), 0);
	ck_assert(!allows("::") && !allows("fd00::1") && allows("10.0.0.1"));
	dns_acl_free(acl);
	ck_assert_int_eq(parse("::/0 !0.0.0.0/0", &wrong), 0);
	ck_assert(allows("fd00::1") && allows("::2:0:0:0") && !allows("10.0.0.1"));
	dns_acl_free(acl);
}
END_TEST

START_TEST(wrong_lists)
{
	size_t wrong = 99;

	ck_assert_int_eq(parse("10.0.0.0/8 x", &wrong), -EINVAL);
	ck_assert_uint_eq(wrong, 11);
	ck_assert_int_eq(parse("!", &wrong), -EINVAL);
	ck_assert_int_eq(parse("10.0.0.1/8", &wrong), -EINVAL);
	ck_assert_int_eq(parse("::1 10.0.0.0/8 fd00::/8,!10.0.0.0/8", &wrong), -EINVAL);
	ck_assert_uint_eq(wrong, 24);
}
END_TEST

START_TEST(too_many)
{
	static char text[70000 * 16];
	size_t n = 0, wrong;

	for (unsigned i = 0; i < 65535; i++)
		n += (size_t)sprintf(text + n, "10.%u.%u.%u\n", i >> 16, i >> 8 & 255, i & 255);
	ck_assert_int_eq(dns_acl_parse(&acl, text, n, &wrong), 0);
	ck_assert(allows("10.0.255.254") && !allows("10.0.255.255"));
	dns_acl_free(acl);
	n += (size_t)sprintf(text + n, "::1");
	ck_assert_int_eq(dns_acl_parse(&acl, text, n, &wrong), -E2BIG);
	ck_assert_uint_eq(wrong, n - 3);
}
END_TEST

enum { RULES = 40 };

struct rule {
	struct haul_addr address;
	unsigned length;
	bool allows;
};

/* Few different bits, so that prefixes nest. */
static struct haul_addr random_address(struct hauli_random *r)
{
	struct haul_addr a = {.version = hauli_random_below(r, 2) ? 4 : 6};

	if (a.version == 4) {
		a.bytes[0] = 10;
		a.bytes[1] = (uint8_t)hauli_random_below(r, 4);
		a.bytes[3] = (uint8_t)(hauli_random_below(r, 4) << 6);
	} else {
		a.bytes[0] = hauli_random_below(r, 2) ? 10 : 0;
		a.bytes[hauli_random_below(r, 2)] = (uint8_t)(hauli_random_below(r, 4) << 6);
		a.bytes[15] = (uint8_t)hauli_random_below(r, 4);
	}
	return a;
}

static bool bit_of(const uint8_t *bytes, unsigned i)
{
	return bytes[i / 8] >> (7 - i % 8) & 1;
}

static bool has(const struct rule *rule, const struct haul_addr *address)
{
	if (rule->address.version != address->version)
		return false;
	for (unsigned i = 0; i < rule->length; i++)
		if (bit_of(rule->address.bytes, i) != bit_of(address->bytes, i))
			return false;
	return true;
}

START_TEST(random_lists)
{
	uint64_t deadline = stress_deadline();
	struct hauli_random r;

	hauli_random_init(&r, stress_seed());
	do {
		unsigned n = hauli_random_below(&r, RULES);
		struct rule rules[RULES];
		char text[RULES * 64], *to = text, address[HAUL_ADDR_TEXT];
		bool twice = false;
		size_t wrong;
		int rc;

		*to = '\0';
		for (unsigned i = 0; i < n; i++) {
			struct rule *rule = &rules[i];

			rule->address = random_address(&r);
			rule->allows = hauli_random_below(&r, 2);
			rule->length =
				hauli_random_below(&r, rule->address.version == 4 ? 33 : 129);
			for (unsigned bit = rule->length; bit < 128; bit++)
				rule->address.bytes[bit / 8] &= (uint8_t) ~(128u >> bit % 8);
			for (unsigned j = 0; j < i; j++)
				twice |= rules[j].length == rule->length &&
					haul_addr_equal(&rules[j].address, &rule->address);
			to += sprintf(to, "%s%s/%u\n", rule->allows ? "" : "!",
				haul_addr_text(&rule->address, address), rule->length);
		}
		rc = parse(text, &wrong);
		ASSERT_EACH(rc == (twice ? -EINVAL : 0));
		for (int i = 0; rc == 0 && i < 50; i++) {
			struct haul_addr client = random_address(&r);
			bool expected = false;
			unsigned longest = 0;

			for (unsigned j = 0; j < n; j++) {
				if (has(&rules[j], &client) && rules[j].length + 1 > longest) {
					longest = rules[j].length + 1;
					expected = rules[j].allows;
				}
			}
			ASSERT_EACH(dns_acl_allows(acl, &client) == expected);
		}
		if (rc == 0)
			dns_acl_free(acl);
	} while (haul_now() < deadline);
}
END_TEST

SUITE_MAIN("dns_acl", {the_longest_prefix_counts}, {all_of_one_kind}, {wrong_lists}, {too_many},
	{random_lists})
