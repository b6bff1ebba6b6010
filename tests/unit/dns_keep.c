/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dns: what of a reply is kept, and for how long: tables, with the RFCs' examples. */
#include <errno.h>
#include <haul/base.h>

#include "../../apps/haul-dns/reply.h"
#include "dns_bed.h"

static struct dns_random random_numbers;
static struct dns_key key;
static struct dns_ask a;
static struct bed_msg m;
static uint8_t out[BED_MESSAGE];
static char text[BED_TEXT];
static struct dns_keep_opts opts = {.now = 100 * HAUL_S, .stale = 1000};

/* "name TYPE" and key flags. */
static void ask(const char *question, unsigned flags)
{
	char name[256], type[16];
	uint8_t wire[DNS_NAME_MAX];

	sscanf(question, "%255s %15s", name, type);
	dns_key_make(&key, wire, (size_t)dns_name_parse(name, strlen(name), wire), bed_type(type),
		DNS_IN, flags, &bed_secret);
	dns_ask_make(&a, &key, &(struct dns_ask_opts){.same_case = true}, &random_numbers);
	bed_begin(&m, dns_get16(a.msg), DNS_QR | DNS_RA, question);
}

/* Sections apart by a line of "-". */
static void add_lines(const char *lines)
{
	enum dns_section section = DNS_ANSWERS;
	char line[512];

	for (; *lines; lines += strcspn(lines, "\n"), lines += *lines == '\n') {
		sprintf(line, "%.*s", (int)strcspn(lines, "\n"), lines);
		if (line[0] == '-')
			section++;
		else
			bed_add(&m, section, line);
	}
}

/* What a client would be sent by TCP, or the error. */
static const char *kept(struct dns_answer **answer)
{
	struct dns_reply_opts reply = {
		.now = opts.now, .max = DNS_MESSAGE_MAX, .is_stream = true, .ede = DNS_EDE_NONE};
	int rc = dns_reply_keep(answer, &a, bed_copy(m.bytes, m.n), m.n, &opts);
	uint8_t query[DNS_ASK_MAX];
	struct dns_query q;

	if (rc < 0) {
		*answer = NULL;
		sprintf(text, "%d", rc);
		return text;
	}
	memcpy(query, a.msg, DNS_HEADER + (size_t)a.question);
	dns_put16(query + 10, 0);
	ck_assert_int_eq(
		dns_query_parse(&q, query, DNS_HEADER + (size_t)a.question, &bed_secret), 0);
	return bed_text(out, dns_write_answer(out, query, &q, *answer, &reply), text);
}

static const struct {
	const char *question;
	unsigned flags, rcode;
	const char *reply, *expected; /* expected: without the question, or an error */
	unsigned ttl;
} rows[] = {
	/* The plain ones. */
	{"a.x A", 0, 0, "a.x 300 A 1.2.3.4", "0 a.x 300 A 1.2.3.4\n", 300},
	{"a.x AAAA", 0, 0, "a.x 300 AAAA fd00::1", "0 a.x 300 AAAA fd00::1\n", 300},
	{"x MX", 0, 0, "x 9 MX 10 mail.x\nx 9 MX 20 mail.y\n-\nx 9 NS ns.x\n-\nmail.x 9 A 1.1.1.1",
		"0 x 9 MX 10 mail.x\n0 x 9 MX 20 mail.y\n", 9},
	{"x SRV", 0, 0, "x 9 SRV host.x", "0 x 9 SRV host.x\n", 9},
	{"x NAPTR", 0, 0, "x 9 NAPTR sip.x", "0 x 9 NAPTR sip.x\n", 9},
	{"x 65", 0, 0, "x 9 HTTPS 0001000001000302", "0 x 9 HTTPS 0001000001000302\n", 9},
	{"x 4711", 0, 0, "x 9 4711 c00cc00c", "0 x 9 4711 c00cc00c\n", 9},
	/* RFC 2181, 5.2: times of a set are equal: the least; 8: the upper bit means 0. */
	{"a.x A", 0, 0, "a.x 300 A 1.2.3.4\na.x 100 A 1.2.3.5",
		"0 a.x 100 A 1.2.3.4\n0 a.x 100 A 1.2.3.5\n", 100},
	{"a.x A", 0, 0, "a.x 2147483648 A 1.2.3.4", "0 a.x 0 A 1.2.3.4\n", 0},
	{"a.x A", 0, 0, "a.x 4294967295 A 1.2.3.4", "0 a.x 0 A 1.2.3.4\n", 0},
	{"a.x A", 0, 0, "a.x 2147483647 A 1.2.3.4", "0 a.x 86400 A 1.2.3.4\n", 86400},
	/* RFC 1034, 3.6.2: aliases, in any order; what is not of the chain is dropped. */
	{"a.x A", 0, 0, "a.x 60 CNAME b.x\nb.x 30 CNAME c.y\nc.y 90 A 1.2.3.4",
		"0 a.x 60 CNAME b.x\n0 b.x 30 CNAME c.y\n0 c.y 90 A 1.2.3.4\n", 30},
	{"a.x A", 0, 0, "c.y 90 A 1.2.3.4\nb.x 30 CNAME c.y\na.x 60 CNAME b.x",
		"0 a.x 60 CNAME b.x\n0 b.x 30 CNAME c.y\n0 c.y 90 A 1.2.3.4\n", 30},
	{"a.x A", 0, 0,
		"a.x 60 CNAME b.x\nb.x 60 A 1.2.3.4\nbank.y 60 A 6.6.6.6\n-\n"
		"x 60 NS evil.x\n-\nbank.y 60 A 6.6.6.6\nns.x 60 A 6.6.6.6",
		"0 a.x 60 CNAME b.x\n0 b.x 60 A 1.2.3.4\n", 60},
	{"a.x A", 0, 0, "b.x 60 A 6.6.6.6\na.x 60 A 1.2.3.4\na.x 60 AAAA ::1\na.x 60 TXT 0161",
		"0 a.x 60 A 1.2.3.4\n", 60},
	{"A.x A", 0, 0, "a.X 60 A 1.2.3.4", "0 a.x 60 A 1.2.3.4\n", 60},
	{"a.x CNAME", 0, 0, "a.x 60 CNAME b.x\nb.x 60 A 1.2.3.4", "0 a.x 60 CNAME b.x\n", 60},
	{"a.x ANY", 0, 0, "a.x 60 A 1.2.3.4\na.x 50 TXT 0161",
		"0 a.x 50 A 1.2.3.4\n0 a.x 50 TXT 0161\n", 50},
	/* An alias that leads nowhere. */
	{"a.x A", 0, 0, "a.x 60 CNAME b.x\n-\nx 500 SOA ns.x root.x 40",
		"0 a.x 60 CNAME b.x\n1 x 40 SOA ns.x root.x 40\n", 40},
	{"a.x A", 0, 3, "a.x 60 CNAME b.y\n-\ny 50 SOA ns.y root.y 400",
		"0 a.x 60 CNAME b.y\n1 y 50 SOA ns.y root.y 400\n", 50},
	/* Two aliases, an alias and data, a circle, none of which there is (RFC 2181, 10.1). */
	{"a.x A", 0, 0, "a.x 60 CNAME b.x\na.x 60 CNAME c.x", "-74", 0},
	{"a.x A", 0, 0, "a.x 60 CNAME b.x\na.x 60 A 1.2.3.4", "-74", 0},
	{"a.x A", 0, 0, "a.x 60 CNAME a.x", "-74", 0},
	{"a.x A", 0, 0, "a.x 60 CNAME b.x\nb.x 60 CNAME a.x", "-74", 0},
	/* RFC 2308, 2.1 and 2.2: types 1 and 2 of NXDOMAIN and NODATA have the SOA. */
	{"an.example A", 0, 3,
		"-\nexample 9999 SOA ns1.xx hostmaster.ns1.xx 3600\nexample 60 NS ns1.xx",
		"1 example 3600 SOA ns1.xx hostmaster.ns1.xx 3600\n", 3600},
	{"an.example A", 0, 3, "-\nexample 99 SOA ns1.xx hostmaster.ns1.xx 3600",
		"1 example 99 SOA ns1.xx hostmaster.ns1.xx 3600\n", 99},
	{"example A", 0, 0, "-\nexample 99999 SOA ns1.xx hostmaster.ns1.xx 99999",
		"1 example 10800 SOA ns1.xx hostmaster.ns1.xx 99999\n", 10800},
	/* Type 3 of both has none: not kept. Type 4 of NXDOMAIN has servers; NODATA that looks like
	 * this is a referral (2.2.1). */
	{"an.example A", 0, 3, "", "", 0},
	{"an.example A", 0, 0, "", "", 0},
	{"an.example A", 0, 3, "-\nexample 60 NS ns1.xx", "", 0},
	{"an.example A", 0, 0, "-\nexample 60 NS ns1.xx", "-74", 0},
	/* A SOA of another zone, or of one below, says nothing. */
	{"an.example A", 0, 3, "-\nevil 60 SOA ns.evil a.evil 60", "", 0},
	{"an.example A", 0, 3, "-\nb.an.example 60 SOA ns.evil a.evil 60", "", 0},
	{"a.x A", 0, 3, "-\nb.x 9 SOA n.x r.x 9\nx 8 SOA n.x r.x 9", "1 x 8 SOA n.x r.x 9\n", 8},
	/* No name, but data. */
	{"a.x A", 0, 3, "a.x 60 A 1.2.3.4", "-74", 0},
	/* Signatures and proofs go to those who ask for them. */
	{"a.x A", 0, 0, "a.x 60 A 1.2.3.4\na.x 60 RRSIG A x", "0 a.x 60 A 1.2.3.4\n", 60},
	{"a.x A", DNS_KEY_DO, 0, "a.x 60 A 1.2.3.4\na.x 50 RRSIG A x\na.x 60 RRSIG MX x",
		"0 a.x 60 A 1.2.3.4\n0 a.x 50 RRSIG A x\n", 50},
	{"a.x A", DNS_KEY_DO, 0,
		"a.x 60 CNAME b.y\na.x 60 RRSIG CNAME x\nb.y 60 A 1.2.3.4\nb.y 60 RRSIG A y",
		"0 a.x 60 CNAME b.y\n0 a.x 60 RRSIG CNAME x\n0 b.y 60 A 1.2.3.4\n0 b.y 60 RRSIG A "
		"y\n",
		60},
	{"a.x A", DNS_KEY_DO, 3,
		"-\nx 60 SOA n.x r.x 60\nx 60 RRSIG SOA x\nx 60 NSEC b.x\nx 60 RRSIG NSEC x\n"
		"y 60 NSEC z.y\nx 60 NS n.x\nx 60 RRSIG NS x",
		"1 x 60 SOA n.x r.x 60\n1 x 60 RRSIG SOA x\n1 x 60 NSEC b.x\n1 x 60 RRSIG NSEC x\n",
		60},
	{"a.x A", 0, 3, "-\nx 60 SOA n.x r.x 60\nx 60 RRSIG SOA x\nx 60 NSEC b.x",
		"1 x 60 SOA n.x r.x 60\n", 60},
	/* A wildcard, with the proof that nothing is nearer (RFC 4035, 3.1.3.3). */
	{"a.x A", DNS_KEY_DO, 0,
		"a.x 60 A 1.2.3.4\na.x 60 RRSIG A x\n-\n0.x 40 NSEC b.x\n"
		"0.x 60 RRSIG NSEC x\nz.y 60 NSEC b.y",
		"0 a.x 60 A 1.2.3.4\n0 a.x 60 RRSIG A x\n1 0.x 40 NSEC b.x\n1 0.x 40 RRSIG NSEC "
		"x\n",
		40},
	/* RFC 6672: the alias of all below, and what follows from it. */
	{"a.b.x A", 0, 0, "b.x 60 DNAME c.y\na.b.x 60 CNAME a.c.y\na.c.y 60 A 1.2.3.4",
		"0 b.x 60 DNAME c.y\n0 a.b.x 60 CNAME a.c.y\n0 a.c.y 60 A 1.2.3.4\n", 60},
	{"a.b.x A", 0, 0, "x 60 DNAME evil\na.b.x 60 CNAME a.c.y\na.c.y 60 A 1.2.3.4",
		"0 a.b.x 60 CNAME a.c.y\n0 a.c.y 60 A 1.2.3.4\n", 60},
};

static void check(unsigned i)
{
	char expected[2048], shown[512];
	struct dns_answer *answer;
	const char *got;

	ask(rows[i].question, rows[i].flags);
	dns_put16(m.bytes + 2, DNS_QR | DNS_RA | rows[i].rcode);
	add_lines(rows[i].reply);
	for (size_t c = 0; c <= strlen(rows[i].question); c++)
		shown[c] = (char)dns_fold((uint8_t)rows[i].question[c]);
	*strchr(shown, ' ') = '\0';
	sprintf(expected, "%u %s %s\n%s", rows[i].rcode, shown, bed_type_name(key.type),
		rows[i].expected);
	got = kept(&answer);
	if (!answer) {
		ck_assert_msg(strcmp(got, rows[i].expected) == 0, "row %u: %s", i, got);
	} else {
		ck_assert_msg(strcmp(got, expected) == 0, "row %u: %s", i, got);
		ck_assert_msg(answer->ttl == rows[i].ttl, "row %u: ttl %u", i, answer->ttl);
		ck_assert_uint_eq(answer->expires, opts.now + answer->ttl * HAUL_S);
		ck_assert_uint_eq(answer->dead_at,
			answer->expires + (answer->ttl > 0 ? opts.stale * HAUL_S : 0));
	}
	dns_answer_release(answer);
}

START_TEST(rows_uncompressed)
{
	m.compress = false;
	check((unsigned)_i);
}
END_TEST

START_TEST(rows_compressed)
{
	m.compress = true;
	check((unsigned)_i);
}
END_TEST

/* DNS_CHAIN_MAX aliases, and one more. */
START_TEST(the_longest_chain)
{
	for (unsigned n = 1; n < 20; n++) {
		struct dns_answer *answer;
		char line[64];

		ask("n0 A", 0);
		for (unsigned i = 0; i < n; i++) {
			sprintf(line, "n%u 60 CNAME n%u", i, i + 1);
			bed_add(&m, DNS_ANSWERS, line);
		}
		sprintf(line, "n%u 60 A 1.2.3.4", n);
		bed_add(&m, DNS_ANSWERS, line);
		kept(&answer);
		ck_assert((answer != NULL) == (n <= DNS_CHAIN_MAX));
		ck_assert(!answer || answer->nb_answers == n + 1);
		dns_answer_release(answer);
	}
}
END_TEST

START_TEST(limits_of_times)
{
	struct dns_answer *answer;

	opts.ttl_max = 50;
	opts.negative_max = 20;
	ask("a.x A", 0);
	bed_add(&m, DNS_ANSWERS, "a.x 60 A 1.2.3.4");
	ck_assert_str_eq(kept(&answer), "0 a.x A\n0 a.x 50 A 1.2.3.4\n");
	dns_answer_release(answer);
	ask("a.x A", 0);
	bed_add(&m, DNS_AUTHORITIES, "x 60 SOA n.x r.x 60");
	ck_assert_str_eq(kept(&answer), "0 a.x A\n1 x 20 SOA n.x r.x 60\n");
	ck_assert_uint_eq(answer->prefetch_at, answer->expires - 2 * HAUL_S);
	dns_answer_release(answer);
	opts.ttl_max = opts.negative_max = 0;
	/* Not worth another query. */
	ask("a.x A", 0);
	bed_add(&m, DNS_ANSWERS, "a.x 9 A 1.2.3.4");
	kept(&answer);
	ck_assert_uint_eq(answer->prefetch_at, answer->expires);
	dns_answer_release(answer);
}
END_TEST

/* Names in data end with it, wherever their pointers lead. */
START_TEST(data_of_a_wrong_form)
{
	static const struct {
		unsigned type;
		const char *hex;
	} wrong[] = {{DNS_NS, ""}, {DNS_NS, "0161"}, {DNS_NS, "01610000"}, {DNS_NS, "c0"},
		{DNS_MX, "00"}, {DNS_MX, "0001"}, {DNS_MX, "000101610000"}, {DNS_AAAA, "01020304"},
		{DNS_SOA, "00"}, {DNS_SOA, "00000000000100000002000000030000000400000005ff"},
		{DNS_SRV, "000000000000"}, {DNS_NAPTR, "000100020153035349"},
		{DNS_NAPTR, "0001000201530353495000"}, {DNS_DNAME, "c0ff"}};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char question[32], line[128];
		struct dns_answer *answer;

		sprintf(question, "a.x %u", wrong[i].type);
		ask(question, 0);
		/* A type that bed_rdata() does not know has the digits' bytes. */
		sprintf(line, "a.x 60 9999 %s", wrong[i].hex);
		bed_add(&m, DNS_ANSWERS, line);
		dns_put16(m.bytes + m.n - strlen(wrong[i].hex) / 2 - 10, wrong[i].type);
		kept(&answer);
		ck_assert_msg(answer == NULL, "%u", i);
	}
}
END_TEST

/* As many records as a message has room for: bounded, and refused if they do not fit. */
START_TEST(many_records)
{
	struct dns_answer *answer;

	ask("a A", 0);
	for (unsigned n = 1; n <= 1030; n++) {
		bed_add(&m, DNS_ANSWERS, "a 60 A 1.2.3.4");
		if (n < 1020)
			continue;
		kept(&answer);
		ck_assert((answer != NULL) == (n <= DNS_REPLY_RECORDS_MAX));
		dns_answer_release(answer);
	}
}
END_TEST

SUITE_MAIN("dns_keep", {rows_uncompressed, (int)(sizeof(rows) / sizeof(rows[0]))},
	{rows_compressed, (int)(sizeof(rows) / sizeof(rows[0]))}, {the_longest_chain},
	{limits_of_times}, {data_of_a_wrong_form}, {many_records})
