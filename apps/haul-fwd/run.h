/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs of the pollers, each with a mode and a kind of handler. The prompt may change --mode and
 * --handler at any time, for the next run; so only run.c knows their values, and everybody else has
 * a struct fwd_run, which does not change: that of the program's start, or that of the run that has
 * begun last (struct fwd).
 */
#ifndef FWD_RUN_H
#define FWD_RUN_H

#include <haul-app/app.h>

#include "mode.h"

extern const struct haul_app_option fwd_run_options[];

/* In parsed(): fixes what the program starts with, and returns it. */
struct fwd_run fwd_run_parsed(void);
/* Returns the same, at any time later. */
struct fwd_run fwd_run_at_start(void);

/* What the options say now: for the next run. */
struct fwd_run fwd_run_next(void);

/* In has_effect() of options: true if the program may run in the mode, that of --mode, or another
 * one that the prompt can choose. */
bool fwd_may_run(enum fwd_mode mode);
bool fwd_may_run_one(const enum fwd_mode *modes, unsigned n); /* of n modes */

/* Sets --mode or --handler for the next run. Returns HAUL_APP_DONE, or an exit code after a line if
 * this program can have no such run. Main thread. */
int fwd_run_set(struct haul_app *app, const char *option, const char *value);

/* Turns the retries of the next runs on or off. */
void fwd_run_retry(bool on);
/* Sets the time between them, and their number. */
void fwd_run_set_retries(uint32_t us, uint32_t n);

/* The name of a run's mode. Returns buf. */
const char *fwd_run_name(char buf[16], struct fwd_run run);

#endif
