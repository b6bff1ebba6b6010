/* SPDX-License-Identifier: BSD-3-Clause */
/* A flow rule, from testpmd's words to rte_flow's structs. */
#ifndef FWD_FLOW_PARSE_H
#define FWD_FLOW_PARSE_H

#include <stdio.h>

#include "grammar.h"
#include "value.h"

#define FWD_FLOW_PARTS_MAX 64
#define FWD_FLOW_QUEUES_MAX 128
#define FWD_FLOW_RAW 8 /* "set raw_encap 0" to 7 */
#define FWD_FLOW_RAW_BYTES 512

/* Headers to be put before packets, or taken off. */
struct fwd_flow_raw {
	uint8_t data[FWD_FLOW_RAW_BYTES];
	size_t size;
};

/* What words of a rule refer to. */
struct fwd_flow_known {
	struct fwd_flow_ports ports;
	unsigned queues; /* of this port: those of "rss" if none are given */
	struct fwd_flow_raw *encap, *decap; /* FWD_FLOW_RAW of each */
};

struct fwd_flow_rule {
	struct rte_flow_attr attr;
	struct rte_flow_item items[FWD_FLOW_PARTS_MAX + 1]; /* with the END */
	struct rte_flow_action actions[FWD_FLOW_PARTS_MAX + 1];
	unsigned nb_items, nb_actions; /* without */
	size_t used; /* bytes of data */
	uint64_t data[3072]; /* what items and actions point to */
};

/*
 * Parses "ATTRIBUTES pattern ITEMS / end actions ACTIONS / end". False after a line on out with the
 * word that is wrong and what may stand there; before is what was typed before the text.
 */
bool fwd_flow_parse(struct fwd_flow_rule *rule, const char *text, const char *before,
	const struct fwd_flow_known *known, FILE *out);

/* The same for "ITEMS / end_set": *raw gets their headers. */
bool fwd_flow_parse_raw(struct fwd_flow_raw *raw, struct fwd_flow_rule *scratch, const char *text,
	const char *before, FILE *out);

#endif
