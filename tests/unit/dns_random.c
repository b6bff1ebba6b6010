/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * haul-dns: random replies, whose answer is kept, sent and read back, against a slow reading of
 * what they say; and the same with bytes changed at random, of which nothing must be sent that is
 * not well formed.
 */
#include <haul/base.h>

#include "../../apps/haul-dns/reply.h"
#include "dns_bed.h"

enum { LINES_MAX = 24, NAMES = 6 };

struct line {
	enum dns_section section;
	unsigned owner, ttl, type, data; /* owner and data: indices of names, or numbers */
};

struct bed {
	struct hauli_random random;
	struct line lines[LINES_MAX];
	unsigned n, type, rcode;
	char names[NAMES][256];
	struct bed_msg m;
	struct dns_key key;
	struct dns_ask ask;
	struct dns_random random_numbers;
};

static struct bed b;
static char expected[BED_TEXT], text[BED_TEXT];
static uint8_t out[BED_MESSAGE];

static unsigned below(unsigned n)
{
	return hauli_random_below(&b.random, n);
}

/* Few labels, so that names are equal or one below another; sometimes long ones. */
static void random_name(char *name)
{
	unsigned labels = 1 + below(3), n = 0;

	for (unsigned i = 0; i < labels; i++) {
		unsigned length = below(20) ? 1 : 1 + below(63);
		char c = (char)("abAB"[below(4)]);

		n += (unsigned)sprintf(name + n, "%s", i > 0 ? "." : "");
		for (unsigned j = 0; j < length; j++)
			name[n++] = c;
		name[n] = '\0';
	}
}

static const unsigned types[] = {DNS_A, DNS_NS, DNS_CNAME, DNS_MX, DNS_SOA, DNS_AAAA, DNS_SRV};

static void add_line(const struct line *l)
{
	char line[1024];
	int n = sprintf(line, "%s %u %u ", b.names[l->owner], l->ttl, l->type);

	switch (l->type) {
	case DNS_A:
		sprintf(line + n, "10.0.0.%u", l->data);
		break;
	case DNS_AAAA:
		sprintf(line + n, "fd00::%x", l->data);
		break;
	case DNS_MX:
		sprintf(line + n, "10 %s", b.names[l->data]);
		break;
	case DNS_SOA:
		sprintf(line + n, "%s %s %u", b.names[l->data], b.names[0], l->ttl / 2 + 7);
		break;
	default:
		sprintf(line + n, "%s", b.names[l->data]);
	}
	bed_add(&b.m, l->section, line);
}

static void make_reply(void)
{
	char question[300];
	uint8_t wire[DNS_NAME_MAX];
	int length;

	for (unsigned i = 0; i < NAMES; i++)
		random_name(b.names[i]);
	b.type = types[below(sizeof(types) / sizeof(types[0]))];
	b.rcode = below(3) ? 0 : 3;
	length = dns_name_parse(b.names[0], strlen(b.names[0]), wire);
	dns_key_make(&b.key, wire, (size_t)length, b.type, DNS_IN, 0, &bed_secret);
	dns_ask_make(&b.ask, &b.key, &(struct dns_ask_opts){0}, &b.random_numbers);
	b.m.compress = below(2);
	sprintf(question, "%s %u", b.names[0], b.type);
	bed_begin(&b.m, dns_get16(b.ask.msg), DNS_QR | b.rcode, question);
	memcpy(b.m.bytes + DNS_HEADER, b.ask.msg + DNS_HEADER, b.ask.question);
	b.n = below(LINES_MAX);
	for (unsigned i = 0; i < b.n; i++) {
		struct line *l = &b.lines[i];

		/* Sections in their order. */
		l->section = i < b.n / 2 ? DNS_ANSWERS
			: i < b.n - 1    ? DNS_AUTHORITIES
					 : DNS_ADDITIONALS;
		l->owner = below(NAMES);
		l->ttl = below(10) ? below(100000) : below(2) ? 0 : UINT32_MAX;
		l->type = below(3) ? b.type : types[below(sizeof(types) / sizeof(types[0]))];
		if (l->section == DNS_AUTHORITIES && below(2))
			l->type = DNS_SOA;
		l->data = below(NAMES);
		add_line(l);
	}
}

static bool same(const char *x, const char *y)
{
	return strcasecmp(x, y) == 0;
}

static bool ends_in(const char *name, const char *zone)
{
	size_t n = strlen(name), m = strlen(zone);

	return same(name, zone) || (n > m && name[n - m - 1] == '.' && same(name + n - m, zone));
}

static uint32_t time_of(const struct line *l)
{
	return l->ttl > INT32_MAX ? 0 : l->ttl > 86400 ? 86400 : l->ttl;
}

static char *print(char *to, const struct line *l, uint32_t ttl)
{
	const char *data = b.names[l->data];

	to += sprintf(
		to, "%d %s %u %s ", l->section, b.names[l->owner], ttl, bed_type_name(l->type));
	if (l->type == DNS_A)
		return to + sprintf(to, "10.0.0.%u\n", l->data);
	if (l->type == DNS_AAAA && l->data > 0)
		return to + sprintf(to, "fd00::%x\n", l->data);
	if (l->type == DNS_AAAA)
		return to + sprintf(to, "fd00::\n");
	if (l->type == DNS_SOA)
		return to + sprintf(to, "%s %s %u\n", data, b.names[0], l->ttl / 2 + 7);
	return to + sprintf(to, "%s%s\n", l->type == DNS_MX ? "10 " : "", data);
}

/* All lines of a type at a name, with the least of their times. Returns their number. */
static unsigned take_set(char **to, const char *name, unsigned type, uint32_t *least)
{
	uint32_t ttl = UINT32_MAX;
	unsigned n = 0;

	for (unsigned i = 0; i < b.n / 2; i++) {
		if (b.lines[i].type != type || !same(b.names[b.lines[i].owner], name))
			continue;
		if (time_of(&b.lines[i]) < ttl)
			ttl = time_of(&b.lines[i]);
		n++;
	}
	for (unsigned i = 0; to && i < b.n / 2; i++)
		if (b.lines[i].type == type && same(b.names[b.lines[i].owner], name))
			*to = print(*to, &b.lines[i], ttl);
	if (n > 0 && ttl < *least)
		*least = ttl;
	return n;
}

/* What must be kept, as text behind the question; false: nothing. *ttl: for so long. */
static bool expect(uint32_t *ttl)
{
	const char *name = b.names[0];
	char *to = expected;
	unsigned data = 0;
	bool has_ns = false;

	*to = '\0';
	*ttl = UINT32_MAX;
	for (int steps = 0;; steps++) {
		unsigned aliases =
			b.type == DNS_CNAME ? 0 : take_set(NULL, name, DNS_CNAME, &(uint32_t){0});

		if (steps > DNS_CHAIN_MAX)
			return false;
		data = take_set(NULL, name, b.type, &(uint32_t){0});
		if (aliases > 1 || (aliases > 0 && data > 0))
			return false;
		if (aliases == 0)
			break;
		take_set(&to, name, DNS_CNAME, ttl);
		for (unsigned i = 0; i < b.n / 2; i++) {
			if (b.lines[i].type == DNS_CNAME && same(b.names[b.lines[i].owner], name)) {
				name = b.names[b.lines[i].data];
				break;
			}
		}
	}
	if (data > 0) {
		take_set(&to, name, b.type, ttl);
		return b.rcode == 0;
	}
	for (unsigned i = b.n / 2; i + 1 < b.n; i++) {
		const struct line *l = &b.lines[i];
		uint32_t least = time_of(l), minimum = l->ttl / 2 + 7;

		has_ns |= l->type == DNS_NS;
		if (l->type != DNS_SOA || !ends_in(name, b.names[l->owner]))
			continue;
		least = least < minimum ? least : minimum;
		least = least < DNS_NEGATIVE_MAX ? least : DNS_NEGATIVE_MAX;
		print(to, l, least);
		*ttl = least < *ttl ? least : *ttl;
		return true;
	}
	*ttl = 0;
	return b.rcode == 3 || !has_ns;
}

/* Sends it to a client by TCP, and reads that. Returns the text behind the question. */
static const char *sent(const struct dns_answer *a)
{
	struct dns_reply_opts opts = {
		.now = HAUL_S, .max = DNS_MESSAGE_MAX, .is_stream = true, .ede = DNS_EDE_NONE};
	uint8_t query[DNS_ASK_MAX] = {0, 1, 1, 0, 0, 1};
	struct dns_query q;

	memcpy(query + DNS_HEADER, b.ask.msg + DNS_HEADER, b.ask.question);
	ASSERT_EACH(
		dns_query_parse(&q, query, DNS_HEADER + (size_t)b.ask.question, &bed_secret) == 0);
	bed_text(out, dns_write_answer(out, query, &q, a, &opts), text);
	return strchr(text, '\n') + 1;
}

static int keep(struct dns_answer **a)
{
	struct dns_keep_opts opts = {.now = HAUL_S, .stale = 1000};

	return dns_reply_keep(a, &b.ask, bed_copy(b.m.bytes, b.m.n), b.m.n, &opts);
}

START_TEST(random_replies)
{
	uint64_t deadline = stress_deadline();
	struct dns_reply_info info;

	hauli_random_init(&b.random, stress_seed());
	do {
		struct dns_answer *a = NULL;
		uint32_t ttl;

		make_reply();
		ASSERT_EACH(dns_reply_judge(&b.ask, bed_copy(b.m.bytes, b.m.n), b.m.n, false,
				    &info) == DNS_REPLY_GOOD);
		ASSERT_EACH((keep(&a) == 0) == expect(&ttl));
		if (!a)
			continue;
		/* Names of answers take the case of those that they are equal to. */
		ck_assert_msg(same(sent(a), expected), "%s\nfor\n%s", text, expected);
		ASSERT_EACH(a->ttl == ttl);
		dns_answer_release(a);
	} while (haul_now() < deadline);
}
END_TEST

START_TEST(random_changes)
{
	uint64_t deadline = stress_deadline();
	struct dns_reply_info info;

	hauli_random_init(&b.random, stress_seed());
	do {
		struct dns_answer *a;
		unsigned changes = 1 + below(4);

		make_reply();
		for (unsigned i = 0; i < changes; i++) {
			size_t from = DNS_HEADER + (size_t)b.ask.question;
			size_t at = from + below((unsigned)(b.m.n - from) + 1) - 1;

			b.m.bytes[at < from ? 6 + below(6) : at] =
				(uint8_t)(below(4) ? below(256) : 0xc0);
		}
		if (below(4) == 0)
			b.m.n = DNS_HEADER + b.ask.question + below((unsigned)b.m.n);
		if (dns_reply_judge(&b.ask, bed_copy(b.m.bytes, b.m.n), b.m.n, false, &info) !=
				DNS_REPLY_GOOD ||
			keep(&a) < 0)
			continue;
		sent(a);
		dns_answer_release(a);
	} while (haul_now() < deadline);
}
END_TEST

SUITE_MAIN("dns_random", {random_replies}, {random_changes})
