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

extern const struct haul_app_option fwd_prompt_options[];

/* True if there are commands: they may change the mode. After parsing. */
bool fwd_prompt_is_used(void);

/* Without --interactive, or with --auto-start: the program starts to forward by itself. */
bool fwd_prompt_starts(void);
bool fwd_prompt_reports(void); /* periodically, so without --interactive */

/* In parsed(). Returns an exit code. */
int fwd_prompt_parsed(struct haul_app *app);

/* In started(): runs the file of commands, starts forwarding unless the user does, and begins to
 * take commands. Returns an exit code. */
int fwd_prompt_started(struct haul_app *app);

/* In closed(): the terminal is as before, the socket is gone. */
void fwd_prompt_closed(void);

#endif
