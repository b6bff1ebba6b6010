/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dns: local names, forwards and backwards. */
#include "../../apps/haul-dns/hosts.h"

#include <errno.h>

#include "dns_bed.h"

static struct dns_hosts *hosts;
static uint8_t out[BED_MESSAGE];
static char text[BED_TEXT];
static unsigned wrong;

static int parse(const char *file)
{
	size_t n = strlen(file);

	return dns_hosts_parse(&hosts, (const char *)bed_copy(file, n), n, &bed_secret, &wrong);
}

static const char *ask(const char *question)
{
	struct dns_reply_opts opts = {
		.max = DNS_MESSAGE_MAX, .is_stream = true, .ede = DNS_EDE_NONE, .now = 12345};
	static struct bed_msg m;
	struct dns_query q;
	size_t n;

	bed_begin(&m, 1, DNS_RD, question);
	ck_assert_int_eq(dns_query_parse(&q, m.bytes, m.n, &bed_secret), 0);
	n = dns_hosts_write(hosts, out, m.bytes, &q, &opts);
	return n > 0 ? bed_text(out, n, text) : NULL;
}

START_TEST(names_and_addresses)
{
	ck_assert_int_eq(
		parse("# a comment\n\n127.0.0.1\tlocalhost # here\n::1 localhost ip6-localhost\r\n"
		      "10.0.0.1 Router.lan gw.lan\n10.0.0.2 router.lan\n10.0.0.1 router.lan\n"
		      "  fd00::1 router.lan\nfe80::1%lo0 localhost"),
		0);
	ck_assert_str_eq(ask("localhost A"), "0 aa localhost A\n0 localhost 60 A 127.0.0.1\n");
	ck_assert_str_eq(ask("localhost AAAA"), "0 aa localhost AAAA\n0 localhost 60 AAAA ::1\n");
	ck_assert_str_eq(ask("ROUTER.lan A"),
		"0 aa ROUTER.lan A\n0 ROUTER.lan 60 A 10.0.0.1\n0 ROUTER.lan 60 A 10.0.0.2\n");
	ck_assert_str_eq(ask("router.lan ANY"),
		"0 aa router.lan ANY\n0 router.lan 60 A 10.0.0.1\n0 router.lan 60 A 10.0.0.2\n"
		"0 router.lan 60 AAAA fd00::1\n");
	/* The name is ours, so there is nothing of another type. */
	ck_assert_str_eq(ask("router.lan MX"), "0 aa router.lan MX\n");
	ck_assert_str_eq(ask("gw.lan AAAA"), "0 aa gw.lan AAAA\n");
	ck_assert_ptr_null(ask("lan A"));
	ck_assert_ptr_null(ask("x.router.lan A"));
	/* Backwards: the first name of the first line. */
	ck_assert_str_eq(ask("1.0.0.10.in-addr.arpa PTR"),
		"0 aa 1.0.0.10.in-addr.arpa PTR\n0 1.0.0.10.in-addr.arpa 60 PTR Router.lan\n");
	ck_assert_ptr_nonnull(
		strstr(ask("1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f."
			   "ip6.arpa PTR"),
			"60 PTR router.lan\n"));
	ck_assert_ptr_null(ask("3.0.0.10.in-addr.arpa PTR"));
	dns_hosts_free(hosts);
}
END_TEST

START_TEST(wrong_lines)
{
	static const struct {
		const char *file;
		unsigned line;
	} files[] = {{"1.2.3.4", 1}, {"1.2.3.4 a\nx y\n", 2}, {"\n\n1.2.3 a", 3},
		{"1.2.3.4 a..b", 1}, {"1.2.3.4 a\n1.2.3.4 b\xff", 2},
		{"1.2.3.4 a b c.\n1.2.3.4 # a", 2}};

	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		ck_assert_int_eq(parse(files[i].file), -EINVAL);
		ck_assert_uint_eq(wrong, files[i].line);
	}
	ck_assert_int_eq(parse(""), 0);
	ck_assert_uint_eq(dns_hosts_names(hosts), 0);
	dns_hosts_free(hosts);
	dns_hosts_free(NULL);
}
END_TEST

/* More addresses than an answer has, one name that is one backwards, too. */
START_TEST(the_largest_answer)
{
	static char file[1 << 16];
	int n = sprintf(file, "10.0.0.1 ");

	for (int i = 0; i < 4; i++)
		n += sprintf(file + n, "%s%.*s", i ? "." : "", i < 3 ? 63 : 61,
			"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	n += sprintf(file + n, "\n");
	for (int i = 0; i < 100; i++)
		n += sprintf(file + n, "fd00::%x 1.0.0.10.in-addr.arpa\n", i);
	ck_assert_int_eq(parse(file), 0);
	ask("1.0.0.10.in-addr.arpa ANY");
	ck_assert_uint_eq(dns_get16(out + 6), DNS_HOSTS_ANSWERS_MAX);
	ck_assert_ptr_nonnull(strstr(text, " PTR x"));
	ck_assert_ptr_nonnull(strstr(text, " AAAA fd00::3e\n"));
	dns_hosts_free(hosts);
}
END_TEST

/* Random files against a list of lines. */
START_TEST(random_files)
{
	uint64_t deadline = stress_deadline();
	struct hauli_random r;

	hauli_random_init(&r, stress_seed());
	do {
		unsigned n = hauli_random_below(&r, 40);
		unsigned addresses[40], names[40];
		char file[4096], *to = file;

		*to = '\0';
		for (unsigned i = 0; i < n; i++) {
			addresses[i] = hauli_random_below(&r, 30);
			names[i] = hauli_random_below(&r, 10);
			to += sprintf(to, "%s10.0.0.%u%sn%u%s\n",
				hauli_random_below(&r, 3) ? "" : " ", addresses[i],
				hauli_random_below(&r, 2) ? "\t" : "  ", names[i],
				hauli_random_below(&r, 3) ? "" : " # n9");
		}
		ck_assert_int_eq(parse(file), 0);
		for (unsigned name = 0; name < 10; name++) {
			char question[32], expected[2048], *at = expected;
			bool seen[256] = {false}, any = false;
			const char *got;

			sprintf(question, "n%u A", name);
			at += sprintf(at, "0 aa n%u A\n", name);
			for (unsigned i = 0; i < n; i++) {
				if (names[i] != name)
					continue;
				any = true;
				if (!seen[addresses[i]])
					at += sprintf(
						at, "0 n%u 60 A 10.0.0.%u\n", name, addresses[i]);
				seen[addresses[i]] = true;
			}
			got = ask(question);
			ASSERT_EACH((got != NULL) == any);
			ASSERT_EACH(!got || strcmp(got, expected) == 0);
		}
		for (unsigned address = 0; address < 30; address++) {
			char question[64], expected[128];
			const char *got;
			unsigned i = 0;

			while (i < n && addresses[i] != address)
				i++;
			sprintf(question, "%u.0.0.10.in-addr.arpa PTR", address);
			got = ask(question);
			ASSERT_EACH((got != NULL) == (i < n));
			sprintf(expected, "60 PTR n%u\n", i < n ? names[i] : 0);
			ASSERT_EACH(!got || strstr(got, expected));
		}
		dns_hosts_free(hosts);
	} while (haul_now() < deadline);
}
END_TEST

SUITE_MAIN("dns_hosts", {names_and_addresses}, {wrong_lines}, {the_largest_answer}, {random_files})
