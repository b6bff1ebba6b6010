/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the prompt, on which other options depend. */
#ifndef FWD_PROMPT_OPTIONS_H
#define FWD_PROMPT_OPTIONS_H

#include <haul-app/options.h>

/* Constant once the options are parsed, but for what commands change. */
struct fwd_prompt_args {
	bool interactive, auto_start;
	bool testpmd; /* --testpmd was not the first argument */
	bool record_cycles, record_bursts; /* commands change them */
	bool ports_stopped; /* at the start */
	bool isolated; /* ports, from the start on */
	const char *display_xstats; /* NULL: none */
	const char *file; /* --cmdline-file; NULL: none, as the next */
	const char *control;
};
extern struct fwd_prompt_args fwd_prompt_args;
extern const struct haul_app_option fwd_prompt_options[];

/* True if there are commands: they may change the mode. After parsing, as the next. */
bool fwd_prompt_is_used(void);

/* Without --interactive, or with --auto-start: the program starts to forward by itself. */
bool fwd_prompt_starts(void);
bool fwd_prompt_reports(void); /* periodically, so without --interactive */

#endif
