/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow rules, in testpmd's words. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include <haul-dpdk/port_flow.h>
#include <haul-dpdk/port_info.h>

#include "../flow/parse.h"
#include "../rss.h"
#include "command.h"

#define WORD(i) (call->words[i].text)
#define GROUPS_MAX 32

static struct fwd_flow_raw encap[FWD_FLOW_RAW], decap[FWD_FLOW_RAW];
static struct fwd_flow_rule rule; /* the one that is parsed */

static struct haul_port *port_of(const struct fwd_call *call, unsigned port)
{
	return call->app->ports[port];
}

static const char *type_name(unsigned type)
{
	static const char *const names[] = {
		[RTE_FLOW_ERROR_TYPE_NONE] = "no error",
		[RTE_FLOW_ERROR_TYPE_UNSPECIFIED] = "cause unspecified",
		[RTE_FLOW_ERROR_TYPE_HANDLE] = "flow rule (handle)",
		[RTE_FLOW_ERROR_TYPE_ATTR_GROUP] = "group field",
		[RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY] = "priority field",
		[RTE_FLOW_ERROR_TYPE_ATTR_INGRESS] = "ingress field",
		[RTE_FLOW_ERROR_TYPE_ATTR_EGRESS] = "egress field",
		[RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER] = "transfer field",
		[RTE_FLOW_ERROR_TYPE_ATTR] = "attributes structure",
		[RTE_FLOW_ERROR_TYPE_ITEM_NUM] = "pattern length",
		[RTE_FLOW_ERROR_TYPE_ITEM_SPEC] = "item specification",
		[RTE_FLOW_ERROR_TYPE_ITEM_LAST] = "item specification range",
		[RTE_FLOW_ERROR_TYPE_ITEM_MASK] = "item specification mask",
		[RTE_FLOW_ERROR_TYPE_ITEM] = "specific pattern item",
		[RTE_FLOW_ERROR_TYPE_ACTION_NUM] = "number of actions",
		[RTE_FLOW_ERROR_TYPE_ACTION_CONF] = "action configuration",
		[RTE_FLOW_ERROR_TYPE_ACTION] = "specific action",
	};

	return type < RTE_DIM(names) && names[type] ? names[type] : "unknown type";
}

/* testpmd's line, with the PMD's words, after -err; true after 0. */
static bool complain(const struct fwd_call *call, int err, const struct rte_flow_error *error)
{
	if (err == 0)
		return true;
	fprintf(call->out,
		"port_flow_complain(): Caught PMD error type %d (%s): ", (int)error->type,
		type_name((unsigned)error->type));
	if (error->cause)
		fprintf(call->out, "cause: %p, ", error->cause);
	fprintf(call->out, "%s: %s\n", error->message ? error->message : "(no stated reason)",
		rte_strerror(-err));
	if (error->type == RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER)
		fputs("The status suggests the use of \"transfer\" as the possible cause of the "
		      "failure. Make sure that the flow in question and its indirect components "
		      "(if any) are managed via \"transfer\" proxy port. Use command \"show port "
		      "(port_id) flow transfer proxy\" to figure out the proxy port ID\n",
			call->out);
	return false;
}

/* Other structs of DPDK's name our ports by the numbers of their devices. */
static void know_ports(const struct fwd_call *call, uint16_t ids[HAUL_APP_PORTS_MAX])
{
	for (unsigned i = 0; i < call->app->nb_ports; i++) {
		struct haul_port_device device;
		struct haul_port *port = port_of(call, i);

		ids[i] = UINT16_MAX;
		if (haul_port_get_device(port, 0, &device) == 0 &&
			haul_port_get_device(port, 1, &device) != 0)
			ids[i] = haul_port_queue(port, 0).port_id;
	}
}

static bool parse(const struct fwd_call *call, unsigned i)
{
	uint16_t ids[HAUL_APP_PORTS_MAX];
	const struct fwd_flow_known known = {
		.ports = {ids, call->app->nb_ports},
		.queues = haul_port_queues(port_of(call, i)),
		.encap = encap,
		.decap = decap,
	};
	char before[32];

	know_ports(call, ids);
	snprintf(before, sizeof(before), "flow %.20s %u", WORD(1), i);
	return fwd_flow_parse(&rule, fwd_rest(call, 3), before, &known, call->out);
}

/* The rule is checked against the grammar before all else, as in testpmd. */
static bool has_device(const struct fwd_call *call, unsigned i)
{
	if (haul_io_is_attached(call->app->io, i))
		return true;
	fprintf(call->out, "Port %u has no device: give port attach first\n", i);
	return false;
}

static bool validate_one(const struct fwd_call *call, unsigned i)
{
	struct rte_flow_error error;

	if (!parse(call, i) || !has_device(call, i) ||
		!complain(call,
			haul_port_flow_validate(
				port_of(call, i), &rule.attr, rule.items, rule.actions, &error),
			&error))
		return false;
	fprintf(call->out, "Flow rule validated\n");
	return true;
}

static bool validate(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), validate_one);
}

static bool create_one(const struct fwd_call *call, unsigned i)
{
	struct rte_flow_error error;
	uint64_t id;

	if (!parse(call, i) || !has_device(call, i) ||
		!complain(call,
			haul_port_flow_create(port_of(call, i), &rule.attr, rule.items,
				rule.actions, &id, &error),
			&error))
		return false;
	fprintf(call->out, "Flow rule #%" PRIu64 " created\n", id);
	return true;
}

static bool create(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), create_one);
}

static bool is_rule(const struct fwd_call *call, unsigned i, uint64_t id)
{
	struct haul_port_flow flow;

	for (unsigned n = 0; haul_port_flow_get(port_of(call, i), n, &flow) == 0; n++)
		if (flow.id == id)
			return true;
	fprintf(call->out, "Flow rule #%" PRIu64 " not found\n", id);
	return false;
}

/* Parses "NAME N NAME N": the number of numbers, or 0 after a line. */
static unsigned numbers(const struct fwd_call *call, unsigned word, const char *name,
	uint64_t *found, unsigned most)
{
	const char *at = fwd_rest(call, word);
	char key[16], number[32];
	int length = 0;
	unsigned n = 0;

	while (n < most && sscanf(at, " %15s %31s%n", key, number, &length) == 2 &&
		strcmp(key, name) == 0 && fwd_flow_number(number, UINT64_MAX, &found[n])) {
		at += length;
		n++;
	}
	if (n > 0 && at[strspn(at, " \t")] == '\0')
		return n;
	fprintf(call->out, "Bad arguments: \"%s\": give %s and a number\n", at + strspn(at, " \t"),
		name);
	return 0;
}

/* "flow destroy P rule N rule M" */
static bool destroy_one(const struct fwd_call *call, unsigned i)
{
	uint64_t ids[GROUPS_MAX];
	unsigned n = numbers(call, 3, "rule", ids, GROUPS_MAX);
	struct rte_flow_error error;
	bool good = n > 0 && has_device(call, i);

	for (unsigned k = 0; good && k < n; k++) {
		good = is_rule(call, i, ids[k]) &&
			complain(call, haul_port_flow_destroy(port_of(call, i), ids[k], &error),
				&error);
		if (good)
			fprintf(call->out, "Flow rule #%" PRIu64 " destroyed\n", ids[k]);
	}
	return good;
}

static bool destroy(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), destroy_one);
}

static bool flush_one(const struct fwd_call *call, unsigned i)
{
	struct rte_flow_error error;

	return has_device(call, i) &&
		complain(call, haul_port_flow_flush(port_of(call, i), &error), &error);
}

static bool flush(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), flush_one);
}

/* Prints the name in capitals, and a space before or after it. */
static void print_part(FILE *out, const struct fwd_flow_part *table, int type, bool before)
{
	const struct fwd_flow_part *part = fwd_flow_find_type(table, type);

	if (before)
		fputc(' ', out);
	for (const char *c = part ? part->name : "[UNKNOWN]"; *c; c++)
		fputc(*c == '-' ? '_' : toupper((unsigned char)*c), out);
	if (!before)
		fputc(' ', out);
}

static void print_rule(FILE *out, const struct haul_port_flow *flow)
{
	fprintf(out, "%" PRIu64 "\t%u\t%u\t%c%c%c\t", flow->id, flow->attr->group,
		flow->attr->priority, flow->attr->ingress ? 'i' : '-',
		flow->attr->egress ? 'e' : '-', flow->attr->transfer ? 't' : '-');
	for (const struct rte_flow_item *p = flow->pattern; p->type != RTE_FLOW_ITEM_TYPE_END; p++)
		if (p->type != RTE_FLOW_ITEM_TYPE_VOID)
			print_part(out, fwd_flow_items, (int)p->type, false);
	fputs("=>", out);
	for (const struct rte_flow_action *a = flow->actions; a->type != RTE_FLOW_ACTION_TYPE_END;
		a++)
		if (a->type != RTE_FLOW_ACTION_TYPE_VOID)
			print_part(out, fwd_flow_actions, (int)a->type, true);
	fputc('\n', out);
}

/* Rules are listed by group and priority. */
static int compare(const void *a, const void *b)
{
	const struct haul_port_flow *x = a, *y = b;

	if (x->attr->group != y->attr->group)
		return x->attr->group < y->attr->group ? -1 : 1;
	if (x->attr->priority != y->attr->priority)
		return x->attr->priority < y->attr->priority ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static bool is_listed(const struct haul_port_flow *flow, const uint64_t *groups, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (groups[i] == flow->attr->group)
			return true;
	return n == 0;
}

static void list_rules(
	const struct fwd_call *call, unsigned port, const uint64_t *groups, unsigned nb_groups)
{
	struct haul_port_flow flow, *flows;
	unsigned n = 0;

	while (haul_port_flow_get(port_of(call, port), n, &flow) == 0)
		n++;
	if (n == 0)
		return;
	flows = calloc(n, sizeof(*flows));
	if (!flows)
		abort();
	for (unsigned i = 0; i < n; i++)
		(void)haul_port_flow_get(port_of(call, port), i, &flows[i]);
	qsort(flows, n, sizeof(*flows), compare);
	fprintf(call->out, "ID\tGroup\tPrio\tAttr\tRule\n");
	for (unsigned i = 0; i < n; i++)
		if (is_listed(&flows[i], groups, nb_groups))
			print_rule(call->out, &flows[i]);
	free(flows);
}

static bool list_one(const struct fwd_call *call, unsigned i)
{
	list_rules(call, i, NULL, 0);
	return true;
}

static bool list(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), list_one);
}

/* "flow list P group N group M" */
static bool list_groups_one(const struct fwd_call *call, unsigned i)
{
	uint64_t groups[GROUPS_MAX];
	unsigned n = numbers(call, 3, "group", groups, GROUPS_MAX);

	if (n > 0)
		list_rules(call, i, groups, n);
	return n > 0;
}

static bool list_groups(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), list_groups_one);
}

/* What "flow query" reads. */
union query {
	struct rte_flow_query_count count;
	struct rte_flow_query_age age;
	struct rte_flow_action_rss rss;
};

static void print_rss(FILE *out, const struct rte_flow_action_rss *rss)
{
	fprintf(out, "RSS:\n queues:");
	for (unsigned i = 0; i < rss->queue_num; i++)
		fprintf(out, " %u", rss->queue[i]);
	fprintf(out, "%s\n function: %d\n level: %u\n types:", rss->queue_num ? "" : " none",
		(int)rss->func, rss->level);
	for (unsigned bit = 0; bit < 64; bit++) {
		const char *name = rss->types >> bit & 1 ? fwd_rss_name(UINT64_C(1) << bit) : NULL;

		if (name)
			fprintf(out, " %s", name);
	}
	fprintf(out, "%s\n", rss->types ? "" : " none");
}

static void print_query(FILE *out, int type, const union query *query)
{
	if (type == RTE_FLOW_ACTION_TYPE_RSS)
		print_rss(out, &query->rss);
	else if (type == RTE_FLOW_ACTION_TYPE_AGE)
		fprintf(out,
			"AGE:\n aged: %u\n sec_since_last_hit_valid: %u\n"
			" sec_since_last_hit: %u\n",
			query->age.aged, query->age.sec_since_last_hit_valid,
			query->age.sec_since_last_hit);
	else
		fprintf(out,
			"COUNT:\n hits_set: %u\n bytes_set: %u\n hits: %" PRIu64
			"\n bytes: %" PRIu64 "\n",
			query->count.hits_set, query->count.bytes_set, query->count.hits,
			query->count.bytes);
}

/* "flow query P N count" */
static bool query_one(const struct fwd_call *call, unsigned i)
{
	const struct fwd_flow_part *part =
		fwd_flow_find(fwd_flow_actions, WORD(4), (unsigned)strlen(WORD(4)));
	const uint64_t id = call->words[3].number;
	struct rte_flow_action action = {0};
	struct rte_flow_error error;
	union query query = {0};

	if (!has_device(call, i) || !is_rule(call, i, id))
		return false;
	if (!part ||
		(part->type != RTE_FLOW_ACTION_TYPE_COUNT &&
			part->type != RTE_FLOW_ACTION_TYPE_RSS &&
			part->type != RTE_FLOW_ACTION_TYPE_AGE)) {
		fprintf(call->out, "Cannot query action type %d (%s)\n", part ? part->type : -1,
			WORD(4));
		return false;
	}
	action.type = (enum rte_flow_action_type)part->type;
	if (!complain(call, haul_port_flow_query(port_of(call, i), id, &action, &query, &error),
		    &error))
		return false;
	print_query(call->out, part->type, &query);
	return true;
}

static bool query(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), query_one);
}

static bool isolate_one(const struct fwd_call *call, unsigned i)
{
	const struct fwd_flow_field field = {"", FWD_FLOW_SWITCH, 0, 1, 0};
	struct rte_flow_error error;
	char wanted[64];
	uint8_t on;

	if (!fwd_flow_set(&field, WORD(3), NULL, &on, wanted, sizeof(wanted))) {
		fprintf(call->out, "Bad arguments: \"%s\": give %s after \"flow isolate %u\"\n",
			WORD(3), wanted, i);
		return false;
	}
	if (!has_device(call, i) ||
		!complain(call, haul_port_flow_isolate(port_of(call, i), on, &error), &error))
		return false;
	fprintf(call->out, "Ingress traffic on port %u is %s to the defined flow rules\n", i,
		on ? "now restricted" : "not restricted anymore");
	return true;
}

static bool isolate(const struct fwd_call *call)
{
	return fwd_each_port(call, WORD(2), isolate_one);
}

/* "set raw_encap N ITEMS / end_set" */
static bool set_raw(const struct fwd_call *call)
{
	struct fwd_flow_raw *raw = strcmp(WORD(1), "raw_encap") == 0 ? encap : decap;
	const uint64_t index = call->words[2].number;
	char before[64];

	if (index >= FWD_FLOW_RAW) {
		fprintf(call->out, "Bad arguments: \"%" PRIu64 "\": give 0 to %u\n", index,
			FWD_FLOW_RAW - 1);
		return false;
	}
	snprintf(before, sizeof(before), "set %.20s %" PRIu64, WORD(1), index);
	return fwd_flow_parse_raw(&raw[index], &rule, fwd_rest(call, 3), before, call->out);
}

static void print_table(FILE *out, const char *title, const struct fwd_flow_part *part)
{
	fprintf(out, "%s\n", title);
	for (; part->name; part++) {
		fprintf(out, "    %s", part->name);
		for (const struct fwd_flow_field *f = part->fields; f && f->name; f++)
			fprintf(out, "%s%s", f == part->fields ? ": " : "|", f->name);
		if (part->extra == FWD_FLOW_RSS)
			fputs(": func|level|types TYPE... end|key|key_len|queues N... end", out);
		else if (part->extra != FWD_FLOW_PLAIN)
			fputs(": index", out);
		fputc('\n', out);
	}
}

static bool help(const struct fwd_call *call)
{
	fprintf(call->out,
		"flow validate|create PORT [group N] [priority N] [ingress] [egress] [transfer]"
		" pattern ITEM [/ ITEM...] / end actions ACTION [/ ACTION...] / end\n");
	print_table(call->out, "ITEM: NAME [FIELD is|spec|last|mask|prefix VALUE]...", //
		fwd_flow_items);
	print_table(call->out, "ACTION: NAME [FIELD VALUE]...", fwd_flow_actions);
	return true;
}

const struct fwd_command fwd_commands_flow[] = {
	{"flow validate PORT RULE...", validate,
		"Ask the device whether it can have a flow rule: see help flow."},
	{"flow create PORT RULE...", create, "Give the device a flow rule."},
	{"flow destroy PORT RULES...", destroy, "Destroy flow rules: rule N rule M."},
	{"flow flush PORT", flush, "Destroy all flow rules of a port."},
	{"flow list PORT", list, "List the flow rules of a port."},
	{"flow list PORT GROUPS...", list_groups, "Those of some groups: group N group M."},
	{"flow query PORT N NAME", query, "Show what the action count, age or rss of rule N has."},
	{"flow isolate PORT SWITCH", isolate,
		"Receive only what flow rules give to queues (on|off)."},
	{"set raw_encap|raw_decap N HEADERS...", set_raw,
		"Headers for the action: ITEM [/ ITEM...] / end_set."},
	{"help flow", help, "List the items and actions of flow rules, with their fields."},
	{0},
};
