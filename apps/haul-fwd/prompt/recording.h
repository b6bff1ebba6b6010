/* SPDX-License-Identifier: BSD-3-Clause */
/* What "stop" and "show fwd stats all" print on request: CPU cycles per packet, and how many
 * packets polls found, by --record-core-cycles, --record-burst-stats or the commands. Main
 * thread. */
#ifndef FWD_PROMPT_RECORDING_H
#define FWD_PROMPT_RECORDING_H

#include <stdio.h>

#include <haul-app/app.h>

/* Before pollers start: they record what is asked for now. */
void fwd_recording_start(struct haul_app *app);
/* Counts from 0. */
void fwd_recording_begin(const struct haul_app *app);

/* A line about the polls of a port. */
void fwd_recording_print_bursts(const struct haul_app *app, unsigned port, FILE *out);
/* A line about cycles, after so many packets of a mode of this name. */
void fwd_recording_print_cycles(
	const struct haul_app *app, const char *mode, uint64_t packets, FILE *out);

#endif
