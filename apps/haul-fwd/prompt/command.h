/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: tables of forms and functions. */
#ifndef FWD_PROMPT_COMMAND_H
#define FWD_PROMPT_COMMAND_H

#include <stdio.h>
#include <string.h>

#include <haul-app/app.h>

#include <cmdline_parse.h>
#include <cmdline_parse_string.h>

#define FWD_WORDS_MAX 16
/* For a carrier to answer; one that a handler keeps busy does not. */
#define FWD_PATIENCE HAUL_S

/* What was typed for each word of the form. */
union fwd_word {
	char text[STR_TOKEN_SIZE];
	uint64_t number;
};

/* A command that runs. */
struct fwd_call {
	struct haul_app *app;
	FILE *out; /* to whom gave the command */
	const union fwd_word *words;
};

struct fwd_command {
	/*
	 * Words separated by spaces: names, with | between choices ("on|off"); in capitals what the
	 * user chooses: N, a number; MODE, one of --mode; any other (PORT, MAC), a word; one that
	 * ends in "..." the rest of the line (fwd_rest()).
	 */
	const char *form;
	/* Returns true, or false after a line on call->out about why nothing was done. */
	bool (*run)(const struct fwd_call *call);
	const char *help; /* for "help" */
};

/* The tables, each ended by NULL: a form. */
extern const struct fwd_command fwd_commands_run[]; /* start, stop, quit */
extern const struct fwd_command fwd_commands_help[];
extern const struct fwd_command fwd_commands_show[]; /* of forwarding and its configuration */
extern const struct fwd_command fwd_commands_set[];
extern const struct fwd_command fwd_commands_ports[];
extern const struct fwd_command fwd_commands_rss[];
extern const struct fwd_command fwd_commands_queue[];
extern const struct fwd_command fwd_commands_address[];
extern const struct fwd_command fwd_commands_device[];
extern const struct fwd_command fwd_commands_flow[];
extern const struct fwd_command fwd_commands_flow_control[];
extern const struct fwd_command fwd_commands_nic[];
extern const struct fwd_command fwd_commands_recording[];
extern const struct fwd_command fwd_commands_misc[];
extern const struct fwd_command fwd_commands_csum[];
extern const struct fwd_command fwd_commands_vlan[];
extern const struct fwd_command fwd_commands_capture[];
extern const struct fwd_command fwd_commands_verbose[];
extern const struct fwd_command fwd_commands_generate[]; /* of the generator, and figures as JSON */
extern const struct fwd_command *const fwd_commands[];

/* Makes librte_cmdline's form of all tables; it lasts until the end of the process. run_wrong is
 * called for lines that are no commands: fwd_wrong_print(). */
cmdline_parse_ctx_t *fwd_commands_context(
	void (*run)(void *words, struct cmdline *cl, void *command),
	void (*run_wrong)(void *words, struct cmdline *cl, void *data));

/* The rest of the line, from this word of the form on. */
const char *fwd_rest(const struct fwd_call *call, unsigned word);

/* True if err is 0; else after the line in errbuf, without the name of haul's function that it may
 * begin with. */
bool fwd_result(const struct fwd_call *call, int err, const char *errbuf);

static inline struct haul_port *fwd_port_of(const struct fwd_call *call, unsigned port)
{
	return call->app->ports[port];
}

static inline bool fwd_is_on(const char *word)
{
	return strcmp(word, "on") == 0;
}

/* True if there may be such a VLAN; else after a line. */
bool fwd_is_vlan(const struct fwd_call *call, uint64_t vlan);

/* True if no packets are forwarded; else after a line. */
bool fwd_is_stopped(const struct fwd_call *call);

/* Calls fn for a port, or for each if the word is "all". False after a line if there is no such
 * port, or fn returned false. */
bool fwd_each_port(const struct fwd_call *call, const char *word,
	bool (*fn)(const struct fwd_call *call, unsigned port));

#endif
