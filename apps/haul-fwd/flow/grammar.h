/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be said in a flow rule: tables of items and of actions, with the fields of their
 * structs (rte_flow_item_..., rte_flow_action_...), under the names that dpdk-testpmd has for them.
 * Whatever a PMD may support is here; the PMD decides.
 */
#ifndef FWD_FLOW_GRAMMAR_H
#define FWD_FLOW_GRAMMAR_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

/* How a field is stored, and what is given for it. */
enum fwd_flow_kind {
	FWD_FLOW_NET, /* a number, in network byte order */
	FWD_FLOW_HOST, /* a number of the CPU's byte order */
	FWD_FLOW_SWITCH, /* the same, also "on" and "off" and their like */
	FWD_FLOW_PORT, /* the same, of a port: ours is given, and DPDK's stored */
	FWD_FLOW_COLOR, /* green, yellow, red */
	FWD_FLOW_MAC,
	FWD_FLOW_IPV4,
	FWD_FLOW_IPV6,
};

struct fwd_flow_field {
	const char *name; /* NULL ends a list */
	enum fwd_flow_kind kind;
	uint8_t at, size; /* bytes in the struct */
	uint32_t bits; /* of the number of that size, those that are the field's; 0: all */
};

/* Of actions that are no plain structs. */
enum fwd_flow_extra {
	FWD_FLOW_PLAIN,
	FWD_FLOW_RSS,
	FWD_FLOW_ENCAP, /* "raw_encap index 1": what "set raw_encap 1" has stored */
	FWD_FLOW_DECAP,
};

/* An item or an action. */
struct fwd_flow_part {
	const char *name; /* NULL ends a table */
	int type; /* RTE_FLOW_ITEM_TYPE_..., RTE_FLOW_ACTION_TYPE_... */
	uint8_t size; /* of the struct, 0: there is none */
	uint8_t header; /* an item's: bytes of the header that the struct begins with */
	enum fwd_flow_extra extra;
	const struct fwd_flow_field *fields; /* NULL: none */
};

extern const struct fwd_flow_part fwd_flow_items[];
extern const struct fwd_flow_part fwd_flow_actions[];

/* Of a table, by the first len characters of a name, or by type; NULL: it has none. */
const struct fwd_flow_part *fwd_flow_find(
	const struct fwd_flow_part *table, const char *name, unsigned len);
const struct fwd_flow_part *fwd_flow_find_type(const struct fwd_flow_part *table, int type);

#endif
