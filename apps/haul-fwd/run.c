/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include "modes/options.h"
#include "prompt_options.h"

static unsigned mode, coroutine, count_bytes;
static struct fwd_run at_start;

/* testpmd's, of which the first has no option. */
static bool retries;
static uint32_t retries_most = 64, retry_us = 1;

const struct haul_app_option fwd_run_options[] = {
	{"--mode", FWD_MODE_NAMES, HAUL_APP_CHOICE, &mode,
		.help = "what happens to received frames:" FWD_MODE_HELP},
	{"--handler", "burst|coroutine", HAUL_APP_CHOICE, &coroutine,
		.help = "handle packets by a function call per burst, or by a coroutine per "
			"packet"},
	{"--count-bytes", FWD_COUNT_BYTES_NAMES, HAUL_APP_CHOICE, &count_bytes,
		.help = "count the bytes of each packet, some 8 instructions; off: figures of "
			"bytes "
			"are those of the PMD, if it has any (null and ring have none); auto: on "
			"in modes that read each packet. dpdk-testpmd counts none"},
	{0},
};

struct fwd_run fwd_run_next(void)
{
	return (struct fwd_run){.mode = (enum fwd_mode)mode,
		.coroutine = coroutine,
		.count_bytes = (enum fwd_count_bytes)count_bytes,
		.retries = retries ? retries_most : 0,
		.retry_us = retry_us};
}

struct fwd_run fwd_run_parsed(void)
{
	at_start = fwd_run_next();
	return at_start;
}

struct fwd_run fwd_run_at_start(void)
{
	return at_start;
}

/* Why a program that begins with the first run cannot have the other: it takes memory or options
 * that are fixed at the start. NULL: it can. */
static const char *obstacle(struct fwd_run first, struct fwd_run run)
{
	if (first.mode == FWD_GENERATE && run.mode != FWD_GENERATE)
		return "a program that was started with --mode generate has no other mode";
	if (first.mode == FWD_GENERATE && run.coroutine)
		return "mode generate has no coroutines";
	if (first.mode != FWD_GENERATE && run.mode == FWD_GENERATE)
		return "mode generate needs --mode generate at the start";
	if (run.mode == FWD_L3FWD && !fwd_mode_args.routes)
		return "mode l3fwd needs --routes at the start";
	return NULL;
}

bool fwd_may_run(enum fwd_mode other)
{
	const struct fwd_run run = {.mode = other};

	return other == mode || (fwd_prompt_is_used() && !obstacle(fwd_run_next(), run));
}

bool fwd_may_run_one(const enum fwd_mode *modes, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (fwd_may_run(modes[i]))
			return true;
	return false;
}

int fwd_run_set(struct haul_app *app, const char *option, const char *value)
{
	const unsigned mode_before = mode, coroutine_before = coroutine;
	int rc = haul_app_set_option(app, option, value);
	const char *why = rc == HAUL_APP_DONE ? obstacle(at_start, fwd_run_next()) : NULL;

	if (!why)
		return rc;
	mode = mode_before;
	coroutine = coroutine_before;
	haul_app_say(app->program, "%s %s: %s", option, value, why);
	return HAUL_APP_USAGE;
}

void fwd_run_retry(bool on)
{
	retries = on;
}

void fwd_run_set_retries(uint32_t us, uint32_t n)
{
	retry_us = us;
	retries_most = n;
}

const char *fwd_run_name(char buf[16], struct fwd_run run)
{
	return haul_app_choice(buf, 16, FWD_MODE_NAMES, run.mode);
}
