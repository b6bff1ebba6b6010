/* SPDX-License-Identifier: BSD-3-Clause */
#include "parse.h"

#include <string.h>

#include <rte_common.h>

#include "parse_action.h"
#include "words.h"

void *fwd_flow_allocate(struct fwd_flow_rule *rule, size_t size)
{
	uint8_t *data = (uint8_t *)rule->data + rule->used;

	size = RTE_ALIGN_CEIL(size, sizeof(rule->data[0]));
	if (size > sizeof(rule->data) - rule->used)
		return NULL;
	rule->used += size;
	return memset(data, 0, size);
}

static const struct fwd_flow_field *field_of(const struct fwd_flow_part *part, const char *name)
{
	for (const struct fwd_flow_field *f = part->fields; f && f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

const struct fwd_flow_field *fwd_flow_field(
	const struct fwd_flow_words *w, const struct fwd_flow_part *part)
{
	return field_of(part, w->word);
}

/* The structs of an item, which are one after the other. */
enum { SPEC, LAST, MASK, STRUCTS };

/* "is 3", "spec 3", "last 5", "mask 0xff", "prefix 24" */
static bool parse_parameter(struct fwd_flow_words *w, const struct fwd_flow_field *field,
	struct rte_flow_item *item, void *const structs[STRUCTS],
	const struct fwd_flow_ports *ports)
{
	bool is = fwd_flow_is(w, "is"), prefix = fwd_flow_is(w, "prefix");
	char wanted[64];
	bool good;

	if (is || fwd_flow_is(w, "spec"))
		item->spec = structs[SPEC];
	if (fwd_flow_is(w, "last"))
		item->last = structs[LAST];
	if (is || prefix || fwd_flow_is(w, "mask"))
		item->mask = structs[MASK];
	if (is)
		fwd_flow_set_ones(field, structs[MASK]);
	if (prefix) {
		fwd_flow_next(w);
		good = fwd_flow_set_prefix(field, w->word, structs[MASK], wanted, sizeof(wanted));
	} else if (fwd_flow_take(w, "mask")) {
		good = fwd_flow_set_mask(field, w->word, structs[MASK], wanted, sizeof(wanted));
	} else if (is || fwd_flow_is(w, "spec") || fwd_flow_is(w, "last")) {
		void *object = structs[fwd_flow_is(w, "last") ? LAST : SPEC];

		fwd_flow_next(w);
		good = fwd_flow_set(field, w->word, ports, object, wanted, sizeof(wanted));
	} else {
		return fwd_flow_wrong(w, "is|spec|last|mask|prefix");
	}
	if (!good)
		return fwd_flow_wrong(w, wanted);
	fwd_flow_next(w);
	return true;
}

/* What follows the name of an item, with the "/" that ends it. */
static bool parse_item(struct fwd_flow_words *w, const struct fwd_flow_part *part,
	struct rte_flow_item *item, struct fwd_flow_rule *rule, const struct fwd_flow_ports *ports)
{
	void *structs[STRUCTS];

	*item = (struct rte_flow_item){.type = (enum rte_flow_item_type)part->type};
	for (unsigned i = 0; i < STRUCTS; i++) {
		structs[i] = fwd_flow_allocate(rule, part->size);
		if (!structs[i])
			return fwd_flow_wrong(w, "fewer items");
	}
	while (!fwd_flow_take(w, "/")) {
		const struct fwd_flow_field *field = fwd_flow_field(w, part);

		if (!field)
			return fwd_flow_wrong_field(w, part, "/");
		fwd_flow_next(w);
		if (!parse_parameter(w, field, item, structs, ports))
			return false;
	}
	return true;
}

/* "eth / ipv4 src is 1.2.3.4 / end" */
static bool parse_items(struct fwd_flow_words *w, const char *last, struct fwd_flow_rule *rule,
	const struct fwd_flow_ports *ports)
{
	for (rule->nb_items = 0; !fwd_flow_take(w, last); rule->nb_items++) {
		const struct fwd_flow_part *part =
			fwd_flow_find(fwd_flow_items, w->word, (unsigned)strlen(w->word));

		if (!part)
			return fwd_flow_wrong_part(w, fwd_flow_items, last);
		if (rule->nb_items == FWD_FLOW_PARTS_MAX)
			return fwd_flow_wrong(w, last);
		fwd_flow_next(w);
		if (!parse_item(w, part, &rule->items[rule->nb_items], rule, ports))
			return false;
	}
	rule->items[rule->nb_items] = (struct rte_flow_item){.type = RTE_FLOW_ITEM_TYPE_END};
	return true;
}

/* "queue index 1 / count / end" */
static bool parse_actions(
	struct fwd_flow_words *w, struct fwd_flow_rule *rule, const struct fwd_flow_known *known)
{
	for (rule->nb_actions = 0; !fwd_flow_take(w, "end"); rule->nb_actions++) {
		const struct fwd_flow_part *part =
			fwd_flow_find(fwd_flow_actions, w->word, (unsigned)strlen(w->word));

		if (!part)
			return fwd_flow_wrong_part(w, fwd_flow_actions, "end");
		if (rule->nb_actions == FWD_FLOW_PARTS_MAX)
			return fwd_flow_wrong(w, "end");
		fwd_flow_next(w);
		if (!fwd_flow_parse_action(w, part, &rule->actions[rule->nb_actions], rule, known))
			return false;
	}
	rule->actions[rule->nb_actions] =
		(struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_END};
	return true;
}

static bool parse_number(struct fwd_flow_words *w, uint32_t *number)
{
	uint64_t n;

	if (!fwd_flow_number(w->word, UINT32_MAX, &n))
		return fwd_flow_wrong(w, "a number up to 4294967295");
	*number = (uint32_t)n;
	fwd_flow_next(w);
	return true;
}

/* "group 1 ingress pattern" */
static bool parse_attributes(struct fwd_flow_words *w, struct rte_flow_attr *attr)
{
	*attr = (struct rte_flow_attr){0};
	while (!fwd_flow_take(w, "pattern")) {
		if (fwd_flow_take(w, "group")) {
			if (!parse_number(w, &attr->group))
				return false;
		} else if (fwd_flow_take(w, "priority")) {
			if (!parse_number(w, &attr->priority))
				return false;
		} else if (fwd_flow_take(w, "ingress")) {
			attr->ingress = 1;
		} else if (fwd_flow_take(w, "egress")) {
			attr->egress = 1;
		} else if (fwd_flow_take(w, "transfer")) {
			attr->transfer = 1;
		} else {
			return fwd_flow_wrong(w, "group|priority|ingress|egress|transfer|pattern");
		}
	}
	return true;
}

static bool parse_end(const struct fwd_flow_words *w)
{
	return w->len == 0 || fwd_flow_wrong(w, "nothing");
}

bool fwd_flow_parse(struct fwd_flow_rule *rule, const char *text, const char *before,
	const struct fwd_flow_known *known, FILE *out)
{
	struct fwd_flow_words w;

	fwd_flow_words_begin(&w, text, before, out);
	rule->used = 0;
	if (!parse_attributes(&w, &rule->attr) || !parse_items(&w, "end", rule, &known->ports))
		return false;
	if (!fwd_flow_take(&w, "actions"))
		return fwd_flow_wrong(&w, "actions");
	return parse_actions(&w, rule, known) && parse_end(&w);
}

/* What a header says of the next one, where nothing was given: its type, and then the bytes. */
static const struct {
	int type, next;
	uint8_t at, bytes;
	uint16_t value;
} links[] = {
	{RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_VLAN, 12, 2, 0x8100},
	{RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_IPV4, 12, 2, 0x0800},
	{RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_IPV6, 12, 2, 0x86dd},
	{RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_MPLS, 12, 2, 0x8847},
	{RTE_FLOW_ITEM_TYPE_VLAN, RTE_FLOW_ITEM_TYPE_VLAN, 2, 2, 0x8100},
	{RTE_FLOW_ITEM_TYPE_VLAN, RTE_FLOW_ITEM_TYPE_IPV4, 2, 2, 0x0800},
	{RTE_FLOW_ITEM_TYPE_VLAN, RTE_FLOW_ITEM_TYPE_IPV6, 2, 2, 0x86dd},
	{RTE_FLOW_ITEM_TYPE_VLAN, RTE_FLOW_ITEM_TYPE_MPLS, 2, 2, 0x8847},
	{RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_UDP, 9, 1, 17},
	{RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_TCP, 9, 1, 6},
	{RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_GRE, 9, 1, 47},
	{RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_NVGRE, 9, 1, 47},
	{RTE_FLOW_ITEM_TYPE_IPV6, RTE_FLOW_ITEM_TYPE_UDP, 6, 1, 17},
	{RTE_FLOW_ITEM_TYPE_IPV6, RTE_FLOW_ITEM_TYPE_TCP, 6, 1, 6},
	{RTE_FLOW_ITEM_TYPE_IPV6, RTE_FLOW_ITEM_TYPE_GRE, 6, 1, 47},
	{RTE_FLOW_ITEM_TYPE_IPV6, RTE_FLOW_ITEM_TYPE_NVGRE, 6, 1, 47},
	{RTE_FLOW_ITEM_TYPE_UDP, RTE_FLOW_ITEM_TYPE_VXLAN, 2, 2, 4789},
	{RTE_FLOW_ITEM_TYPE_UDP, RTE_FLOW_ITEM_TYPE_VXLAN_GPE, 2, 2, 4790},
	{RTE_FLOW_ITEM_TYPE_UDP, RTE_FLOW_ITEM_TYPE_GENEVE, 2, 2, 6081},
	{RTE_FLOW_ITEM_TYPE_GRE, RTE_FLOW_ITEM_TYPE_MPLS, 2, 2, 0x8847},
	/* The next one does not matter. */
	{RTE_FLOW_ITEM_TYPE_IPV4, -1, 0, 1, 0x45},
	{RTE_FLOW_ITEM_TYPE_IPV6, -1, 0, 1, 0x60},
	{RTE_FLOW_ITEM_TYPE_VXLAN, -1, 0, 1, 0x08},
	{RTE_FLOW_ITEM_TYPE_VXLAN_GPE, -1, 0, 1, 0x0c},
	{RTE_FLOW_ITEM_TYPE_NVGRE, -1, 0, 2, 0x2000},
	{RTE_FLOW_ITEM_TYPE_NVGRE, -1, 2, 2, 0x6558},
};

static void link_header(uint8_t *header, int type, int next)
{
	for (unsigned i = 0; i < RTE_DIM(links); i++) {
		uint8_t *at = header + links[i].at;

		if (links[i].type != type || (links[i].next != next && links[i].next != -1) ||
			at[0] || (links[i].bytes == 2 && at[1]))
			continue;
		if (links[i].bytes == 2)
			*at++ = (uint8_t)(links[i].value >> 8);
		*at = (uint8_t)links[i].value;
	}
}

bool fwd_flow_parse_raw(struct fwd_flow_raw *raw, struct fwd_flow_rule *scratch, const char *text,
	const char *before, FILE *out)
{
	const struct fwd_flow_ports none = {0};
	struct fwd_flow_words w;
	size_t size = 0;
	static uint8_t data[FWD_FLOW_RAW_BYTES];

	fwd_flow_words_begin(&w, text, before, out);
	scratch->used = 0;
	if (!parse_items(&w, "end_set", scratch, &none) || !parse_end(&w))
		return false;
	for (unsigned i = 0; i < scratch->nb_items; i++) {
		const struct rte_flow_item *item = &scratch->items[i];
		const struct fwd_flow_part *part = fwd_flow_find_type(fwd_flow_items, item->type);

		if (part->header == 0 || size + part->header > sizeof(data)) {
			fprintf(out, "Bad arguments: %s: %s\n", part->name,
				part->header ? "too many headers" : "it is no header");
			return false;
		}
		memset(&data[size], 0, part->header);
		if (item->spec)
			memcpy(&data[size], item->spec, part->header);
		link_header(&data[size], item->type, scratch->items[i + 1].type);
		size += part->header;
	}
	memcpy(raw->data, data, size);
	raw->size = size;
	return true;
}
