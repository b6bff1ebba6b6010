/* SPDX-License-Identifier: BSD-3-Clause */
#include "options/placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The values of the options: one placement per process. */
static struct {
	const char *carriers;
	const char *option; /* that chose them */
	const char *near_nic;
	bool smt;
} place = {.option = "--carriers"};

static bool counts_cores(void)
{
	return !place.carriers;
}

const struct haul_app_option *hauli_placement_options(void)
{
	static const struct haul_app_option options[] = {
		{"--carriers", "N|LIST", HAUL_APP_TEXT, &place.carriers,
			.zero = "one per physical core",
			.help = "number of carriers, or list of CPUs to run one on each, such as "
				"0,2-3 (2-2: on CPU 2)"},
		{"--near", "NIC", HAUL_APP_TEXT, &place.near_nic, .zero = "no preference",
			.help = "begin with the CPUs nearest to this interface or PCI address"},
		{"--smt", NULL, HAUL_APP_FLAG, &place.smt,
			.help = "use SMT siblings as if they were cores",
			.needs = "the default number of carriers", .has_effect = counts_cores},
		{NULL},
	};

	return options;
}

bool haul_app_place(const char *option, const char *carriers)
{
	if (place.carriers)
		return false;
	place.option = option;
	place.carriers = carriers;
	return true;
}

static bool is_number(const char *text) /* or empty */
{
	return text[strspn(text, "0123456789")] == '\0';
}

int haul_app_plan(
	const struct haul_app_program *program, struct haul_plan **plan, const char *machine)
{
	struct haul_plan_opts opts = {
		.near_nic = place.near_nic, .smt = place.smt, .machine = machine};
	char errbuf[256];
	int err;

	if (place.carriers && is_number(place.carriers)) {
		unsigned long n = strtoul(place.carriers, NULL, 10);

		if (n < 1 || n > HAUL_CARRIERS_MAX)
			return haul_app_wrong(program,
				"%s %s: give a number from 1 to %u, or CPUs such as 0,2-3",
				place.option, place.carriers, HAUL_CARRIERS_MAX);
		opts.carriers = (unsigned)n;
	} else {
		opts.cpus = place.carriers;
	}
	/* carriers is of another option (haul_app_place()), which the program has read after
	 * has_effect() was called. */
	if (opts.smt && place.carriers)
		return haul_app_wrong(program, "--smt has no effect with %s", place.option);
	if (opts.cpus && opts.near_nic)
		return haul_app_wrong(
			program, "%s and --near both choose the CPUs; give one", place.option);
	err = haul_plan_create(plan, &opts, errbuf, sizeof(errbuf));
	if (err == 0)
		return HAUL_APP_DONE;
	if (err == -EINVAL && strncmp(errbuf, "cpus ", 5) == 0)
		return haul_app_wrong(program, "%s %s", place.option, errbuf + 5);
	if (err == -EINVAL && strncmp(errbuf, "near_nic ", 9) == 0)
		return haul_app_wrong(program, "--near %s", errbuf + 9);
	haul_app_say(program, "%s", errbuf);
	return err == -EINVAL ? HAUL_APP_USAGE : HAUL_APP_FAILED;
}
