/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dns: SipHash, cookies, addresses, random numbers, queries to servers. */
#include "../../apps/haul-dns/cookie.h"

#include "../../apps/haul-dns/address.h"
#include "../../apps/haul-dns/ask.h"
#include "dns_bed.h"

/* The paper's example, appendix A. */
START_TEST(siphash_of_the_paper)
{
	struct dns_secret secret = {{0x0706050403020100, 0x0f0e0d0c0b0a0908}};
	uint8_t bytes[15];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	ck_assert_uint_eq(dns_siphash(&secret, bytes, sizeof(bytes)), UINT64_C(0xa129ca6149be45e5));
}
END_TEST

static void from_hex(uint8_t *bytes, const char *hex)
{
	for (unsigned byte; *hex; hex += 2) {
		sscanf(hex, "%2x", &byte);
		*bytes++ = (uint8_t)byte;
	}
}

/* RFC 9018, appendix A: secret, client's cookie, client, time, server's cookie. */
static const struct {
	const char *secret, *client_cookie, *client;
	uint32_t now;
	const char *cookie;
} rows[] = {
	{"e5e973e5a6b2a43f48e7dc849e37bfcf", "2464c4abcf10c957", "198.51.100.100", 1559731985,
		"010000005cf79f111f8130c3eee29480"},
	{"e5e973e5a6b2a43f48e7dc849e37bfcf", "2464c4abcf10c957", "198.51.100.100", 1559734385,
		"010000005cf7a871d4a564a1442aca77"},
	{"e5e973e5a6b2a43f48e7dc849e37bfcf", "fc93fc62807ddb86", "203.0.113.203", 1559734700,
		"010000005cf7a9acf73a7810aca2381e"},
	{"dd3bdf9344b678b185a6f5cb60fca715", "22681ab97d52c298",
		"2001:db8:220:1:59de:d0f4:8769:82b8", 1559741817,
		"010000005cf7c57926556bd0934c72f8"},
	{"445536bcd2513298075a5d379663c962", "22681ab97d52c298",
		"2001:db8:220:1:59de:d0f4:8769:82b8", 1559741961,
		"010000005cf7c609a6bb79d16625507a"},
};

START_TEST(cookies_of_the_rfc)
{
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t expected[16], cookie[16], client_cookie[8], key[16];
		struct haul_addr client;
		struct dns_secret secret;

		from_hex(key, rows[i].secret);
		memcpy(&secret, key, 16);
		from_hex(client_cookie, rows[i].client_cookie);
		from_hex(expected, rows[i].cookie);
		ck_assert_int_eq(
			dns_address_parse(&client, rows[i].client, strlen(rows[i].client)), 0);
		dns_cookie_make(cookie, &secret, client_cookie, &client, rows[i].now);
		ck_assert_mem_eq(cookie, expected, 16);
		ck_assert(dns_cookie_is_good(cookie, &secret, client_cookie, &client, rows[i].now));
	}
}
END_TEST

/* The example in which other bytes were in the place of the reserved ones. */
START_TEST(reserved_bytes_are_part_of_it)
{
	uint8_t cookie[16], client_cookie[8], key[16];
	struct haul_addr client;
	struct dns_secret secret;

	from_hex(key, rows[2].secret);
	memcpy(&secret, key, 16);
	from_hex(client_cookie, rows[2].client_cookie);
	from_hex(cookie, "01abcdef5cf78f71a314227b6679ebf5");
	dns_address_parse(&client, "203.0.113.203", 13);
	ck_assert(dns_cookie_is_good(cookie, &secret, client_cookie, &client, 1559728000));
}
END_TEST

START_TEST(other_cookies_are_not_good)
{
	uint8_t client_cookie[8] = "abcdefgh", cookie[16];
	struct haul_addr a, b;
	const uint32_t made = UINT32_MAX - 100; /* the clock passes its end */

	dns_address_parse(&a, "10.0.0.1", 8);
	dns_address_parse(&b, "10.0.0.2", 8);
	dns_cookie_make(cookie, &bed_secret, client_cookie, &a, made);
	ck_assert(dns_cookie_is_good(cookie, &bed_secret, client_cookie, &a, made + 3600));
	ck_assert(!dns_cookie_is_good(cookie, &bed_secret, client_cookie, &a, made + 3601));
	ck_assert(dns_cookie_is_good(cookie, &bed_secret, client_cookie, &a, made - 300));
	ck_assert(!dns_cookie_is_good(cookie, &bed_secret, client_cookie, &a, made - 301));
	ck_assert(!dns_cookie_is_good(cookie, &bed_secret, client_cookie, &b, made));
	ck_assert(
		!dns_cookie_is_good(cookie, &(struct dns_secret){{1, 2}}, client_cookie, &a, made));
	for (unsigned i = 0; i < 128; i++) {
		cookie[i / 8] ^= (uint8_t)(1u << i % 8);
		ck_assert(!dns_cookie_is_good(cookie, &bed_secret, client_cookie, &a, made));
		cookie[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	client_cookie[0]++;
	ck_assert(!dns_cookie_is_good(cookie, &bed_secret, client_cookie, &a, made));
}
END_TEST

START_TEST(clients_cookies_depend_on_both_addresses)
{
	struct haul_addr a, b;
	uint8_t x[8], y[8];

	dns_address_parse(&a, "10.0.0.1", 8);
	dns_address_parse(&b, "10.0.0.2", 8);
	dns_cookie_client(x, &bed_secret, &a, &b);
	dns_cookie_client(y, &bed_secret, &b, &a);
	ck_assert_mem_ne(x, y, 8);
	dns_cookie_client(y, &bed_secret, &a, &b);
	ck_assert_mem_eq(x, y, 8);
	dns_cookie_client(y, &(struct dns_secret){{1, 2}}, &a, &b);
	ck_assert_mem_ne(x, y, 8);
}
END_TEST

/* No number twice, each bit half of the time; and what was taken is erased. */
START_TEST(random_numbers)
{
	struct dns_random r = {0};
	unsigned ones[64] = {0};
	uint64_t before = 0;

	for (int i = 0; i < 4096; i++) {
		uint64_t v;

		dns_random_take(&r, &v, sizeof(v));
		ASSERT_EACH(v != before);
		before = v;
		for (int bit = 0; bit < 64; bit++)
			ones[bit] += v >> bit & 1;
		for (size_t at = r.left; at < sizeof(r.bytes); at++)
			ASSERT_EACH(r.bytes[at] == 0);
	}
	for (int bit = 0; bit < 64; bit++)
		ck_assert(ones[bit] > 1800 && ones[bit] < 2296); /* 7 deviations */
}
END_TEST

static void make(struct dns_ask *a, const struct dns_key *key, const struct dns_ask_opts *opts)
{
	static struct dns_random random;

	dns_ask_make(a, key, opts, &random);
	ASSERT_EACH(a->n <= DNS_ASK_MAX);
}

START_TEST(queries_to_servers)
{
	char text[4096], name[300];
	struct dns_key key;
	struct dns_ask a;

	dns_key_make(&key, (const uint8_t *)"\3wWw\7example\3com", 17, DNS_MX, DNS_IN,
		DNS_KEY_DO | DNS_KEY_CD, &bed_secret);
	make(&a, &key, &(struct dns_ask_opts){.same_case = true});
	ck_assert_str_eq(bed_text(a.msg, a.n, text), "0 www.example.com MX\n2 . 32768 OPT \n");
	ck_assert_uint_eq(dns_get16(a.msg + 2), DNS_RD | DNS_CD);
	make(&a, &key,
		&(struct dns_ask_opts){
			.same_case = true, .cookie = (const uint8_t *)"12345678", .nb_cookie = 8});
	ck_assert_str_eq(bed_text(a.msg, a.n, text),
		"0 www.example.com MX\n2 . 32768 OPT 000a00083132333435363738\n");
	make(&a, &key,
		&(struct dns_ask_opts){.same_case = true,
			.without_edns = true,
			.cookie = (const uint8_t *)"12345678",
			.nb_cookie = 8});
	ck_assert_str_eq(bed_text(a.msg, a.n, text), "0 www.example.com MX\n");
	ck_assert_uint_eq(a.nb_cookie, 0);
	/* The longest one. */
	memset(name, 1, sizeof(name));
	name[254] = 0;
	dns_key_make(&key, (const uint8_t *)name, 255, DNS_A, DNS_IN, 0, &bed_secret);
	make(&a, &key, &(struct dns_ask_opts){.cookie = (uint8_t[40]){0}, .nb_cookie = 40});
	ck_assert_uint_eq(a.n, DNS_ASK_MAX);
	bed_text(a.msg, a.n, text);
}
END_TEST

/* Each letter is a capital half of the time, and nothing else changes; each bit of the id, too. */
START_TEST(ids_and_letters_cannot_be_guessed)
{
	static const char name[] = "\5a9-_z\3bc\xe1";
	unsigned ids[16] = {0}, capitals[sizeof(name)] = {0}, alike = 0;
	struct dns_key key;
	struct dns_ask a;

	dns_key_make(&key, (const uint8_t *)name, sizeof(name), DNS_A, DNS_IN, 0, &bed_secret);
	for (int i = 0; i < 4096; i++) {
		make(&a, &key, &(struct dns_ask_opts){0});
		for (unsigned bit = 0; bit < 16; bit++)
			ids[bit] += dns_get16(a.msg) >> bit & 1u;
		for (unsigned c = 0; c < sizeof(name); c++) {
			ASSERT_EACH(dns_fold(a.msg[DNS_HEADER + c]) == (uint8_t)name[c]);
			capitals[c] += a.msg[DNS_HEADER + c] != (uint8_t)name[c];
		}
		alike += (a.msg[DNS_HEADER + 1] & 0x20) == (a.msg[DNS_HEADER + 5] & 0x20);
	}
	ck_assert(alike > 1800 && alike < 2296);
	for (unsigned bit = 0; bit < 16; bit++)
		ck_assert(ids[bit] > 1800 && ids[bit] < 2296);
	for (unsigned c = 0; c < sizeof(name); c++)
		ck_assert(strchr("azbc", name[c]) && name[c]
				? capitals[c] > 1800 && capitals[c] < 2296
				: capitals[c] == 0);
}
END_TEST

START_TEST(addresses_and_prefixes)
{
	struct dns_prefix p;
	struct haul_addr a;

	ck_assert_int_eq(dns_address_parse(&a, "1.2.3.4", 7), 0);
	ck_assert(haul_addr_equal(&a, &(struct haul_addr){4, {1, 2, 3, 4}}));
	ck_assert_int_eq(dns_address_parse(&a, "::1", 3), 0);
	ck_assert(haul_addr_equal(&a, &(struct haul_addr){6, {[15] = 1}}));
	ck_assert_int_lt(dns_address_parse(&a, "1.2.3", 5), 0);
	ck_assert_int_lt(dns_address_parse(&a, "1.2.3.4 ", 8), 0);
	ck_assert_int_lt(dns_address_parse(&a, "1.2.3.4\0", 8), 0);
	ck_assert_int_lt(dns_address_parse(&a, "", 0), 0);
	ck_assert_int_eq(dns_prefix_parse(&p, "10.0.0.0/8", 10), 0);
	ck_assert_uint_eq(p.length, 8);
	ck_assert_int_eq(dns_prefix_parse(&p, "0.0.0.0/0", 9), 0);
	ck_assert_int_eq(dns_prefix_parse(&p, "fd00::/9", 8), 0);
	ck_assert_uint_eq(p.length, 9);
	ck_assert_int_eq(dns_prefix_parse(&p, "::/0", 4), 0);
	ck_assert_int_eq(dns_prefix_parse(&p, "::1", 3), 0);
	ck_assert_uint_eq(p.length, 128);
	ck_assert_int_lt(dns_prefix_parse(&p, "10.0.0.1/8", 10), 0);
	ck_assert_int_lt(dns_prefix_parse(&p, "10.0.0.0/33", 11), 0);
	ck_assert_int_lt(dns_prefix_parse(&p, "::/129", 6), 0);
	ck_assert_int_lt(dns_prefix_parse(&p, "::/", 3), 0);
	ck_assert_int_lt(dns_prefix_parse(&p, "::/-1", 5), 0);
	ck_assert_int_lt(dns_prefix_parse(&p, "::/0000", 7), 0);
}
END_TEST

SUITE_MAIN("dns_cookie", {siphash_of_the_paper}, {cookies_of_the_rfc},
	{reserved_bytes_are_part_of_it}, {other_cookies_are_not_good},
	{clients_cookies_depend_on_both_addresses}, {random_numbers}, {queries_to_servers},
	{ids_and_letters_cannot_be_guessed}, {addresses_and_prefixes})
