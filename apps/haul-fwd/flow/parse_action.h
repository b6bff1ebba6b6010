/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FWD_FLOW_PARSE_ACTION_H
#define FWD_FLOW_PARSE_ACTION_H

#include "parse.h"
#include "words.h"

/* What follows the name of an action, with the "/" that ends it. False after a line. */
bool fwd_flow_parse_action(struct fwd_flow_words *w, const struct fwd_flow_part *part,
	struct rte_flow_action *action, struct fwd_flow_rule *rule,
	const struct fwd_flow_known *known);

/* Zeroed bytes for what an item or action points to; NULL: there is no more room. */
void *fwd_flow_allocate(struct fwd_flow_rule *rule, size_t size);
/* The field that the word names; NULL: the part has none. */
const struct fwd_flow_field *fwd_flow_field(
	const struct fwd_flow_words *w, const struct fwd_flow_part *part);

#endif
