/* SPDX-License-Identifier: BSD-3-Clause */
#include "parse_action.h"

#include <string.h>

#include <haul-dpdk/port_info.h>

#include "../rss.h"

#define KEY_MAX 64

struct rss {
	struct rte_flow_action_rss conf;
	uint16_t queues[FWD_FLOW_QUEUES_MAX];
	uint8_t key[KEY_MAX];
};

static bool parse_function(struct fwd_flow_words *w, struct rss *rss)
{
	static const struct {
		const char *name;
		enum rte_eth_hash_function function;
	} functions[] = {
		{"default", RTE_ETH_HASH_FUNCTION_DEFAULT},
		{"toeplitz", RTE_ETH_HASH_FUNCTION_TOEPLITZ},
		{"simple_xor", RTE_ETH_HASH_FUNCTION_SIMPLE_XOR},
		{"symmetric_toeplitz", RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ},
	};

	for (unsigned i = 0; i < RTE_DIM(functions); i++) {
		if (!fwd_flow_take(w, functions[i].name))
			continue;
		rss->conf.func = functions[i].function;
		return true;
	}
	return fwd_flow_wrong(w, "default|toeplitz|simple_xor|symmetric_toeplitz");
}

/* "ipv4 udp end" */
static bool parse_types(struct fwd_flow_words *w, struct rss *rss)
{
	uint64_t functions;

	for (rss->conf.types = 0; !fwd_flow_take(w, "end"); fwd_flow_next(w)) {
		if (!fwd_rss_functions(w->word, &functions))
			return fwd_flow_wrong(w, "an RSS type (ip, udp, ipv4-tcp...) or end");
		rss->conf.types |= functions;
	}
	return true;
}

/* "0 1 end" */
static bool parse_queues(struct fwd_flow_words *w, struct rss *rss)
{
	uint32_t n = 0;
	uint64_t queue;

	for (; !fwd_flow_take(w, "end"); fwd_flow_next(w)) {
		if (n == FWD_FLOW_QUEUES_MAX || !fwd_flow_number(w->word, UINT16_MAX, &queue))
			return fwd_flow_wrong(
				w, n < FWD_FLOW_QUEUES_MAX ? "a queue or end" : "end");
		rss->queues[n++] = (uint16_t)queue;
	}
	rss->conf.queue_num = n;
	rss->conf.queue = n ? rss->queues : NULL;
	return true;
}

static bool parse_key(struct fwd_flow_words *w, struct rss *rss)
{
	int n = fwd_flow_hex(w->at, w->len, rss->key, sizeof(rss->key));

	if (n < 0)
		return fwd_flow_wrong(w, "a key of up to 64 bytes, in hex digits");
	rss->conf.key = rss->key;
	rss->conf.key_len = (uint32_t)n;
	fwd_flow_next(w);
	return true;
}

static bool parse_rss_number(struct fwd_flow_words *w, uint64_t most, uint32_t *number)
{
	char wanted[64];
	uint64_t n;

	snprintf(wanted, sizeof(wanted), "a number up to %llu", (unsigned long long)most);
	if (!fwd_flow_number(w->word, most, &n))
		return fwd_flow_wrong(w, wanted);
	*number = (uint32_t)n;
	fwd_flow_next(w);
	return true;
}

/* "rss func toeplitz types ipv4 end key 6d5a... queues 0 1 end" */
static bool parse_rss(struct fwd_flow_words *w, struct rte_flow_action *action,
	struct fwd_flow_rule *rule, unsigned queues)
{
	struct rss *rss = fwd_flow_allocate(rule, sizeof(*rss));
	bool good = true;

	if (!rss)
		return fwd_flow_wrong(w, "fewer items and actions");
	action->conf = &rss->conf;
	rss->conf.types = RTE_ETH_RSS_IP;
	rss->conf.queue = rss->queues;
	for (; rss->conf.queue_num < RTE_MIN(queues, (unsigned)FWD_FLOW_QUEUES_MAX);
		rss->conf.queue_num++)
		rss->queues[rss->conf.queue_num] = (uint16_t)rss->conf.queue_num;
	while (good && !fwd_flow_take(w, "/")) {
		if (fwd_flow_take(w, "func"))
			good = parse_function(w, rss);
		else if (fwd_flow_take(w, "level"))
			good = parse_rss_number(w, UINT32_MAX, &rss->conf.level);
		else if (fwd_flow_take(w, "types"))
			good = parse_types(w, rss);
		else if (fwd_flow_take(w, "key"))
			good = parse_key(w, rss);
		else if (fwd_flow_take(w, "key_len"))
			good = parse_rss_number(w, KEY_MAX, &rss->conf.key_len);
		else if (fwd_flow_take(w, "queues"))
			good = parse_queues(w, rss);
		else
			return fwd_flow_wrong(w, "func|level|types|key|key_len|queues|/");
	}
	return good;
}

/* "raw_encap index 1" */
static bool parse_raw(
	struct fwd_flow_words *w, bool encap, void *conf, const struct fwd_flow_known *known)
{
	struct fwd_flow_raw *raw = encap ? known->encap : known->decap;
	uint32_t index = 0;

	if (fwd_flow_take(w, "index") && !parse_rss_number(w, FWD_FLOW_RAW - 1, &index))
		return false;
	raw += index;
	if (encap)
		*(struct rte_flow_action_raw_encap *)conf =
			(struct rte_flow_action_raw_encap){.data = raw->data, .size = raw->size};
	else
		*(struct rte_flow_action_raw_decap *)conf =
			(struct rte_flow_action_raw_decap){.data = raw->data, .size = raw->size};
	return fwd_flow_take(w, "/") || fwd_flow_wrong(w, "index|/");
}

bool fwd_flow_parse_action(struct fwd_flow_words *w, const struct fwd_flow_part *part,
	struct rte_flow_action *action, struct fwd_flow_rule *rule,
	const struct fwd_flow_known *known)
{
	void *conf = part->size ? fwd_flow_allocate(rule, part->size) : NULL;
	char wanted[64];

	if (part->size && !conf)
		return fwd_flow_wrong(w, "fewer items and actions");
	*action = (struct rte_flow_action){
		.type = (enum rte_flow_action_type)part->type, .conf = conf};
	if (part->extra == FWD_FLOW_RSS)
		return parse_rss(w, action, rule, known->queues);
	if (part->extra != FWD_FLOW_PLAIN)
		return parse_raw(w, part->extra == FWD_FLOW_ENCAP, conf, known);
	while (!fwd_flow_take(w, "/")) {
		const struct fwd_flow_field *field = fwd_flow_field(w, part);

		if (!field)
			return fwd_flow_wrong_field(w, part, "/");
		fwd_flow_next(w);
		if (!fwd_flow_set(field, w->word, &known->ports, conf, wanted, sizeof(wanted)))
			return fwd_flow_wrong(w, wanted);
		fwd_flow_next(w);
	}
	return true;
}
