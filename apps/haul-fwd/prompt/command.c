/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cmdline_parse_num.h>

#include "../mode.h"
#include "wrong.h"

const struct fwd_command *const fwd_commands[] = {
	fwd_commands_run,
	fwd_commands_help,
	fwd_commands_capture,
	fwd_commands_show,
	fwd_commands_set,
	fwd_commands_ports,
	fwd_commands_rss,
	fwd_commands_queue,
	fwd_commands_address,
	fwd_commands_device,
	fwd_commands_flow,
	fwd_commands_flow_control,
	fwd_commands_nic,
	fwd_commands_recording,
	fwd_commands_misc,
	fwd_commands_csum,
	fwd_commands_vlan,
	fwd_commands_verbose,
	fwd_commands_generate,
	NULL,
};

static void *allocate(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		abort();
	return p;
}

/* A token of librte_cmdline for word i of a form. */
static cmdline_parse_token_hdr_t *token_of(const char *word, size_t len, unsigned i)
{
	const unsigned offset = i * (unsigned)sizeof(union fwd_word);
	struct cmdline_token_string *string;
	struct cmdline_token_num *number;

	if (len == 1 && word[0] == 'N') {
		number = allocate(sizeof(*number));
		number->hdr = (struct cmdline_token_hdr){&cmdline_token_num_ops, offset};
		number->num_data.type = RTE_UINT64;
		return &number->hdr;
	}
	if (len == 4 && strncmp(word, "MODE", len) == 0) {
		word = FWD_MODE_NAMES;
		len = strlen(word);
	}
	string = allocate(sizeof(*string));
	string->hdr = (struct cmdline_token_hdr){&cmdline_token_string_ops, offset};
	if (len > 3 && strncmp(&word[len - 3], "...", 3) == 0) {
		string->string_data.str = TOKEN_STRING_MULTI;
	} else if (!isupper((unsigned char)word[0])) {
		char *choices = strndup(word, len);

		if (!choices)
			abort();
		for (char *c = choices; *c; c++)
			*c = *c == '|' ? '#' : *c;
		string->string_data.str = choices;
	}
	return &string->hdr;
}

static cmdline_parse_inst_t *instance_of(const struct fwd_command *command,
	void (*run)(void *words, struct cmdline *cl, void *command))
{
	cmdline_parse_inst_t *inst =
		allocate(sizeof(*inst) + (FWD_WORDS_MAX + 1) * sizeof(inst->tokens[0]));
	const char *word = command->form;
	char *help;

	inst->f = run;
	inst->data = (void *)(uintptr_t)command;
	if (asprintf(&help, "%s : %s", command->form, command->help) < 0)
		abort();
	inst->help_str = help;
	for (unsigned i = 0; *word && i < FWD_WORDS_MAX; i++) {
		size_t len = strcspn(word, " ");

		inst->tokens[i] = token_of(word, len, i);
		word += len + strspn(word + len, " ");
	}
	return inst;
}

cmdline_parse_ctx_t *fwd_commands_context(
	void (*run)(void *words, struct cmdline *cl, void *command),
	void (*run_wrong)(void *words, struct cmdline *cl, void *data))
{
	cmdline_parse_inst_t **forms;
	cmdline_parse_ctx_t *context;
	const struct fwd_command *c;
	unsigned n = 0, t;

	for (t = 0; fwd_commands[t]; t++)
		for (c = fwd_commands[t]; c->form; c++)
			n++;
	context = allocate((n + 2) * sizeof(context[0]));
	forms = allocate((n + 1) * sizeof(forms[0]));
	n = 0;
	for (t = 0; fwd_commands[t]; t++)
		for (c = fwd_commands[t]; c->form; c++)
			context[n++] = instance_of(c, run);
	memcpy(forms, context, n * sizeof(forms[0]));
	context[n] = fwd_wrong_instance(forms, run_wrong);
	return context;
}

const char *fwd_rest(const struct fwd_call *call, unsigned word)
{
	return (const char *)call->words + word * sizeof(union fwd_word);
}

bool fwd_result(const struct fwd_call *call, int err, const char *errbuf)
{
	size_t function = strspn(errbuf, "abcdefghijklmnopqrstuvwxyz_");

	if (strncmp(errbuf, "haul_", strlen("haul_")) == 0 &&
		strncmp(&errbuf[function], ": ", strlen(": ")) == 0)
		errbuf += function + strlen(": ");
	if (err)
		fprintf(call->out, "%s\n", errbuf);
	return err == 0;
}

bool fwd_is_vlan(const struct fwd_call *call, uint64_t vlan)
{
	if (vlan < 4096)
		return true;
	fprintf(call->out, "Invalid vlan_id %" PRIu64 " (must be < 4096)\n", vlan);
	return false;
}

bool fwd_is_stopped(const struct fwd_call *call)
{
	if (haul_app_is_paused(call->app))
		return true;
	fprintf(call->out, "Packets are forwarded: give stop first\n");
	return false;
}

/* As testpmd after "show port WHAT P" and "clear port WHAT P". */
static void list_ports(const struct fwd_call *call)
{
	const char *verb = call->words[0].text;

	if (strcmp(call->words[1].text, "port") != 0 ||
		(strcmp(verb, "show") != 0 && strcmp(verb, "clear") != 0))
		return;
	fprintf(call->out, "The valid ports array is [");
	for (unsigned i = 0; i < call->app->nb_ports; i++)
		fprintf(call->out, " %u", i);
	fprintf(call->out, " ]\n");
}

bool fwd_each_port(const struct fwd_call *call, const char *word,
	bool (*fn)(const struct fwd_call *call, unsigned port))
{
	const unsigned n = call->app->nb_ports;
	bool good = true;
	char *end;
	unsigned long port = strtoul(word, &end, 10);

	if (strcmp(word, "all") == 0) {
		for (unsigned i = 0; i < n; i++)
			good &= fn(call, i);
		return good;
	}
	if (end == word || *end || port >= n) {
		fprintf(call->out, "Invalid port %s\n", word);
		if (word == call->words[3].text)
			list_ports(call);
		return false;
	}
	return fn(call, (unsigned)port);
}
