/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/net: addresses from text. */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include <haul/net.h>

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

int main(void)
{
	Suite *s = suite_create("net_addr");
	TCase *t = tcase_create("text");

	tcase_set_timeout(t, 0); /* meson ends a program that hangs */
	tcase_add_test(t, good_ip4);
	tcase_add_test(t, good_ip6);
	tcase_add_test(t, bad_text);
	tcase_add_test(t, address_of_no_host);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int n = srunner_ntests_failed(r);

	srunner_free(r);
	return n ? EXIT_FAILURE : EXIT_SUCCESS;
}
