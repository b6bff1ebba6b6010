/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/trace.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <haul/trace.h>

#include "process/say.h"

static const char *path;
static uint64_t events = 65536;
static uint64_t slice, gap;
static bool drops;

static bool is_on(void)
{
	return path;
}

#define ON .needs = "--trace", .has_effect = is_on
static const struct haul_app_option options[] = {
	{"--trace", "FILE", HAUL_APP_TEXT, &path, .zero = "no timeline",
		.help = "keep a timeline of the last moments, and write it to\n"
			"FILE for SIGUSR2, after a crash, and at the end (see\n"
			"haul-trace)"},
	{"--trace-events", "N", HAUL_APP_NUMBER, &events, 1024, 1 << 28,
		.help = "events of 16 bytes that each carrier keeps", ON},
	{"--trace-slice", "TIME", HAUL_APP_TIME, &slice, .max = HAUL_S, .zero = "no limit",
		.help = "write FILE after a longer slice of a coroutine, and not\n"
			"at the end",
		ON},
	{"--trace-gap", "TIME", HAUL_APP_TIME, &gap, .max = HAUL_S, .zero = "no limit",
		.help = "write FILE after a longer time between two turns of a\n"
			"poller, and not at the end",
		ON},
	{"--trace-drops", NULL, HAUL_APP_FLAG, &drops,
		.help = "write FILE when packets are dropped, and not at the end", ON},
	{0},
};

const struct haul_app_option *hauli_app_trace_options(void)
{
	return options;
}

unsigned hauli_app_trace_events(void)
{
	return path ? (unsigned)events : 0;
}

static int fail(struct hauli_app *a, int err)
{
	char line[256];

	snprintf(line, sizeof(line), "--trace %s: %s", path, strerror(-err));
	return hauli_app_fail(a, err, line);
}

int hauli_app_trace_begin(struct hauli_app *a)
{
	const struct haul_trace_opts opts = {.path = path,
		.sig = SIGUSR2,
		.on_crash = true,
		.on_drop = drops,
		.slice_ns = slice,
		.gap_ns = gap};
	int err = path ? haul_trace_to(&opts) : 0;

	return err ? fail(a, err) : HAUL_APP_DONE;
}

const char *hauli_app_trace_ask(void)
{
	if (path)
		haul_trace_trigger();
	return path;
}

int hauli_app_trace_end(struct hauli_app *a, int rc)
{
	int err = path && !slice && !gap && !drops ? haul_trace_save() : 0;

	return err ? fail(a, err) : rc;
}
