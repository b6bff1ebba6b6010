/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of haul-top, and its ways to run. */
#ifndef TOP_SETTINGS_H
#define TOP_SETTINGS_H

#include <haul-app/options.h>

#include "find.h"

struct top_settings {
	struct top_choice choice;
	uint64_t interval, patience, duration; /* ns; duration 0: until it is told to end */
	unsigned view;
	const char *record, *replay; /* files, or NULL */
	bool once, json, list, plain; /* plain: no colours */
};

extern struct top_settings top_settings;
extern const struct haul_app_program top_program;

/* Each returns an exit code, after a line on stderr if it is an error. */
int top_list(void);
int top_once(void);
int top_record_only(void); /* no screen */

#endif
