/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-top: shows what a program of haul does, by its telemetry. */
#include "live.h"
#include "settings.h"
#include "tables.h"
#include "terminal.h"

struct top_settings top_settings = {.interval = HAUL_S, .patience = 5 * HAUL_S};

static bool has_no_file(void)
{
	return !top_settings.replay;
}

static bool is_text(void)
{
	return top_settings.once || top_settings.list;
}

static bool is_no_list(void)
{
	return !top_settings.list;
}

static bool goes_on(void)
{
	return !top_settings.once && !top_settings.list;
}

static bool is_watched(void)
{
	return has_no_file() && !top_settings.list;
}

#define LIVE .needs = "a program that runs, not --replay", .has_effect = has_no_file
static const struct haul_app_option options[] = {
	{"-p, --pid", "PID", HAUL_APP_NUMBER, &top_settings.choice.pid, .max = INT32_MAX,
		.zero = "the only program", .help = "the program with this process id", LIVE},
	{"-n, --name", "NAME", HAUL_APP_TEXT, &top_settings.choice.name, .zero = "any",
		.help = "the program with this name, such as haul-fwd, or with\n"
			"this --file-prefix",
		LIVE},
	{"--socket", "PATH", HAUL_APP_TEXT, &top_settings.choice.path, .zero = "all are found",
		.help = "the program whose telemetry has this socket", LIVE},
	{"-l, --list", NULL, HAUL_APP_FLAG, &top_settings.list,
		.help = "print the programs that run, and end", LIVE},
	{"-o, --once", NULL, HAUL_APP_FLAG, &top_settings.once,
		.help = "print one screen as text, after an interval, and end",
		.needs = "a program to watch, not --list", .has_effect = is_no_list},
	{"-j, --json", NULL, HAUL_APP_FLAG, &top_settings.json,
		.help = "print one JSON object in place of text", .needs = "--once or --list",
		.has_effect = is_text},
	{"-i, --interval", "TIME", HAUL_APP_TIME, &top_settings.interval, .min = 100 * HAUL_MS,
		.max = 3600 * HAUL_S, .help = "the time between two looks at the program"},
	{"--view", TOP_VIEW_NAMES, HAUL_APP_CHOICE, &top_settings.view,
		.help = "what to show first"},
	{"--record", "FILE", HAUL_APP_TEXT, &top_settings.record, .zero = "none",
		.help = "write all figures to FILE, for --replay; without a\n"
			"screen if stdout is no terminal",
		.needs = "a program to watch, not --replay or --list", .has_effect = is_watched},
	{"--replay", "FILE", HAUL_APP_TEXT, &top_settings.replay, .zero = "none",
		.help = "show what --record has written"},
	{"--duration", "TIME", HAUL_APP_TIME, &top_settings.duration, .max = 365 * 86400 * HAUL_S,
		.zero = "until it is told to end", .help = "end after this time",
		.needs = "neither --once nor --list", .has_effect = goes_on},
	{"--patience", "TIME", HAUL_APP_TIME, &top_settings.patience, .min = 10 * HAUL_MS,
		.max = 3600 * HAUL_S, .help = "how long to wait for an answer of a program", LIVE},
	{"--no-colour", NULL, HAUL_APP_FLAG, &top_settings.plain,
		.help = "a screen without colours, as with NO_COLOR=1"},
	{0},
};

const struct haul_app_program top_program = {
	.name = "haul-top",
	.purpose =
		"Shows what a program of haul does: its carriers with what they spend their time\n"
		"on, ports, queues, lost packets, coroutines and what they wait for. It reads\n"
		"telemetry, and changes pollers if the program was started with\n"
		"--telemetry-control.",
	.examples = "  haul-top\n"
		    "  haul-top --list\n"
		    "  haul-top --pid $(pidof haul-fwd) --interval 200ms\n"
		    "  haul-top --name haul-fwd --once --json\n"
		    "  haul-top --name haul-fwd --record fwd.top\n"
		    "  haul-top --replay fwd.top\n",
	.options = {options},
};

static int body(void)
{
	const char *why;

	if (top_settings.list)
		return top_list();
	if (top_settings.once)
		return top_once();
	if (top_terminal_is_there(&why))
		return top_live();
	if (top_settings.record)
		return top_record_only();
	return haul_app_wrong(&top_program, "%s: use --once or --record", why);
}

int main(int argc, char **argv)
{
	return haul_app_command(&top_program, body, argc, argv);
}
