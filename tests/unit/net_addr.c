/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/net: addresses from text. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include <haul/build.h>
#include <haul/net.h>

#include "support/suite.h"

START_TEST(good_ip4)
{
	struct haul_net_if nif = {0};

	ck_assert_int_eq(haul_net_set_ip4(&nif, "10.1.2.3/24"), 0);
	ck_assert_mem_eq(nif.ip4, "\x0a\x01\x02\x03", 4);
	ck_assert_uint_eq(nif.ip4_prefix, 24);
	/* Both addresses of a point-to-point network, and the address of a single host. */
	ck_assert_int_eq(haul_net_set_ip4(&nif, "10.0.0.0/31"), 0);
	ck_assert_int_eq(haul_net_set_ip4(&nif, "10.0.0.1/31"), 0);
	ck_assert_int_eq(haul_net_set_ip4(&nif, "10.0.0.255/32"), 0);
	ck_assert_int_eq(haul_net_set_ip4(&nif, "240.0.0.1/0"), 0);
}
END_TEST

START_TEST(good_ip6)
{
	struct haul_net_if nif = {0};
	uint8_t want[16];

	inet_pton(AF_INET6, "2001:db8::1:2", want);
	ck_assert_int_eq(haul_net_set_ip6(&nif, "2001:db8::1:2/64"), 0);
	ck_assert_mem_eq(nif.ip6, want, 16);
	ck_assert_uint_eq(nif.ip6_prefix, 64);
	ck_assert_int_eq(haul_net_set_ip6(&nif, "fe80::1/128"), 0);
	ck_assert_int_eq(haul_net_set_ip6(&nif, "::2/0"), 0);
}
END_TEST

START_TEST(bad_text)
{
	static const char *const texts[] = {"", "/", "/24", "10.0.0.1", "10.0.0.1/", "10.0.0/24",
		"10.0.0.1/33", "10.0.0.1/-1", "10.0.0.1/ 8", "10.0.0.1/+8", "10.0.0.1/24x",
		"10.0.0.256/24", "10.0.0.1/24/8", " 10.0.0.1/24", "fd00::1/129", "fd00::1",
		"fd00:::1/64", "fd00::1%eth0/64", "10.0.0.1/99999999999999999999",
		"00000000000000000000000000000000000000000000000000000000000000001/8"};
	struct haul_net_if nif = {.ip4 = {1, 2, 3, 4}, .ip6 = {1}};
	const struct haul_net_if before = nif;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_msg(haul_net_set_ip4(&nif, texts[i]) == -EINVAL, "%s", texts[i]);
		ck_assert_msg(haul_net_set_ip6(&nif, texts[i]) == -EINVAL, "%s", texts[i]);
	}
	ck_assert_int_eq(haul_net_set_ip4(&nif, "fd00::1/24"), -EINVAL);
	ck_assert_int_eq(haul_net_set_ip6(&nif, "10.0.0.1/24"), -EINVAL);
	ck_assert_mem_eq(&nif, &before, sizeof(nif));
}
END_TEST

START_TEST(address_of_no_host)
{
	static const char *const four[] = {"0.0.0.0/0", "0.1.2.3/8", "127.0.0.1/8", "224.0.0.1/24",
		"239.1.2.3/24", "255.255.255.255/32", "10.0.0.0/24", "10.0.0.255/24",
		"10.0.0.3/30"};
	static const char *const six[] = {"::/64", "::1/128", "ff02::1/64", "ff00::/8"};
	struct haul_net_if nif = {.ip4 = {1, 2, 3, 4}, .ip6 = {1}};
	const struct haul_net_if before = nif;

	for (size_t i = 0; i < sizeof(four) / sizeof(four[0]); i++)
		ck_assert_msg(haul_net_set_ip4(&nif, four[i]) == -EADDRNOTAVAIL, "%s", four[i]);
	for (size_t i = 0; i < sizeof(six) / sizeof(six[0]); i++)
		ck_assert_msg(haul_net_set_ip6(&nif, six[i]) == -EADDRNOTAVAIL, "%s", six[i]);
	ck_assert_mem_eq(&nif, &before, sizeof(nif));
}
END_TEST

START_TEST(any_address)
{
	static const struct {
		const char *text;
		struct haul_addr addr;
	} good[] = {
		{"10.1.2.3", {4, {10, 1, 2, 3}}},
		{"0.0.0.0", {4, {0}}},
		{"255.255.255.255", {4, {255, 255, 255, 255}}},
		{"fd00::1", {6, {0xfd, [15] = 1}}},
		{"::", {6, {0}}},
		{"::ffff:10.0.0.1", {6, {[10] = 0xff, 0xff, 10, 0, 0, 1}}},
		{"ffff:ffff:ffff:ffff:ffff:ffff:1234:5678",
			{6,
				{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					0xff, 0x12, 0x34, 0x56, 0x78}}},
	};
	static const char *const bad[] = {"", "none", "10.0.0", "10.0.0.1/24", "10.0.0.256",
		" 10.0.0.1", "10.0.0.1 ", "010.0.0.1x", "fd00::1%eth0", "fd00::1/64", "::g", ":",
		"1:2:3:4:5:6:7:8:9", "localhost"};
	const struct haul_addr before = {4, {1, 2, 3, 4}}, none = {0, {0}};
	char text[HAUL_ADDR_TEXT];

	for (unsigned i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct haul_addr got;

		memset(&got, 0xa5, sizeof(got));
		ck_assert_int_eq(haul_addr_parse(&got, good[i].text), 0);
		ck_assert(haul_addr_equal(&got, &good[i].addr));
		ck_assert_str_eq(haul_addr_text(&got, text), good[i].text);
		got = haul_addr_from(got.version, good[i].addr.bytes);
		ck_assert(haul_addr_equal(&got, &good[i].addr));
		got.bytes[3] ^= 1;
		ck_assert(!haul_addr_equal(&got, &good[i].addr));
	}
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct haul_addr got = before;

		ck_assert_int_eq(haul_addr_parse(&got, bad[i]), -EINVAL);
		ck_assert(haul_addr_equal(&got, &before));
	}
	ck_assert_str_eq(haul_addr_text(&none, text), "none");
}
END_TEST

SUITE_MAIN("net_addr", {good_ip4}, {good_ip6}, {bad_text}, {address_of_no_host}, {any_address})
