/* SPDX-License-Identifier: BSD-3-Clause */
/* Random flow rules of haul-fwd's prompt: a rule that is printed and parsed again has the same
 * bytes, and each line that is spoilt has a line that says so. */
#include <arpa/inet.h>
#include <stdarg.h>
#include <string.h>

#include <rte_ethdev.h>

#include "../../apps/haul-fwd/flow/parse.h"
#include "../../apps/haul-fwd/rss.h"
#include "base/random.h"
#include "support/suite.h"

#define RULES 400

static const uint16_t ids[] = {0, 1, 2, 3, 4, UINT16_MAX};
static struct fwd_flow_raw encap[FWD_FLOW_RAW], decap[FWD_FLOW_RAW];
static const struct fwd_flow_known known = {
	.ports = {ids, 6}, .queues = 3, .encap = encap, .decap = decap};
static struct fwd_flow_rule rule, again;
static char said[1 << 13]; /* the line about what is wrong */
static struct hauli_random rng;

static bool parse_to(struct fwd_flow_rule *r, const char *text)
{
	FILE *out = fmemopen(said, sizeof(said), "w");
	bool good;

	said[0] = '\0';
	good = fwd_flow_parse(r, text, "flow create 0", &known, out);
	fclose(out);
	ASSERT_EACH(good == (said[0] == '\0'));
	return good;
}

static unsigned below(unsigned n)
{
	return hauli_random_below(&rng, n);
}

static char text[1 << 16];
static size_t length;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	length += (size_t)vsnprintf(&text[length], sizeof(text) - length, format, args);
	va_end(args);
	ck_assert_uint_lt(length, sizeof(text));
}

static bool is_address(const struct fwd_flow_field *f)
{
	return f->kind == FWD_FLOW_MAC || f->kind == FWD_FLOW_IPV4 || f->kind == FWD_FLOW_IPV6;
}

/* The number that a field of a struct has, read bit by bit. */
static uint64_t number_of(const struct fwd_flow_field *f, const uint8_t *object)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < f->size; i++) {
		unsigned from = f->kind == FWD_FLOW_NET ? i : f->size - 1U - i;

		number = number << 8 | object[f->at + from];
	}
	if (f->bits)
		number = (number & f->bits) >> __builtin_ctz(f->bits);
	return number;
}

static void add_value(const struct fwd_flow_field *f, const uint8_t *object, bool mask)
{
	static const char *const colors[] = {"green", "yellow", "red"};
	char address[64];
	const uint8_t *at = object + f->at;

	if (f->kind == FWD_FLOW_MAC)
		add(" %02x:%02x:%02x:%02x:%02x:%02x", at[0], at[1], at[2], at[3], at[4], at[5]);
	else if (is_address(f))
		add(" %s",
			inet_ntop(f->kind == FWD_FLOW_IPV4 ? AF_INET : AF_INET6, at, address,
				sizeof(address)));
	else if (f->kind == FWD_FLOW_COLOR && !mask)
		add(" %s", colors[number_of(f, object)]);
	else
		add(below(2) && f->kind != FWD_FLOW_SWITCH ? " 0x%llx" : " %llu",
			(unsigned long long)number_of(f, object));
}

static void add_random_value(const struct fwd_flow_field *f, bool mask)
{
	uint8_t bytes[64];
	struct fwd_flow_field at_0 = *f;

	at_0.at = 0;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(below(3) ? below(256) : 0);
	if (!mask && (f->kind == FWD_FLOW_PORT || f->kind == FWD_FLOW_COLOR)) {
		memset(bytes, 0, sizeof(bytes));
		bytes[0] = (uint8_t)below(3);
	}
	add_value(&at_0, bytes, mask);
}

static const struct fwd_flow_field *random_field(const struct fwd_flow_part *part)
{
	unsigned n = 0;

	while (part->fields && part->fields[n].name)
		n++;
	return n ? &part->fields[below(n)] : NULL;
}

static const struct fwd_flow_part *random_part(const struct fwd_flow_part *table)
{
	unsigned n = 0;

	while (table[n].name)
		n++;
	return &table[below(n)];
}

static void add_random_item(void)
{
	static const char *const how[] = {"is", "spec", "last", "mask", "prefix"};
	const struct fwd_flow_part *part = random_part(fwd_flow_items);
	const struct fwd_flow_field *f;

	add(" %s", part->name);
	for (unsigned n = below(4); n > 0 && (f = random_field(part)); n--) {
		unsigned h = below(5);

		add(" %s %s", f->name, how[h]);
		if (h == 4)
			add(" %u",
				below((f->bits ? (unsigned)__builtin_popcount(f->bits)
					       : 8U * f->size) +
					1));
		else
			add_random_value(f, h == 3);
	}
	add(" /");
}

static void add_random_rss(void)
{
	static const char *const functions[] = {
		"default", "toeplitz", "simple_xor", "symmetric_toeplitz"};
	static const char *const types[] = {"ip", "udp", "ipv4-tcp", "vxlan", "all", "none"};

	if (below(2))
		add(" func %s", functions[below(4)]);
	if (below(2))
		add(" level %u", below(4));
	if (below(2)) {
		add(" types");
		for (unsigned n = below(3); n > 0; n--)
			add(" %s", types[below(6)]);
		add(" end");
	}
	if (below(2)) {
		add(" queues");
		for (unsigned n = below(5); n > 0; n--)
			add(" %u", below(70000) % 65536);
		add(" end");
	}
	if (below(2)) {
		add(" key ");
		for (unsigned n = 1 + below(64); n > 0; n--)
			add("%02x", below(256));
	}
}

static void add_random_action(void)
{
	const struct fwd_flow_part *part = random_part(fwd_flow_actions);
	const struct fwd_flow_field *f;

	add(" %s", part->name);
	if (part->extra == FWD_FLOW_RSS)
		add_random_rss();
	else if (part->extra != FWD_FLOW_PLAIN)
		add(below(2) ? " index %u" : "", below(FWD_FLOW_RAW));
	for (unsigned n = below(4); n > 0 && (f = random_field(part)); n--) {
		add(" %s", f->name);
		add_random_value(f, false);
	}
	add(" /");
}

static void make_random_rule(void)
{
	length = 0;
	add("%s%s", below(2) ? "ingress " : "", below(4) ? "" : "egress ");
	if (below(2))
		add("group %u ", below(1000));
	if (below(2))
		add("priority 0x%x transfer ", below(1000));
	add("pattern");
	for (unsigned n = below(6); n > 0; n--)
		add_random_item();
	add(" end actions");
	for (unsigned n = below(6); n > 0; n--)
		add_random_action();
	add(" end");
}

static void print_struct(
	const struct fwd_flow_part *part, const void *object, const char *how, bool mask)
{
	for (const struct fwd_flow_field *f = part->fields; object && f->name; f++) {
		add(" %s%s", f->name, how);
		add_value(f, object, mask);
	}
}

static void print_rss(const struct rte_flow_action_rss *rss)
{
	static const char *const functions[] = {[RTE_ETH_HASH_FUNCTION_DEFAULT] = "default",
		[RTE_ETH_HASH_FUNCTION_TOEPLITZ] = "toeplitz",
		[RTE_ETH_HASH_FUNCTION_SIMPLE_XOR] = "simple_xor",
		[RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ] = "symmetric_toeplitz"};

	add(" func %s level %u types", functions[rss->func], rss->level);
	for (unsigned bit = 0; bit < 64; bit++)
		if (rss->types >> bit & 1)
			add(" %s", fwd_rss_name(UINT64_C(1) << bit));
	add(" end queues");
	for (unsigned i = 0; i < rss->queue_num; i++)
		add(" %u", rss->queue[i]);
	add(" end");
	for (unsigned i = 0; i < rss->key_len; i++)
		add("%s%02x", i ? "" : " key ", rss->key[i]);
}

/* The rule in full: each field of each struct that it has. */
static void print_rule(const struct fwd_flow_rule *r)
{
	length = 0;
	add("group %u priority %u %s%s%spattern", r->attr.group, r->attr.priority,
		r->attr.ingress ? "ingress " : "", r->attr.egress ? "egress " : "",
		r->attr.transfer ? "transfer " : "");
	for (unsigned i = 0; i < r->nb_items; i++) {
		const struct rte_flow_item *item = &r->items[i];
		const struct fwd_flow_part *part =
			fwd_flow_find_type(fwd_flow_items, (int)item->type);

		add(" %s", part->name);
		print_struct(part, item->spec, " spec", false);
		print_struct(part, item->last, " last", false);
		print_struct(part, item->mask, " mask", true);
		add(" /");
	}
	add(" end actions");
	for (unsigned i = 0; i < r->nb_actions; i++) {
		const struct rte_flow_action *action = &r->actions[i];
		const struct fwd_flow_part *part =
			fwd_flow_find_type(fwd_flow_actions, (int)action->type);

		add(" %s", part->name);
		if (part->extra == FWD_FLOW_RSS)
			print_rss(action->conf);
		else if (part->extra == FWD_FLOW_ENCAP)
			add(" index %u",
				(unsigned)((const struct fwd_flow_raw
							   *)((const struct
								      rte_flow_action_raw_encap *)
								      action->conf)
						   ->data -
					encap));
		else if (part->extra == FWD_FLOW_DECAP)
			add(" index %u",
				(unsigned)((const struct fwd_flow_raw
							   *)((const struct
								      rte_flow_action_raw_decap *)
								      action->conf)
						   ->data -
					decap));
		else if (part->fields)
			print_struct(part, action->conf, "", false);
		add(" /");
	}
	add(" end");
}

static void assert_same(const void *a, const void *b, size_t size)
{
	ASSERT_EACH((a == NULL) == (b == NULL));
	if (a)
		ASSERT_EACH(memcmp(a, b, size) == 0);
}

static void assert_same_rss(
	const struct rte_flow_action_rss *a, const struct rte_flow_action_rss *b)
{
	ASSERT_EACH(a->func == b->func && a->level == b->level && a->types == b->types);
	ASSERT_EACH(a->queue_num == b->queue_num && a->key_len == b->key_len);
	assert_same(a->queue, b->queue, a->queue_num * sizeof(a->queue[0]));
	assert_same(a->key, b->key, a->key_len);
}

static void assert_same_rules(const struct fwd_flow_rule *a, const struct fwd_flow_rule *b)
{
	ASSERT_EACH(memcmp(&a->attr, &b->attr, sizeof(a->attr)) == 0);
	ASSERT_EACH(a->nb_items == b->nb_items && a->nb_actions == b->nb_actions);
	for (unsigned i = 0; i <= a->nb_items; i++) {
		const struct rte_flow_item *x = &a->items[i], *y = &b->items[i];
		const struct fwd_flow_part *part = fwd_flow_find_type(fwd_flow_items, (int)x->type);

		ASSERT_EACH(x->type == y->type);
		assert_same(x->spec, y->spec, part ? part->size : 0);
		assert_same(x->last, y->last, part ? part->size : 0);
		assert_same(x->mask, y->mask, part ? part->size : 0);
	}
	for (unsigned i = 0; i < a->nb_actions; i++) {
		const struct rte_flow_action *x = &a->actions[i], *y = &b->actions[i];

		ASSERT_EACH(x->type == y->type);
		if (x->type == RTE_FLOW_ACTION_TYPE_RSS)
			assert_same_rss(x->conf, y->conf);
		else
			assert_same(x->conf, y->conf,
				fwd_flow_find_type(fwd_flow_actions, (int)x->type)->size);
	}
}

START_TEST(a_rule_that_is_printed_is_the_same_rule)
{
	hauli_random_init(&rng, (uint64_t)_i);
	for (unsigned n = 0; n < RULES; n++) {
		make_random_rule();
		ck_assert_msg(parse_to(&rule, text), "%d: %s: %s", _i, text, said);
		print_rule(&rule);
		ck_assert_msg(parse_to(&again, text), "%d: %s: %s", _i, text, said);
		assert_same_rules(&rule, &again);
	}
}
END_TEST

/* A right rule with random characters and words in it, missing, or twice. */
static void spoil(void)
{
	static const char *const words[] = {" / ", " end ", " is ", " pattern ", " actions ",
		" eth ", " rss ", " 99999999999999999999 ", " queues ", " key ", " 0x ", "\t",
		" index 1 "};

	for (unsigned n = 1 + below(4); n > 0; n--) {
		size_t at = below((unsigned)length + 1);
		const char *word = words[below(RTE_DIM(words))];

		if (below(3) == 0 && length > 0 && at < length) {
			text[at] = (char)(1 + below(255));
		} else if (below(2) && length + strlen(word) < sizeof(text)) {
			memmove(&text[at + strlen(word)], &text[at], length - at + 1);
			memcpy(&text[at], word, strlen(word));
			length += strlen(word);
		} else {
			length = at;
			text[at] = '\0';
		}
	}
}

START_TEST(garbage_has_a_line)
{
	unsigned refused = 0;

	hauli_random_init(&rng, (uint64_t)_i);
	for (unsigned n = 0; n < RULES; n++) {
		make_random_rule();
		spoil();
		if (parse_to(&rule, text))
			continue;
		refused++;
		ASSERT_EACH(said[strlen(said) - 1] == '\n');
		ASSERT_EACH(strncmp(said, "Bad arguments: ", 15) == 0);
	}
	ck_assert_uint_gt(refused, RULES / 2);
}
END_TEST

SUITE_MAIN("words of flow rules", {a_rule_that_is_printed_is_the_same_rule, .runs = 20},
	{garbage_has_a_line, .runs = 20})
