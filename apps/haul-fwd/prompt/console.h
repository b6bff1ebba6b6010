/* SPDX-License-Identifier: BSD-3-Clause */
/* Consoles, from which commands come: a terminal or pipe, a file, a client of the socket. */
#ifndef FWD_PROMPT_CONSOLE_H
#define FWD_PROMPT_CONSOLE_H

#include "command.h"

struct fwd_console {
	struct haul_app *app;
	struct cmdline *cl;
	int out; /* file descriptor */
	bool gone; /* out takes nothing more */
	/* The begin of a line, while there is no line editing. */
	char line[512];
	size_t len;
	bool too_long; /* the rest of the line is dropped */
};

/* Its output goes to out. edits: the input is edited by librte_cmdline, which echoes it to out.
 * Prints the prompt. */
void fwd_console_init(struct fwd_console *c, struct haul_app *app, int out, bool edits);
void fwd_console_fini(struct fwd_console *c);

/* Runs what is typed. Returns false at the end of input (Ctrl-D). */
bool fwd_console_type(struct fwd_console *c, const char *text, size_t n);

/* Runs the complete lines of text, each after a prompt that the console has printed. */
void fwd_console_take(struct fwd_console *c, const char *text, size_t n);

/* Runs one line, and prints what DPDK's programs print if it is wrong. False: it was wrong, or the
 * command failed. */
bool fwd_console_run(struct fwd_console *c, const char *line);

void fwd_console_print(struct fwd_console *c, const char *text, size_t n);

/* Unless the program ends. */
void fwd_console_print_prompt(struct fwd_console *c);

#endif
