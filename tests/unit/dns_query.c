/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dns: clients' queries, right and wrong ones, and their keys. */
#include "../../apps/haul-dns/query.h"

#include <errno.h>

#include "dns_bed.h"

static struct bed_msg m;
static struct dns_query q;

static int parse(void)
{
	return dns_query_parse(&q, bed_copy(m.bytes, m.n), m.n, &bed_secret);
}

/* Each beginning of it is an error, and nothing behind it is read. */
static void refuse_beginnings(void)
{
	for (size_t n = 0; n < m.n; n++)
		ck_assert_int_eq(dns_query_parse(&q, bed_copy(m.bytes, n), n, &bed_secret),
			n < DNS_HEADER ? -EBADMSG : DNS_FORMERR);
}

START_TEST(a_plain_query)
{
	bed_begin(&m, 0x1234, DNS_RD, "WWW.Example.com A");
	refuse_beginnings();
	ck_assert_int_eq(parse(), 0);
	ck_assert_uint_eq(q.id, 0x1234);
	ck_assert_uint_eq(q.flags, DNS_RD);
	ck_assert_uint_eq(q.question, 17 + 4);
	ck_assert(!q.edns.is_there && !q.edns.dnssec_ok && q.edns.nb_cookie == 0);
	ck_assert_uint_eq(q.edns.size, 512);
	ck_assert_uint_eq(q.key.type, DNS_A);
	ck_assert_uint_eq(q.key.class, DNS_IN);
	ck_assert_uint_eq(q.key.flags, 0);
	ck_assert_uint_eq(q.key.length, 17);
	ck_assert_mem_eq(q.key.name, "\3www\7example\3com\0\0\0\0\0\0\0\0", 24);
	bed_begin(&m, 1, 0, ". NS");
	refuse_beginnings();
	ck_assert_int_eq(parse(), 0);
	ck_assert_uint_eq(q.key.length, 1);
}
END_TEST

/* "TTL OPT data": version, DO and options. */
static int parse_edns(const char *line)
{
	bed_begin(&m, 1, DNS_RD | DNS_CD, "a A");
	bed_add(&m, DNS_ADDITIONALS, line);
	return parse();
}

START_TEST(edns)
{
	ck_assert_int_eq(parse_edns(". 32768 OPT "), 0);
	refuse_beginnings();
	ck_assert(q.edns.is_there == 0);
	ck_assert_int_eq(parse(), 0);
	ck_assert(q.edns.is_there && q.edns.dnssec_ok);
	ck_assert_uint_eq(q.edns.size, 1232);
	ck_assert_uint_eq(q.key.flags, DNS_KEY_DO | DNS_KEY_CD);
	/* A cookie between two options that mean nothing here, and a second one. */
	ck_assert_int_eq(parse_edns(". 0 OPT 00030000000a0008010203040506070800080001ff"
				    "000a00080000000000000000"),
		0);
	ck_assert_uint_eq(q.edns.nb_cookie, 8);
	ck_assert_mem_eq(q.edns.cookie, "\1\2\3\4\5\6\7\10", 8);
	ck_assert(!q.edns.dnssec_ok);
	ck_assert_int_eq(parse_edns(". 65536 OPT "), DNS_BADVERS);
	ck_assert_uint_gt(q.question, 0);
	/* Below 512 means 512 (RFC 6891, 6.2.3). */
	bed_begin(&m, 1, 0, "a A");
	bed_add(&m, DNS_ADDITIONALS, ". 0 OPT ");
	dns_put16(m.bytes + m.n - 8, 100);
	ck_assert_int_eq(parse(), 0);
	ck_assert_uint_eq(q.edns.size, 512);
}
END_TEST

/* RFC 7873, 5.2.2: 8 bytes, or 16 to 40. */
START_TEST(lengths_of_cookies)
{
	for (unsigned n = 0; n <= 42; n++) {
		char line[200];
		int at = sprintf(line, ". 0 OPT 000a%04x", n);

		for (unsigned i = 0; i < n; i++)
			at += sprintf(line + at, "%02x", i);
		ck_assert_int_eq(
			parse_edns(line), n == 8 || (n >= 16 && n <= 40) ? 0 : DNS_FORMERR);
		ck_assert(n != 40 || (q.edns.nb_cookie == 40 && q.edns.cookie[39] == 39));
	}
}
END_TEST

START_TEST(wrong_options)
{
	ck_assert_int_eq(parse_edns(". 0 OPT 000a"), DNS_FORMERR);
	ck_assert_int_eq(parse_edns(". 0 OPT 000a00"), DNS_FORMERR);
	ck_assert_int_eq(parse_edns(". 0 OPT 00030001"), DNS_FORMERR);
	ck_assert_int_eq(parse_edns(". 0 OPT 000a00100102030405060708"), DNS_FORMERR);
	ck_assert_int_eq(parse_edns("a 0 OPT "), DNS_FORMERR);
	ck_assert_int_eq(parse_edns(". 0 OPT "), 0);
	bed_add(&m, DNS_ADDITIONALS, ". 0 OPT ");
	ck_assert_int_eq(parse(), DNS_FORMERR);
	bed_begin(&m, 1, 0, "a A");
	bed_add(&m, DNS_AUTHORITIES, ". 0 OPT ");
	ck_assert_int_eq(parse(), DNS_FORMERR);
}
END_TEST

START_TEST(wrong_queries)
{
	bed_begin(&m, 1, DNS_QR, "a A");
	ck_assert_int_eq(parse(), -EBADMSG);
	for (unsigned opcode = 1; opcode < 16; opcode++) {
		bed_begin(&m, 1, opcode << 11, "a A");
		ck_assert_int_eq(parse(), DNS_NOTIMP);
	}
	bed_begin(&m, 1, 0, "a A");
	m.bytes[5] = 0;
	ck_assert_int_eq(parse(), DNS_FORMERR);
	ck_assert_uint_eq(q.question, 0);
	m.bytes[5] = 2; /* RFC 9619 */
	ck_assert_int_eq(parse(), DNS_FORMERR);
	bed_begin(&m, 1, 0, "a A");
	bed_add(&m, DNS_ANSWERS, "a 1 A 1.2.3.4");
	ck_assert_int_eq(parse(), DNS_FORMERR);
	bed_begin(&m, 1, 0, "a OPT");
	ck_assert_int_eq(parse(), DNS_FORMERR);
	bed_begin(&m, 1, 0, "a 0");
	ck_assert_int_eq(parse(), DNS_FORMERR);
	/* Bytes behind the end. */
	bed_begin(&m, 1, 0, "a A");
	m.n++;
	ck_assert_int_eq(parse(), DNS_FORMERR);
	/* A record that is announced, and not there. */
	bed_begin(&m, 1, 0, "a A");
	m.bytes[11] = 1;
	ck_assert_int_eq(parse(), DNS_FORMERR);
	m.bytes[10] = 0xff;
	ck_assert_int_eq(parse(), DNS_FORMERR);
	/* A compressed question has nothing that it could point to. */
	bed_begin(&m, 1, 0, "a A");
	dns_put16(m.bytes + DNS_HEADER, 0xc00c);
	ck_assert_int_eq(parse(), DNS_FORMERR);
}
END_TEST

START_TEST(other_records_are_ignored)
{
	bed_begin(&m, 1, 0, "a A");
	bed_add(&m, DNS_AUTHORITIES, "a 1 SOA b c 1");
	bed_add(&m, DNS_ADDITIONALS, ". 0 OPT ");
	bed_add(&m, DNS_ADDITIONALS, "key 0 250 0102");
	refuse_beginnings();
	ck_assert_int_eq(parse(), 0);
	ck_assert(q.edns.is_there);
}
END_TEST

static struct dns_key key_of(const char *question, unsigned flags, const struct dns_secret *secret)
{
	bed_begin(&m, 1, flags, question);
	ck_assert_int_eq(dns_query_parse(&q, bed_copy(m.bytes, m.n), m.n, secret), 0);
	return q.key;
}

START_TEST(keys_differ_as_answers_do)
{
	struct dns_key a = key_of("Aa.b A", DNS_RD, &bed_secret), b, made;

	b = key_of("aA.B A", 0, &bed_secret);
	ck_assert(dns_key_equal(&a, &b));
	b = key_of("aA.B AAAA", 0, &bed_secret);
	ck_assert(!dns_key_equal(&a, &b) && a.hash != b.hash && a.name_hash == b.name_hash);
	b = key_of("aA.B A", DNS_CD, &bed_secret);
	ck_assert(!dns_key_equal(&a, &b) && a.hash != b.hash);
	b = key_of("aA.c A", 0, &bed_secret);
	ck_assert(!dns_key_equal(&a, &b) && a.hash != b.hash && a.name_hash != b.name_hash);
	/* The bytes of "a.a" and of a label "a\1a" differ by the lengths only. */
	b = key_of("aA.B A", 0, &(struct dns_secret){{1, 2}});
	ck_assert_uint_ne(a.hash, b.hash);
	/* Equal hashes do not make equal names. */
	b = key_of("aA.c A", 0, &bed_secret);
	b.hash = a.hash;
	ck_assert(!dns_key_equal(&a, &b));
	dns_key_make(&made, (const uint8_t *)"\2AA\1b", 6, DNS_A, DNS_IN, 0, &bed_secret);
	ck_assert(dns_key_equal(&a, &made));
}
END_TEST

/* Of all lengths, at the end of memory: the key made of the name in the message is that of the name
 * by itself, and the bytes of it the folded ones. */
START_TEST(keys_of_all_lengths)
{
	struct hauli_random r;

	hauli_random_init(&r, stress_seed());
	for (unsigned n = 3; n <= 255; n++) {
		uint8_t bytes[DNS_HEADER + 255 + 4] = {0, 0, 0, 0, 0, 1}, *at = bytes + DNS_HEADER;
		unsigned left = n - 1;
		struct dns_key made;

		while (left > 0) {
			unsigned label = left > 66 ? 63 : left == 65 || left == 66 ? 30 : left - 1;

			*at++ = (uint8_t)label;
			left -= label + 1;
			while (label-- > 0)
				*at++ = (uint8_t)hauli_random_below(&r, 256);
		}
		dns_put32(at + 1, 0x10001);
		ck_assert_int_eq(dns_query_parse(&q, bed_copy(bytes, DNS_HEADER + n + 4),
					 DNS_HEADER + n + 4, &bed_secret),
			0);
		ck_assert_uint_eq(q.key.length, n);
		for (unsigned i = 0; i < n; i++)
			ASSERT_EACH(dns_key_name(&q.key)[i] == dns_fold(bytes[DNS_HEADER + i]));
		dns_key_make(&made, bytes + DNS_HEADER, n, DNS_A, DNS_IN, 0, &bed_secret);
		ck_assert(dns_key_equal(&q.key, &made) && q.key.name_hash == made.name_hash);
	}
}
END_TEST

SUITE_MAIN("dns_query", {a_plain_query}, {edns}, {lengths_of_cookies}, {wrong_options},
	{wrong_queries}, {other_records_are_ignored}, {keys_differ_as_answers_do},
	{keys_of_all_lengths})
