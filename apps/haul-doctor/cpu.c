/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the processors: CPU time, caches, frequency, clocks. */
#include <inttypes.h>
#include <linux/membarrier.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "doctor.h"
#include "kernel.h"

#define CPU "/sys/devices/system/cpu"

static void binding(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	if (!subject->plan->notice[0]) {
		doctor_say(finding, DOCTOR_OK, "each carrier has a CPU of its own");
		return;
	}
	doctor_say(finding, DOCTOR_NOTE, "%s", subject->plan->notice);
	doctor_todo(finding,
		strstr(subject->plan->notice, "bind")
			? "allow sched_setaffinity in the container's seccomp profile"
			: "ask for fewer carriers: --carriers N");
}

static void cpu_quota(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	double cpus = haul_cgroup_cpus();
	unsigned carriers = subject->plan->carriers;

	if (cpus == 0) {
		doctor_say(finding, DOCTOR_OK, "no cgroup limits the CPU time");
		return;
	}
	if (cpus >= carriers) {
		doctor_say(finding, DOCTOR_OK, "the cgroup allows the time of %.1f CPUs, enough",
			cpus);
		return;
	}
	doctor_say(finding, DOCTOR_NOTE,
		"the cgroup allows the time of %.1f CPUs for %u carriers: the kernel will stop "
		"them "
		"for a part of each period",
		cpus, carriers);
	if (cpus >= 1)
		doctor_todo(finding, "--carriers %u", (unsigned)cpus);
	else
		doctor_todo(
			finding, "give the container at least one CPU: docker run --cpus 1 ...");
}

static void caches(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	int cpu = subject->plan->places[0].cpu;
	char size[32] = "", shared[256] = "";
	int64_t level = 0, highest = 0;

	for (int i = 0; i < 8 && level >= 0; i++) {
		level = kernel_number(CPU "/cpu%d/cache/index%d/level", cpu < 0 ? 0 : cpu, i);
		if (level <= highest)
			continue;
		highest = level;
		kernel_line(
			size, sizeof(size), CPU "/cpu%d/cache/index%d/size", cpu < 0 ? 0 : cpu, i);
		kernel_line(shared, sizeof(shared), CPU "/cpu%d/cache/index%d/shared_cpu_list",
			cpu < 0 ? 0 : cpu, i);
	}
	if (highest >= 3)
		doctor_say(finding, DOCTOR_OK, "L%d of %s, shared by CPUs %s", (int)highest, size,
			shared);
	else
		doctor_say(finding, DOCTOR_NOTE,
			"no L3 is reported: clusters follow the L2, or all carriers are one "
			"cluster");
}

static void smt(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	unsigned shared = 0;

	for (unsigned i = 0; i < subject->plan->carriers; i++)
		shared += subject->plan->places[i].smt;
	if (shared > 0) {
		doctor_say(finding, DOCTOR_NOTE,
			"%u carriers share a core with another one: two that spin on a core run at "
			"half speed",
			shared);
		doctor_todo(finding, "--carriers %u", subject->plan->carriers - shared);
	} else {
		doctor_say(finding, DOCTOR_OK, "%s",
			kernel_number(CPU "/smt/active") == 1
				? "on; each carrier has a core of its own, SMT siblings stay free"
				: "off: each CPU is a core");
	}
}

static void governor(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	char name[32], slow[32] = "";
	unsigned known = 0, slow_cpus = 0;

	for (unsigned i = 0; i < subject->plan->carriers; i++) {
		int cpu = subject->plan->places[i].cpu;

		if (cpu < 0 ||
			!kernel_line(
				name, sizeof(name), CPU "/cpu%d/cpufreq/scaling_governor", cpu))
			continue;
		known++;
		if (strcmp(name, "performance") == 0)
			continue;
		slow_cpus++;
		snprintf(slow, sizeof(slow), "%s", name);
	}
	if (slow_cpus > 0) {
		doctor_say(finding, DOCTOR_NOTE,
			"'%s' on %u of the carriers' CPUs: latency varies with the frequency", slow,
			slow_cpus);
		doctor_todo_root(finding, "cpupower frequency-set -g performance");
	} else {
		doctor_say(finding, DOCTOR_OK, "%s",
			known ? "performance" : "the kernel does not control frequencies here");
	}
}

/* Writes the CPUs of carriers without CPU 0, which cannot be isolated: "1,2,3". */
static void isolable(const struct haul_plan *plan, char *list, size_t size)
{
	size_t len = 0;

	list[0] = '\0';
	for (unsigned i = 0; i < plan->carriers && len < size; i++) {
		if (plan->places[i].cpu > 0)
			len += (size_t)snprintf(list + len, size - len, "%s%d", len ? "," : "",
				plan->places[i].cpu);
	}
}

static void isolation(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	char isolated[256], tickless[256], list[64];
	unsigned within = 0;

	kernel_line(isolated, sizeof(isolated), CPU "/isolated");
	kernel_line(tickless, sizeof(tickless), CPU "/nohz_full");
	for (unsigned i = 0; i < subject->plan->carriers; i++)
		within += kernel_in_list(isolated, subject->plan->places[i].cpu);
	if (within == subject->plan->carriers) {
		doctor_say(finding, DOCTOR_OK, "all carriers are on isolated CPUs (%s)%s%s",
			isolated, tickless[0] == '(' || !tickless[0] ? "" : ", tickless: ",
			tickless[0] == '(' ? "" : tickless);
	} else if (isolated[0]) {
		doctor_say(finding, DOCTOR_NOTE, "%u of %u carriers are on isolated CPUs (%s)",
			within, subject->plan->carriers, isolated);
		doctor_todo(finding, "--carriers %s", isolated);
	} else {
		doctor_say(finding, DOCTOR_NOTE,
			"no CPU is isolated: other programs and timer ticks interrupt carriers");
		isolable(subject->plan, list, sizeof(list));
		if (list[0])
			doctor_todo(finding,
				"kernel command line: isolcpus=managed_irq,domain,%s nohz_full=%s",
				list, list);
	}
}

static void clock_source(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	char source[64], flags[4096];
	bool steady = !kernel_field(flags, sizeof(flags), "/proc/cpuinfo", "flags") ||
		(kernel_has_word(flags, "constant_tsc") && kernel_has_word(flags, "nonstop_tsc"));

	kernel_line(source, sizeof(source),
		"/sys/devices/system/clocksource/clocksource0/current_clocksource");
	if (strcmp(source, "hpet") == 0 || strcmp(source, "acpi_pm") == 0) {
		/* The kernel's fallback after it found the TSC unstable. */
		doctor_say(finding, DOCTOR_PROBLEM,
			"the kernel uses %s because the time stamp counter is unstable: haul's "
			"timers would be wrong",
			source);
		doctor_todo(finding, "for the reason: dmesg | grep -i tsc");
	} else if (!steady) {
		doctor_say(finding, DOCTOR_NOTE,
			"%s; the time stamp counter may change its rate, or stop in idle states",
			source[0] ? source : "unknown");
		doctor_todo(finding,
			"in a virtual machine: pass invtsc through from the host "
			"(-cpu host,+invtsc)");
	} else {
		doctor_say(finding, DOCTOR_OK, "%s; the time stamp counter is stable",
			source[0] ? source : "unknown");
	}
}

static void timer_slack(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	int before = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);

	if (before >= 0 && prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0) == 0 &&
		prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0) == 1) {
		prctl(PR_SET_TIMERSLACK, (unsigned long)before, 0, 0, 0);
		doctor_say(finding, DOCTOR_OK, "%d us by default; carriers set it to 1 ns",
			before / 1000);
		return;
	}
	doctor_say(finding, DOCTOR_NOTE, "cannot be set: carriers that sleep wake up to %d us late",
		before < 0 ? 50 : before / 1000);
	doctor_todo(finding,
		"run without a real-time policy, and allow prctl in the seccomp profile of the "
		"container");
}

static void membarriers(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	if (commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED))
		doctor_say(finding, DOCTOR_OK, "works");
	else
		doctor_say(
			finding, DOCTOR_NOTE, "membarrier(2) is missing: stealing is not possible");
}

static void virtual_machine(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	char flags[4096];

	kernel_field(flags, sizeof(flags), "/proc/cpuinfo", "flags");
	if (!kernel_has_word(flags, "hypervisor") &&
		access("/proc/device-tree/hypervisor", F_OK) < 0) {
		doctor_say(finding, DOCTOR_OK, "none");
		return;
	}
	doctor_say(finding, DOCTOR_NOTE,
		"a virtual machine: the host may stop a CPU at any time, so tail latencies tell "
		"nothing");
	doctor_todo(finding, "on the host, pin each virtual CPU: virsh vcpupin DOMAIN N M");
}

const struct doctor_check doctor_cpu_checks[] = {
	{"binding", binding},
	{"quota", cpu_quota},
	{"cache", caches},
	{"smt", smt},
	{"governor", governor},
	{"isolation", isolation},
	{"clock", clock_source},
	{"timer-slack", timer_slack},
	{"membarrier", membarriers},
	{"hypervisor", virtual_machine},
	{NULL, NULL},
};
