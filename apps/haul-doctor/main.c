/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-doctor: prints the placement of carriers on this machine, and checks it for obstacles. */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul-app/options.h>

#include "doctor.h"
#include "pollers.h"
#include "port.h"
#include "report.h"

static const char *machine_text;
static struct haul_app_texts ifaces, specs;
static struct doctor_port *ports;
static bool as_json;

static bool is_for_this_machine(void)
{
	return !machine_text;
}

#define CHECKS .needs = "a check of this machine, not --machine", .has_effect = is_for_this_machine
static const struct haul_app_option options[] = {
	{"--machine", "M", HAUL_APP_TEXT, &machine_text, .zero = "this one",
		.help = "plan for another machine, and check nothing: an hwloc description "
			"such as 'pack:2 l3:4 core:8 pu:2', or a file that 'lstopo "
			"machine.xml' wrote on that machine"},
	{"--iface", "IFACE", HAUL_APP_TEXTS, &ifaces,
		.help = "an interface to use as a port: its faults are problems; repeat the "
			"option for more interfaces (default: all but loopback, with their "
			"faults as notes)",
		CHECKS},
	{"--port", "SPEC", HAUL_APP_TEXTS, &specs,
		.help = "a port to use, as for haul-fwd (see below), or just its kind: checks all "
			"that it needs, and its faults are problems; repeat the option for more "
			"ports",
		CHECKS},
	{"--json", NULL, HAUL_APP_FLAG, &as_json, .help = "print one JSON object in place of text"},
	{0},
};
static const struct haul_app_program program = {
	.name = "haul-doctor",
	.purpose =
		"Prints the placement of haul's carriers on this machine, checks the needs of "
		"haul,\n"
		"measures the costs of the poller policies, and prints a remedy for each finding.\n"
		"Changes nothing. Exits with 1 if there is a problem: haul cannot run.",
	.examples = "  haul-doctor --port afxdp:eth0\n"
		    "  haul-doctor --port tap --port vhost:/run/vm1\n"
		    "  haul-doctor --carriers 4 --near eth0\n"
		    "  haul-doctor --machine 'pack:2 l3:4 core:8 pu:2'\n",
	.options = {options},
	.places_carriers = true,
	.explains_ports = true,
};

static void check_machine(struct doctor_report *r, const struct haul_plan *plan)
{
	struct doctor_subject machine = {.plan = plan};

	doctor_report_checks(r, "Processors", doctor_cpu_checks, &machine);
	doctor_report_checks(r, "Memory", doctor_memory_checks, &machine);
	doctor_report_checks(r, "Privileges", doctor_privilege_checks, &machine);
	doctor_report_checks(r, "DPDK", doctor_dpdk_checks, &machine);
	doctor_pollers(r, plan);
}

static void check_iface(
	struct doctor_report *r, const struct haul_plan *plan, const char *iface, bool named)
{
	struct doctor_subject subject = {.plan = plan, .iface = iface, .named = named};
	char title[64];

	snprintf(title, sizeof(title), "Interface %s", iface);
	doctor_report_checks(r, title, doctor_iface_checks, &subject);
}

static void check_ifaces(struct doctor_report *r, const struct haul_plan *plan)
{
	struct if_nameindex *all;

	for (unsigned i = 0; i < ifaces.n; i++)
		check_iface(r, plan, ifaces.items[i], true);
	if (ifaces.n > 0 || specs.n > 0)
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
	char why[1024];
	int rc;

	if (doctor_ports_parse(&ports, specs.items, specs.n, why, sizeof(why)) < 0)
		return haul_app_wrong(&program, "%s", why);
	rc = haul_app_plan(&program, &plan, machine_text);
	if (rc != HAUL_APP_DONE)
		return rc;
	doctor_report_begin(&report, as_json);
	if (!as_json)
		haul_plan_print(plan, stdout);
	if (!machine_text) {
		check_machine(&report, plan);
		check_ifaces(&report, plan);
		doctor_ports(&report, plan, ports, specs.n);
	}
	doctor_report_end(&report, plan, !machine_text);
	haul_plan_destroy(plan);
	free(ports);
	return report.counts[DOCTOR_PROBLEM] ? HAUL_APP_FAILED : HAUL_APP_DONE;
}

int main(int argc, char **argv)
{
	return haul_app_command(&program, examine, argc, argv);
}
