/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-doctor: prints the placement of carriers on this machine, and checks it for obstacles. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "common/args.h"
#include "common/output.h"
#include "doctor.h"
#include "pollers.h"
#include "report.h"

static uint64_t carriers;
static struct haul_plan_opts plan_opts;
static struct app_texts ifaces;
static bool as_json;

static const struct app_option options[] = {
	{"--carriers", "N", APP_ARG_NUMBER, &carriers, .min = 1, .max = HAUL_CARRIERS_MAX,
		.zero = "one per core", .help = "number of carriers to plan for"},
	{"--cpus", "LIST", APP_ARG_TEXT, &plan_opts.cpus, .zero = "chosen by the plan",
		.help = "plan a carrier on each of these CPUs, such as 0,2-5"},
	{"--smt", NULL, APP_ARG_FLAG, &plan_opts.smt, .help = "plan carriers on SMT siblings, too"},
	{"--near", "NIC", APP_ARG_TEXT, &plan_opts.near_nic, .zero = "no preference",
		.help = "begin with the CPUs nearest to this interface or\nPCI address"},
	{"--machine", "M", APP_ARG_TEXT, &plan_opts.machine, .zero = "this one",
		.help = "plan for another machine, and check nothing: an hwloc\n"
			"description such as 'pack:2 l3:4 core:8 pu:2', or a file\n"
			"that 'lstopo machine.xml' wrote on that machine"},
	{"--iface", "IFACE", APP_ARG_TEXTS, &ifaces,
		.help = "an interface to use as a port: its faults are problems;\n"
			"repeat the option for more interfaces (default: all but\n"
			"loopback, with their faults as notes)"},
	{"--json", NULL, APP_ARG_FLAG, &as_json, .help = "print one JSON object in place of text"},
	{0},
};
static const struct app_option *const tables[] = {options, NULL};
static const struct app_program program = {
	.name = "haul-doctor",
	.purpose =
		"Prints the placement of haul's carriers on this machine, checks the needs of "
		"haul,\n"
		"measures the costs of the poller policies, and prints a remedy for each finding.\n"
		"Changes nothing. Exits with 1 if there is a problem: haul cannot run.",
	.examples = "  haul-doctor --iface eth0\n"
		    "  haul-doctor --carriers 4 --near eth0\n"
		    "  haul-doctor --machine 'pack:2 l3:4 core:8 pu:2'\n",
	.tables = tables,
};

static void run(struct doctor_report *r, const char *title, const struct doctor_check *checks,
	const struct doctor_subject *subject)
{
	doctor_report_group(r, title);
	for (; checks->name; checks++) {
		struct doctor_finding finding = {0};

		checks->fn(subject, &finding);
		doctor_report_finding(r, subject, checks->name, &finding);
	}
}

static void check_machine(struct doctor_report *r, const struct haul_plan *plan)
{
	struct doctor_subject machine = {.plan = plan};

	run(r, "Processors", doctor_cpu_checks, &machine);
	run(r, "Memory", doctor_memory_checks, &machine);
	run(r, "Privileges", doctor_privilege_checks, &machine);
	run(r, "DPDK", doctor_dpdk_checks, &machine);
	doctor_pollers(r, plan);
}

static void check_iface(
	struct doctor_report *r, const struct haul_plan *plan, const char *iface, bool named)
{
	struct doctor_subject subject = {.plan = plan, .iface = iface, .named = named};
	char title[64];

	snprintf(title, sizeof(title), "Interface %s", iface);
	run(r, title, doctor_iface_checks, &subject);
}

static void check_ifaces(struct doctor_report *r, const struct haul_plan *plan)
{
	struct if_nameindex *all;

	for (unsigned i = 0; i < ifaces.n; i++)
		check_iface(r, plan, ifaces.items[i], true);
	if (ifaces.n > 0)
		return;
	all = if_nameindex();
	for (struct if_nameindex *i = all; i && i->if_index; i++) {
		if (strcmp(i->if_name, "lo") != 0)
			check_iface(r, plan, i->if_name, false);
	}
	if_freenameindex(all);
}

/* Called after the options are parsed. Returns an exit code. */
static int examine(void)
{
	struct doctor_report report;
	struct haul_plan *plan;
	char why[256];
	int err;

	plan_opts.carriers = (unsigned)carriers;
	err = haul_plan_create(&plan, &plan_opts, why, sizeof(why));
	if (err == -EINVAL)
		return app_args_wrong(&program, "%s", why);
	if (err < 0) {
		app_say(&program, "%s", why);
		return APP_EXIT_FAILED;
	}
	doctor_report_begin(&report, as_json);
	if (!as_json)
		haul_plan_print(plan, stdout);
	if (!plan_opts.machine) {
		check_machine(&report, plan);
		check_ifaces(&report, plan);
	}
	doctor_report_end(&report, plan, !plan_opts.machine);
	haul_plan_destroy(plan);
	return report.counts[DOCTOR_PROBLEM] ? APP_EXIT_FAILED : APP_EXIT_DONE;
}

int main(int argc, char **argv)
{
	int rc;

	app_output_begin();
	rc = app_args_parse(&program, argc, argv);
	return app_output_end(&program, rc >= 0 ? rc : examine());
}
