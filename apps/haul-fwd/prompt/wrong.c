/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrong.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "../mode.h"
#include "absent.h"
#include "command.h"

#define LISTED_MOST 8 /* of what may follow */

static cmdline_parse_inst_t *const *all;
static char line[512]; /* the last one that is no command */

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

static bool is_end(const char *at)
{
	return strchr("\r\n#", *at); /* with '\0' */
}

static int length_of(const char *word)
{
	return (int)strcspn(word, " \t\r\n#");
}

/* The length of the word at `at` as this token; -1: it is none. */
static int parse_word(cmdline_parse_token_hdr_t *token, const char *at)
{
	static char word[STR_MULTI_TOKEN_SIZE];

	return token->ops->parse(token, at, word, sizeof(word));
}

/* True if the line is a command with this form. */
static bool has_form(const cmdline_parse_inst_t *inst, const char *at)
{
	unsigned i = 0;
	int n;

	for (at = skip_blanks(at); !is_end(at); at = skip_blanks(at + n)) {
		n = inst->tokens[i] ? parse_word(inst->tokens[i++], at) : -1;
		if (n < 0)
			return false;
	}
	return !inst->tokens[i];
}

/* Any word can be a PORT or MODE for librte_cmdline: here only one that the user may mean so. */
static bool is_meant(const char *form, const char *word, int len)
{
	if (length_of(form) == 4 && strncmp(form, "PORT", 4) == 0)
		return isdigit((unsigned char)*word) || (len == 3 && strncmp(word, "all", 3) == 0);
	return true;
}

static const char *form_of(const cmdline_parse_inst_t *inst)
{
	return ((const struct fwd_command *)inst->data)->form;
}

/* Counts the first words of the line that fit the form. *form: the part for the next one; *at: the
 * next one. */
static unsigned fitting(const cmdline_parse_inst_t *inst, const char **form, const char **at)
{
	unsigned i;
	int n;

	*form = form_of(inst);
	*at = skip_blanks(line);
	for (i = 0; inst->tokens[i] && !is_end(*at); i++) {
		n = parse_word(inst->tokens[i], *at);
		if (n < 0 || !is_meant(*form, *at, n))
			break;
		*at = skip_blanks(*at + n);
		*form = skip_blanks(*form + length_of(*form));
	}
	return i;
}

/* A word of a form, in words for the user. */
static void print_word(FILE *out, const char *word)
{
	int len = length_of(word);

	if (len == 1 && *word == 'N')
		fputs("a number", out);
	else if (len == 4 && strncmp(word, "MODE", 4) == 0)
		fputs(FWD_MODE_NAMES, out);
	else
		fprintf(out, "%.*s", len, word);
}

/* What may stand where the first `words` words have fitted, each once. */
static void print_next(FILE *out, unsigned words)
{
	const char *listed[LISTED_MOST], *form, *at;
	unsigned n = 0, i;

	for (cmdline_parse_inst_t *const *f = all; *f && n < LISTED_MOST; f++) {
		if (fitting(*f, &form, &at) < words || !*form)
			continue;
		for (i = 0; i < n; i++)
			if (length_of(listed[i]) == length_of(form) &&
				strncmp(listed[i], form, (size_t)length_of(form)) == 0)
				break;
		if (i < n)
			continue;
		fputs(n ? ", " : "give ", out);
		print_word(out, form);
		listed[n++] = form;
	}
	fputs(n ? " after \"" : "nothing follows \"", out);
}

void fwd_wrong_print(FILE *out)
{
	const char *form, *at, *wrong = line;
	const char *why = fwd_absent(line);
	unsigned most = 0, words;

	if (why) {
		fprintf(out, "Bad arguments: haul-fwd lacks this command of dpdk-testpmd: %s\n",
			why);
		return;
	}
	for (cmdline_parse_inst_t *const *f = all; *f; f++) {
		words = fitting(*f, &form, &at);
		if (words > most) {
			most = words;
			wrong = at;
		}
	}
	if (most == 0) {
		fputs("Command not found\n", out);
		return;
	}
	if (is_end(wrong))
		fputs("Bad arguments: the command is incomplete: ", out);
	else
		fprintf(out, "Bad arguments: \"%.*s\": ", length_of(wrong), wrong);
	print_next(out, most);
	at = skip_blanks(line);
	while (wrong > at && isspace((unsigned char)wrong[-1]))
		wrong--;
	fprintf(out, "%.*s\"\n", (int)(wrong - at), at);
}

/* Matches the whole line if it is no command and is to be run; not for completion. */
static int parse(cmdline_parse_token_hdr_t *token, const char *text, void *result, unsigned size)
{
	if (!result || !text)
		return -1;
	for (cmdline_parse_inst_t *const *f = all; *f; f++)
		if (has_form(*f, text))
			return -1;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\r\n"), text);
	return (int)strcspn(text, "\r\n#");
}

/* Completion and help do not list it. */
static int count(cmdline_parse_token_hdr_t *token)
{
	return 1;
}

static int choice(cmdline_parse_token_hdr_t *token, int i, char *to, unsigned size)
{
	return -1;
}

cmdline_parse_inst_t *fwd_wrong_instance(cmdline_parse_inst_t *const *forms,
	void (*run)(void *words, struct cmdline *cl, void *data))
{
	static struct cmdline_token_ops ops = {
		.parse = parse, .complete_get_nb = count, .complete_get_elt = choice};
	static cmdline_parse_token_hdr_t token = {.ops = &ops};
	cmdline_parse_inst_t *inst = calloc(1, sizeof(*inst) + 2 * sizeof(inst->tokens[0]));

	if (!inst)
		abort();
	all = forms;
	inst->f = run;
	inst->tokens[0] = &token;
	return inst;
}
