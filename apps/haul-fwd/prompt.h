/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of haul-fwd, with the names that dpdk-testpmd has for them: at the terminal, from a
 * file, and through a Unix socket. All run in the main thread, one at a time, between its other
 * work: carriers are not disturbed. Line editing, history, completion and parsing are DPDK's
 * (librte_cmdline).
 */
#ifndef FWD_PROMPT_H
#define FWD_PROMPT_H

#include <haul-app/app.h>

/* In parsed(). Returns an exit code. */
int fwd_prompt_parsed(struct haul_app *app);

/* In started(): runs the file of commands, starts forwarding unless the user does, and begins to
 * take commands. Returns an exit code. */
int fwd_prompt_started(struct haul_app *app);

/* totals() of haul-app for a command line of testpmd: what testpmd prints at the end. */
void fwd_quit_totals(struct haul_app *app, FILE *out);

/* In closed(): the terminal is as before, and gets the last line of testpmd, which scripts wait
 * for; the socket is gone. */
void fwd_prompt_closed(void);

#endif
