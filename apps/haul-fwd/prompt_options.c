/* SPDX-License-Identifier: BSD-3-Clause */
#include "prompt_options.h"

struct fwd_prompt_args fwd_prompt_args;

static bool is_interactive(void)
{
	return fwd_prompt_args.interactive;
}

static bool waits_for_start(void)
{
	return fwd_prompt_args.interactive && !fwd_prompt_args.auto_start;
}

#define COMMANDS \
	.needs = "--interactive, --cmdline-file or --control", .has_effect = fwd_prompt_is_used
const struct haul_app_option fwd_prompt_options[] = {
	{"-i, --interactive", NULL, HAUL_APP_FLAG, &fwd_prompt_args.interactive,
		.help = "take commands on stdin, with those of dpdk-testpmd (help all lists them); "
			"do "
			"not forward before \"start\", and print no periodic reports"},
	{"-a, --auto-start", NULL, HAUL_APP_FLAG, &fwd_prompt_args.auto_start,
		.help = "forward from the start", .needs = "--interactive",
		.has_effect = is_interactive},
	{"--testpmd", NULL, HAUL_APP_FLAG, &fwd_prompt_args.testpmd,
		.help = "as the first argument: what follows is a command line of dpdk-testpmd, "
			"with EAL's arguments and --; the prompt is testpmd's, too"},
	{"--disable-device-start", NULL, HAUL_APP_FLAG, &fwd_prompt_args.ports_stopped,
		.help = "leave all ports stopped until the command port start",
		.needs = "--interactive, without --auto-start", .has_effect = waits_for_start},
	{"--flow-isolate-all", NULL, HAUL_APP_FLAG, &fwd_prompt_args.isolated,
		.help = "receive only what flow rules give to queues, as after the command flow "
			"isolate all on",
		COMMANDS},
	{"--display-xstats", "NAME[,NAME]...", HAUL_APP_TEXT, &fwd_prompt_args.display_xstats,
		.help = "show these of show port xstats with show port stats, too", COMMANDS},
	{"--record-core-cycles", NULL, HAUL_APP_FLAG, &fwd_prompt_args.record_cycles,
		.help = "print CPU cycles per packet with the statistics of a run", COMMANDS},
	{"--record-burst-stats", NULL, HAUL_APP_FLAG, &fwd_prompt_args.record_bursts,
		.help = "print how many packets polls found with the statistics of a run",
		COMMANDS},
	{"--cmdline-file", "FILE", HAUL_APP_TEXT, &fwd_prompt_args.file,
		.help = "first run the commands in this file"},
	{"--control", "PATH", HAUL_APP_TEXT, &fwd_prompt_args.control,
		.help = "take commands through a Unix socket that is made at PATH, for this user "
			"only: socat - UNIX-CONNECT:PATH"},
	{0},
};

bool fwd_prompt_is_used(void)
{
	const struct fwd_prompt_args *a = &fwd_prompt_args;

	return a->interactive || a->file || a->control;
}

bool fwd_prompt_starts(void)
{
	return !fwd_prompt_args.interactive || fwd_prompt_args.auto_start;
}

bool fwd_prompt_reports(void)
{
	return !fwd_prompt_args.interactive;
}
