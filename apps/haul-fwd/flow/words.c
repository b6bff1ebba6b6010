/* SPDX-License-Identifier: BSD-3-Clause */
#include "words.h"

#include <string.h>

static void measure(struct fwd_flow_words *w)
{
	w->at += strspn(w->at, " \t");
	w->len = (unsigned)strcspn(w->at, " \t");
	snprintf(w->word, sizeof(w->word), "%.*s", (int)w->len, w->at);
	if (w->len >= sizeof(w->word))
		w->word[0] = '\0';
}

void fwd_flow_words_begin(struct fwd_flow_words *w, const char *text, const char *before, FILE *out)
{
	*w = (struct fwd_flow_words){.before = before, .text = text, .at = text, .out = out};
	measure(w);
}

void fwd_flow_next(struct fwd_flow_words *w)
{
	w->at += w->len;
	measure(w);
}

bool fwd_flow_is(const struct fwd_flow_words *w, const char *word)
{
	return strcmp(w->word, word) == 0;
}

bool fwd_flow_take(struct fwd_flow_words *w, const char *word)
{
	if (!fwd_flow_is(w, word))
		return false;
	fwd_flow_next(w);
	return true;
}

static void begin(const struct fwd_flow_words *w)
{
	if (w->len == 0)
		fputs("Bad arguments: the command is incomplete: give ", w->out);
	else
		fprintf(w->out, "Bad arguments: \"%.*s\": give ", (int)w->len, w->at);
}

static bool end(const struct fwd_flow_words *w)
{
	int n = (int)(w->at - w->text);

	while (n > 0 && strchr(" \t", w->text[n - 1]))
		n--;
	fprintf(w->out, " after \"%s%s%.*s\"\n", w->before, n > 0 ? " " : "", n, w->text);
	return false;
}

bool fwd_flow_wrong(const struct fwd_flow_words *w, const char *wanted)
{
	begin(w);
	fputs(wanted, w->out);
	return end(w);
}

bool fwd_flow_wrong_part(
	const struct fwd_flow_words *w, const struct fwd_flow_part *table, const char *or_else)
{
	begin(w);
	for (; table->name; table++)
		fprintf(w->out, "%s|", table->name);
	fputs(or_else, w->out);
	return end(w);
}

bool fwd_flow_wrong_field(
	const struct fwd_flow_words *w, const struct fwd_flow_part *part, const char *or_else)
{
	begin(w);
	for (const struct fwd_flow_field *f = part->fields; f && f->name; f++)
		fprintf(w->out, "%s|", f->name);
	fputs(or_else, w->out);
	return end(w);
}
