/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dns: which replies are taken for that of a query, and what follows from their codes. */
#include "../../apps/haul-dns/reply.h"

#include <haul/base.h>

#include "dns_bed.h"

static struct dns_random random_numbers;
static struct dns_key key;
static struct dns_ask a;
static struct bed_msg m;
static struct dns_reply_info info;
static const uint8_t cookie[16] = "clientXXserverXX";

static void ask(const char *name, unsigned type, const struct dns_ask_opts *opts)
{
	uint8_t wire[DNS_NAME_MAX];
	int n = dns_name_parse(name, strlen(name), wire);

	dns_key_make(&key, wire, (size_t)n, type, DNS_IN, 0, &bed_secret);
	dns_ask_make(&a, &key, opts, &random_numbers);
}

/* A reply with the question as it was sent. */
static void begin(unsigned flags)
{
	memcpy(m.bytes, a.msg, DNS_HEADER + (size_t)a.question);
	m.n = DNS_HEADER + (size_t)a.question;
	m.nb_names = 0;
	dns_put16(m.bytes + 2, DNS_QR | flags);
	dns_put16(m.bytes + 10, 0);
}

static enum dns_reply judge_with(bool expects_cookie)
{
	return dns_reply_judge(&a, bed_copy(m.bytes, m.n), m.n, expects_cookie, &info);
}

static enum dns_reply judge(void)
{
	return judge_with(false);
}

START_TEST(the_right_reply)
{
	ask("www.example.com", DNS_A, &(struct dns_ask_opts){0});
	begin(DNS_RA);
	ck_assert_int_eq(judge(), DNS_REPLY_GOOD);
	bed_add(&m, DNS_ANSWERS, "www.example.com 1 A 1.2.3.4");
	ck_assert_int_eq(judge(), DNS_REPLY_GOOD);
	ck_assert(!info.edns.is_there);
	bed_add(&m, DNS_ADDITIONALS, ". 0 OPT ");
	ck_assert_int_eq(judge(), DNS_REPLY_GOOD);
	ck_assert(info.edns.is_there && info.edns.size == 1232);
}
END_TEST

/* Each bit of what must be repeated, changed alone. */
START_TEST(each_bit_of_the_id_and_the_question_counts)
{
	ask("www.example.com", DNS_A, &(struct dns_ask_opts){0});
	begin(0);
	for (unsigned bit = 0; bit < 8 * m.n; bit++) {
		unsigned byte = bit / 8;

		if (byte == 3 || (byte == 2 && (bit % 8 == 0 || bit % 8 == 1 || bit % 8 == 2)))
			continue; /* flags that may be what they like, and the code */
		m.bytes[byte] ^= (uint8_t)(1u << bit % 8);
		ck_assert_msg(judge() == DNS_REPLY_OTHER, "bit %u", bit);
		m.bytes[byte] ^= (uint8_t)(1u << bit % 8);
	}
	ck_assert_int_eq(judge(), DNS_REPLY_GOOD);
}
END_TEST

START_TEST(beginnings_are_no_replies)
{
	ask("example.com", DNS_A, &(struct dns_ask_opts){0});
	begin(0);
	bed_add(&m, DNS_ANSWERS, "example.com 1 A 1.2.3.4");
	bed_add(&m, DNS_ADDITIONALS, ". 0 OPT 00030002aabb");
	for (size_t n = 0; n < m.n; n++)
		ck_assert_int_eq(dns_reply_judge(&a, bed_copy(m.bytes, n), n, false, &info),
			DNS_REPLY_OTHER);
	m.bytes[m.n++] = 0;
	ck_assert_int_eq(judge(), DNS_REPLY_OTHER);
	m.n--;
	/* A truncated reply may end anywhere behind its question, without proof by cookie. */
	m.bytes[2] |= DNS_TC >> 8;
	m.n -= 3;
	ck_assert_int_eq(judge(), DNS_REPLY_TRUNCATED);
	ck_assert_int_eq(judge_with(true), DNS_REPLY_NO_COOKIE);
}
END_TEST

START_TEST(codes)
{
	static const enum dns_reply expected[16] = {[DNS_NOERROR] = DNS_REPLY_GOOD,
		[DNS_NXDOMAIN] = DNS_REPLY_GOOD,
		[DNS_YXDOMAIN] = DNS_REPLY_GOOD,
		[DNS_FORMERR] = DNS_REPLY_NO_EDNS,
		[DNS_NOTIMP] = DNS_REPLY_NO_EDNS};

	for (unsigned code = 0; code < 16; code++) {
		enum dns_reply e = code > 0 && expected[code] == 0 && code != DNS_NXDOMAIN &&
				code != DNS_YXDOMAIN
			? DNS_REPLY_FAILED
			: expected[code];

		ask("example.com", DNS_A, &(struct dns_ask_opts){0});
		begin(code);
		ck_assert_int_eq(judge(), e);
		ck_assert_uint_eq(info.rcode, code);
		ask("example.com", DNS_A, &(struct dns_ask_opts){.without_edns = true});
		begin(code);
		ck_assert_int_eq(judge(), e == DNS_REPLY_NO_EDNS ? DNS_REPLY_FAILED : e);
	}
	begin(DNS_TC);
	ck_assert_int_eq(judge(), DNS_REPLY_TRUNCATED);
	begin(DNS_TC | DNS_SERVFAIL);
	ck_assert_int_eq(judge(), DNS_REPLY_FAILED);
	/* The upper bits: BADVERS, BADCOOKIE without a cookie, a code that nobody knows. */
	ask("example.com", DNS_A, &(struct dns_ask_opts){0});
	begin(0);
	bed_add(&m, DNS_ADDITIONALS, ". 16777216 OPT ");
	ck_assert_int_eq(judge(), DNS_REPLY_NO_EDNS);
	begin(7);
	bed_add(&m, DNS_ADDITIONALS, ". 16777216 OPT ");
	ck_assert_int_eq(judge(), DNS_REPLY_FAILED);
	ck_assert_uint_eq(info.rcode, DNS_BADCOOKIE);
	begin(3);
	bed_add(&m, DNS_ADDITIONALS, ". 33554432 OPT ");
	ck_assert_int_eq(judge(), DNS_REPLY_FAILED);
}
END_TEST

START_TEST(headers_alone_end_the_use_of_edns_and_nothing_else)
{
	ask("example.com", DNS_A, &(struct dns_ask_opts){0});
	begin(DNS_FORMERR);
	m.bytes[5] = 0;
	m.n = DNS_HEADER;
	ck_assert_int_eq(judge(), DNS_REPLY_NO_EDNS);
	ck_assert_int_eq(judge_with(true), DNS_REPLY_NO_COOKIE);
	m.bytes[3] = DNS_SERVFAIL;
	ck_assert_int_eq(judge(), DNS_REPLY_OTHER);
	m.bytes[3] = DNS_NOERROR;
	ck_assert_int_eq(judge(), DNS_REPLY_OTHER);
	m.bytes[3] = DNS_NOTIMP;
	ck_assert_int_eq(judge(), DNS_REPLY_NO_EDNS);
	m.bytes[5] = 1;
	ck_assert_int_eq(judge(), DNS_REPLY_OTHER);
	ask("example.com", DNS_A, &(struct dns_ask_opts){.without_edns = true});
	begin(DNS_FORMERR);
	m.bytes[5] = 0;
	m.n = DNS_HEADER;
	ck_assert_int_eq(judge(), DNS_REPLY_OTHER);
}
END_TEST

static enum dns_reply judge_cookie(const char *opt, bool expects)
{
	begin(0);
	if (opt)
		bed_add(&m, DNS_ADDITIONALS, opt);
	return judge_with(expects);
}

/* RFC 7873, 5.3. */
START_TEST(cookies)
{
	const char *right = ". 0 OPT 000a0010636c69656e7458583132333435363738";
	const char *wrong = ". 0 OPT 000a0010636c69656e7458593132333435363738";

	ask("example.com", DNS_A, &(struct dns_ask_opts){.cookie = cookie, .nb_cookie = 16});
	ck_assert_int_eq(judge_cookie(right, true), DNS_REPLY_GOOD);
	ck_assert_uint_eq(info.edns.nb_cookie, 16);
	ck_assert_int_eq(judge_cookie(right, false), DNS_REPLY_GOOD);
	ck_assert_int_eq(judge_cookie(wrong, true), DNS_REPLY_OTHER);
	ck_assert_int_eq(judge_cookie(wrong, false), DNS_REPLY_OTHER);
	ck_assert_int_eq(judge_cookie(". 0 OPT ", true), DNS_REPLY_NO_COOKIE);
	ck_assert_int_eq(judge_cookie(". 0 OPT ", false), DNS_REPLY_GOOD);
	ck_assert_int_eq(judge_cookie(NULL, true), DNS_REPLY_NO_COOKIE);
	ck_assert_int_eq(judge_cookie(NULL, false), DNS_REPLY_GOOD);
	begin(7);
	bed_add(&m, DNS_ADDITIONALS, ". 16777216 OPT 000a0010636c69656e7458583132333435363738");
	ck_assert_int_eq(judge_with(true), DNS_REPLY_BAD_COOKIE);
	/* Errors need it, too: whoever forges one could end the use of EDNS. */
	begin(DNS_FORMERR);
	ck_assert_int_eq(judge_with(true), DNS_REPLY_NO_COOKIE);
}
END_TEST

/* RFC 9520: 5 s at first, doubled each time, never more than 5 minutes. */
START_TEST(failures_are_kept_longer_each_time)
{
	static const uint32_t ttls[] = {5, 10, 20, 40, 80, 160, 300, 300, 300};
	struct dns_answer *previous = NULL, *failure;
	uint64_t now = HAUL_S;

	for (unsigned i = 0; i < sizeof(ttls) / sizeof(ttls[0]); i++) {
		struct dns_answer *f = dns_failure_make(previous, now);

		ck_assert_uint_eq(f->ttl, ttls[i]);
		ck_assert_uint_eq(f->rcode, DNS_SERVFAIL);
		ck_assert_int_eq(dns_answer_age(f, now + f->ttl * HAUL_S - 1), DNS_FRESH);
		now += f->ttl * HAUL_S;
		ck_assert_int_eq(dns_answer_age(f, now), DNS_STALE);
		dns_answer_release(previous);
		previous = f;
	}
	dns_answer_release(previous);
	/* An answer that was there before is no failure. */
	previous = dns_answer_empty(DNS_NOERROR, 1, 0);
	previous->failures = 5;
	failure = dns_failure_make(previous, now);
	ck_assert_uint_eq(failure->ttl, 5);
	dns_answer_release(failure);
	dns_answer_release(previous);
}
END_TEST

/* Forged replies, each of which guesses id, letters, or both: none is taken. */
START_TEST(forged_replies)
{
	struct hauli_random r;

	ask("abcdefghijklmnop.example", DNS_A, &(struct dns_ask_opts){0});
	hauli_random_init(&r, stress_seed());
	begin(0);
	for (int i = 0; i < 100000; i++) {
		bool same_id = hauli_random_below(&r, 2);

		memcpy(m.bytes, a.msg, 2);
		if (!same_id)
			dns_put16(m.bytes, hauli_random_below(&r, 65536));
		memcpy(m.bytes + DNS_HEADER, a.msg + DNS_HEADER, a.question);
		if (same_id || hauli_random_below(&r, 2))
			for (unsigned c = 1; c <= 16; c++)
				m.bytes[DNS_HEADER + c] ^= hauli_random_below(&r, 2) ? 0x20 : 0;
		if (memcmp(m.bytes, a.msg, 2) != 0 ||
			memcmp(m.bytes + DNS_HEADER, a.msg + DNS_HEADER, a.question) != 0)
			ASSERT_EACH(
				dns_reply_judge(&a, m.bytes, m.n, false, &info) == DNS_REPLY_OTHER);
	}
	begin(0);
	ck_assert_int_eq(judge(), DNS_REPLY_GOOD);
}
END_TEST

SUITE_MAIN("dns_reply", {the_right_reply}, {each_bit_of_the_id_and_the_question_counts},
	{beginnings_are_no_replies}, {codes}, {headers_alone_end_the_use_of_edns_and_nothing_else},
	{cookies}, {failures_are_kept_longer_each_time}, {forged_replies})
