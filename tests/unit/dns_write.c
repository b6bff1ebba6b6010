/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dns: messages for clients: answers, errors, truncated ones, with and without EDNS. */
#include <haul/base.h>

#include "../../apps/haul-dns/out.h"
#include "dns_bed.h"

static struct bed_msg m;
static struct dns_query q;
static uint8_t out[BED_MESSAGE];
static char text[BED_TEXT];
static const uint8_t cookie[16] = "0123456789abcdef";

static struct dns_reply_opts opts = {.max = 1232, .ede = DNS_EDE_NONE};

static void ask(const char *question, unsigned flags, const char *opt)
{
	bed_begin(&m, 0xbeef, flags, question);
	if (opt)
		bed_add(&m, DNS_ADDITIONALS, opt);
	ck_assert_int_eq(dns_query_parse(&q, m.bytes, m.n, &bed_secret), 0);
}

/* An answer of n addresses at the question's name, made at 100 s, for 300 s and 2 minutes more. */
static struct dns_answer *addresses(unsigned n)
{
	uint8_t records[16 * 4096], *at = records;
	uint16_t ttls[4096];
	struct dns_answer *a;

	for (unsigned i = 0; i < n; i++, at += 16) {
		memcpy(at, "\xc0\x0c\0\1\0\1\0\0\1\x2c\0\4\12\0\0", 15);
		at[15] = (uint8_t)i;
		ttls[i] = (uint16_t)(16 * i + 6);
	}
	a = dns_answer_create(records, 16 * n, ttls, n);
	a->nb_answers = (uint16_t)n;
	a->ttl = 300;
	a->made = 100 * HAUL_S;
	a->prefetch_at = 370 * HAUL_S;
	a->expires = 400 * HAUL_S;
	a->dead_at = 520 * HAUL_S;
	return a;
}

static const char *write_answer(const struct dns_answer *a)
{
	return bed_text(out, dns_write_answer(out, m.bytes, &q, a, &opts), text);
}

START_TEST(an_answer_has_the_question_and_less_time)
{
	struct dns_answer *a = addresses(2);

	ask("wWw.eXample.COM A", DNS_RD | DNS_CD | DNS_AD, NULL);
	opts.now = 100 * HAUL_S;
	ck_assert_str_eq(write_answer(a),
		"0 wWw.eXample.COM A\n0 wWw.eXample.COM 300 A 10.0.0.0\n"
		"0 wWw.eXample.COM 300 A 10.0.0.1\n");
	ck_assert_uint_eq(dns_get16(out), 0xbeef);
	ck_assert_uint_eq(dns_get16(out + 2), DNS_QR | DNS_RA | DNS_RD | DNS_CD);
	opts.now = 102 * HAUL_S - 1;
	ck_assert_ptr_nonnull(strstr(write_answer(a), " 299 A 10.0.0.1"));
	opts.now = 102 * HAUL_S;
	ck_assert_ptr_nonnull(strstr(write_answer(a), " 298 A 10.0.0.0"));
	opts.now = 400 * HAUL_S - 1;
	ck_assert_ptr_nonnull(strstr(write_answer(a), " 1 A 10.0.0.1"));
	ck_assert_int_eq(dns_answer_age(a, opts.now), DNS_AGEING);
	/* Expired, and used all the same; and an older clock than that of the answer. */
	opts.now = 400 * HAUL_S;
	ck_assert_ptr_nonnull(strstr(write_answer(a), " 30 A 10.0.0.1"));
	opts.now = 99 * HAUL_S;
	ck_assert_ptr_nonnull(strstr(write_answer(a), " 300 A 10.0.0.1"));
	dns_answer_release(a);
}
END_TEST

START_TEST(ages)
{
	struct dns_answer *a = addresses(1);

	ck_assert_int_eq(dns_answer_age(a, 370 * HAUL_S - 1), DNS_FRESH);
	ck_assert_int_eq(dns_answer_age(a, 370 * HAUL_S), DNS_AGEING);
	ck_assert_int_eq(dns_answer_age(a, 400 * HAUL_S), DNS_STALE);
	ck_assert_int_eq(dns_answer_age(a, 520 * HAUL_S), DNS_DEAD);
	dns_answer_release(a);
}
END_TEST

/* What was never fresh keeps its 0: nobody may keep it. */
START_TEST(a_ttl_of_zero_stays)
{
	struct dns_answer *a = addresses(1);

	dns_put32(a->bytes + 6, 0);
	a->ttl = 0;
	a->prefetch_at = a->expires = a->dead_at = a->made;
	ask("a A", 0, NULL);
	opts.now = a->made + HAUL_S;
	ck_assert_str_eq(write_answer(a), "0 a A\n0 a 0 A 10.0.0.0\n");
	dns_answer_release(a);
}
END_TEST

START_TEST(edns_is_answered_and_only_then)
{
	struct dns_answer *a = addresses(1);

	opts.now = 100 * HAUL_S;
	opts.server_cookie = cookie;
	opts.ede = DNS_EDE_STALE;
	ask("a A", 0, NULL);
	ck_assert_str_eq(write_answer(a), "0 a A\n0 a 300 A 10.0.0.0\n");
	ask("a A", 0, ". 32768 OPT 000a00080102030405060708");
	ck_assert_str_eq(write_answer(a),
		"0 a A\n0 a 300 A 10.0.0.0\n"
		"2 . 32768 OPT 000a0018010203040506070830313233343536373839616263646566"
		"000f00020003\n");
	/* No cookie without the client's. */
	ask("a A", 0, ". 0 OPT ");
	opts.ede = DNS_EDE_NONE;
	ck_assert_str_eq(write_answer(a), "0 a A\n0 a 300 A 10.0.0.0\n2 . 0 OPT \n");
	opts.server_cookie = NULL;
	dns_answer_release(a);
}
END_TEST

/* One byte decides, for all combinations of sizes. */
START_TEST(answers_are_as_large_as_the_client_takes)
{
	static const unsigned sizes[] = {0, 512, 513, 795, 1232, 1233, 4096, 65535};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (unsigned n = 1; n < 100; n++) {
			unsigned takes = sizes[i] < 1232 ? sizes[i] > 512 ? sizes[i] : 512 : 1232;
			bool fits = 12 + 7 + 16 * n + (i > 0 ? 11u : 0) <= takes;
			struct dns_answer *a = addresses(n);
			size_t bytes;

			ask("a A", 0, i > 0 ? ". 0 OPT " : NULL);
			q.edns.size = i > 0 ? (uint16_t)sizes[i] : 512;
			bytes = dns_write_answer(out, m.bytes, &q, a, &opts);
			ASSERT_EACH(bytes <= takes);
			bed_text(out, bytes, text);
			ASSERT_EACH(dns_get16(out + 6) == (fits ? n : 0));
			ASSERT_EACH(!(dns_get16(out + 2) & DNS_TC) == fits);
			ASSERT_EACH(fits ||
				strcmp(text, i > 0 ? "0 tc a A\n2 . 0 OPT \n" : "0 tc a A\n") == 0);
			/* By TCP all fit. */
			opts.is_stream = true;
			opts.max = DNS_MESSAGE_MAX;
			bytes = dns_write_answer(out, m.bytes, &q, a, &opts);
			opts.is_stream = false;
			opts.max = 1232;
			ASSERT_EACH(dns_get16(out + 6) == n &&
				bytes == 19 + 16 * n + (i > 0 ? 11u : 0));
			dns_answer_release(a);
		}
	}
}
END_TEST

/* The reply is written over the query. */
START_TEST(in_place)
{
	struct dns_answer *a = addresses(3);
	uint8_t copy[1232];
	size_t n;

	ask("Some.Name A", DNS_RD, ". 32768 OPT 000a00080102030405060708");
	opts.server_cookie = cookie;
	n = dns_write_answer(out, m.bytes, &q, a, &opts);
	memcpy(copy, m.bytes, m.n);
	ck_assert_uint_eq(dns_write_answer(copy, copy, &q, a, &opts), n);
	ck_assert_mem_eq(copy, out, n);
	memcpy(copy, m.bytes, m.n);
	n = dns_write_error(out, m.bytes, &q, DNS_SERVFAIL, &opts);
	ck_assert_uint_eq(dns_write_error(copy, copy, &q, DNS_SERVFAIL, &opts), n);
	ck_assert_mem_eq(copy, out, n);
	opts.server_cookie = NULL;
	dns_answer_release(a);
}
END_TEST

START_TEST(errors)
{
	ask("a A", DNS_RD, ". 0 OPT ");
	ck_assert_str_eq(bed_text(out, dns_write_error(out, m.bytes, &q, DNS_REFUSED, &opts), text),
		"5 a A\n2 . 0 OPT \n");
	/* The upper bits of the code. */
	ck_assert_str_eq(bed_text(out, dns_write_error(out, m.bytes, &q, DNS_BADVERS, &opts), text),
		"0 a A\n2 . 16777216 OPT \n");
	/* Without a question: a header. The opcode comes back. */
	bed_begin(&m, 7, 5 << 11 | DNS_RD, "a A");
	ck_assert_int_eq(dns_query_parse(&q, m.bytes, m.n, &bed_secret), DNS_NOTIMP);
	ck_assert_uint_eq(dns_write_error(out, m.bytes, &q, DNS_NOTIMP, &opts), DNS_HEADER);
	ck_assert_mem_eq(out, "\0\7\xa9\x84\0\0\0\0\0\0\0\0", 12);
	m.bytes[2] = 0;
	m.bytes[5] = 0;
	ck_assert_int_eq(dns_query_parse(&q, m.bytes, m.n, &bed_secret), DNS_FORMERR);
	ck_assert_uint_eq(dns_write_error(out, m.bytes, &q, DNS_FORMERR, &opts), DNS_HEADER);
}
END_TEST

/* Names are found again in any case; what does not fit is not begun. */
START_TEST(names_are_compressed)
{
	uint8_t buf[64], name[DNS_NAME_MAX];
	struct dns_out o;
	size_t end;

	dns_out_init(&o, buf, sizeof(buf));
	o.n = DNS_HEADER;
	dns_out_name(&o, (const uint8_t *)"\1F\3ISI\4ARPA", true);
	dns_out_name(&o, (const uint8_t *)"\3FOO\1f\3isi\4arpa", true);
	dns_out_name(&o, (const uint8_t *)"\4arpa", true);
	dns_out_name(&o, (const uint8_t *)"\4arpa", false);
	dns_out_name(&o, (const uint8_t *)"", true);
	ck_assert_uint_eq(o.n, DNS_HEADER + 12 + 6 + 2 + 6 + 1);
	ck_assert_mem_eq(buf + DNS_HEADER, "\1F\3ISI\4ARPA\0\3FOO\xc0\x0c\xc0\x12\4arpa\0", 27);
	ck_assert_int_eq(dns_name_read(buf, o.n, DNS_HEADER + 12, name, &end), 16);
	dns_out_bytes(&o, buf, 25);
	ck_assert(!o.is_full && o.n == 64);
	dns_out_bytes(&o, buf, 1);
	ck_assert(o.is_full && o.n == 64);
	dns_out_init(&o, buf, 3);
	dns_out_u16(&o, 1);
	dns_out_u16(&o, 1);
	ck_assert(o.is_full && o.n == 2);
}
END_TEST

SUITE_MAIN("dns_write", {an_answer_has_the_question_and_less_time}, {ages}, {a_ttl_of_zero_stays},
	{edns_is_answered_and_only_then}, {answers_are_as_large_as_the_client_takes}, {in_place},
	{errors}, {names_are_compressed})
