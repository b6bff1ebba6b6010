/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a flow rule one by one, and the line about a wrong one. */
#ifndef FWD_FLOW_WORDS_H
#define FWD_FLOW_WORDS_H

#include <stdbool.h>
#include <stdio.h>

#include "grammar.h"

struct fwd_flow_words {
	const char *before; /* what was typed before the text */
	const char *text;
	const char *at; /* the word now; its end has len 0 */
	unsigned len;
	FILE *out;
	char word[64]; /* a copy of it; of a longer one: "" */
};

void fwd_flow_words_begin(
	struct fwd_flow_words *w, const char *text, const char *before, FILE *out);
void fwd_flow_next(struct fwd_flow_words *w);
bool fwd_flow_is(const struct fwd_flow_words *w, const char *word);
/* The same, and goes on to the next word if it is. */
bool fwd_flow_take(struct fwd_flow_words *w, const char *word);

/* The line about the word; false. wanted: what may stand there. */
bool fwd_flow_wrong(const struct fwd_flow_words *w, const char *wanted);
/* The same with the names of a table, or the fields of a part, and what else may be there. */
bool fwd_flow_wrong_part(
	const struct fwd_flow_words *w, const struct fwd_flow_part *table, const char *or_else);
bool fwd_flow_wrong_field(
	const struct fwd_flow_words *w, const struct fwd_flow_part *part, const char *or_else);

#endif
