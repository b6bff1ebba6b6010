/* SPDX-License-Identifier: BSD-3-Clause */
#include "eal/args.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_config.h>

#include "base/valgrind.h"
#include "eal/hugepages.h"
#include "eal/restart.h"
#include "eal/rundir.h"
#include "eal/secure.h"

#define SPARE_MB 48 /* of a program's haul_eal_opts.mem_mb: EAL's, and most is never touched */
#define DEFAULT_MB 512
#define FLOATS (-1)

/* The user's EAL arguments that change or forbid some of haul's. */
enum concern {
	CPUS, /* refused: the plan decides them */
	MEMORY, /* memory size */
	NO_HUGE,
	IN_MEMORY,
	SHARED, /* shared with other processes: memory files must have names */
	DEVICES, /* selection of PCI devices */
	ADDRESSES, /* physical or virtual addresses */
	PROCESS, /* refused: a second process would wait for the first, or share its memory */
	USAGE,
	CONCERNS,
};

static const struct {
	const char *option;
	enum concern concern;
} known[] = {
	{"--lcores", CPUS},
	{"-l", CPUS},
	{"-c", CPUS},
	{"--coremask", CPUS},
	{"--main-lcore", CPUS},
	{"-s", CPUS},
	{"--service-coremask", CPUS},
	{"-S", CPUS},
	{"--service-corelist", CPUS},
	{"-R", CPUS},
	{"--remap-lcore-ids", CPUS},
	{"-m", MEMORY},
	{"--memory-size", MEMORY},
	{"--socket-mem", MEMORY},
	{"--numa-mem", MEMORY},
	{"--no-huge", NO_HUGE},
	{"--in-memory", IN_MEMORY},
	{"--file-prefix", SHARED},
	{"--huge-dir", SHARED},
	{"-a", DEVICES},
	{"--allow", DEVICES},
	{"-b", DEVICES},
	{"--block", DEVICES},
	{"--iova-mode", ADDRESSES},
	{"--proc-type", PROCESS},
	{"-h", USAGE},
	{"--help", USAGE},
	{"-v", USAGE},
};

/* "-m512" is "-m 512", "--lcores=0" is "--lcores 0", and getopt takes "--lcor=0", too. */
static bool is_option(const char *arg, const char *option)
{
	if (option[1] != '-')
		return strncmp(arg, option, strlen(option)) == 0;
	return arg[0] == '-' && arg[1] == '-' && arg[2] && arg[2] != '=' &&
		strncmp(arg, option, strcspn(arg, "=")) == 0;
}

/* The value of argument i; "" if it has none. */
static const char *value_of(const struct haul_eal_opts *opts, int i)
{
	const char *sign = strchr(opts->args[i], '=');

	return sign ? sign + 1 : i + 1 < opts->nb_args ? opts->args[i + 1] : "";
}

/* The reason for a refusal, or NULL. */
static const char *refused(const struct haul_eal_opts *opts, int i, enum concern concern)
{
	if (concern == CPUS)
		return "lcores follow from the carriers; choose CPUs by the carriers instead";
	if (concern == PROCESS && strcmp(value_of(opts, i), "primary") != 0)
		return "a program of haul is a primary process; remove it";
	return NULL;
}

static int scan_user(
	const struct haul_eal_opts *opts, bool concerns[CONCERNS], char *errbuf, size_t errlen)
{
	const char *wrong;

	for (int i = 0; i < opts->nb_args; i++) {
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
			if (!is_option(opts->args[i], known[k].option))
				continue;
			concerns[known[k].concern] = true;
			wrong = refused(opts, i, known[k].concern);
			if (!wrong)
				continue;
			snprintf(errbuf, errlen, "EAL argument '%s': %s", opts->args[i], wrong);
			return -EINVAL;
		}
	}
	return 0;
}

/* EAL's switches among haul's arguments: without a value, and the same twice as once. */
static bool is_switch(const char *arg)
{
	static const char *const switches[] = {"--no-huge", "--no-shconf", "--in-memory",
		"--single-file-segments", "--no-pci", "--no-telemetry"};

	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
		if (strcmp(arg, switches[i]) == 0)
			return true;
	return false;
}

/* Since DPDK 25.11 EAL refuses a switch that is given twice, by haul and by the user. */
static bool is_given(const struct hauli_eal_args *args, const char *arg)
{
	for (int i = 0; i < args->argc; i++)
		if (strcmp(args->argv[i], arg) == 0)
			return true;
	return false;
}

/* Appends an argument of haul's. */
__attribute__((format(printf, 2, 3))) static int add(
	struct hauli_eal_args *args, const char *format, ...)
{
	va_list ap;
	char *arg;
	int len;

	if (args->owned == HAULI_EAL_ARGS_OWN)
		return -ENOMEM;
	va_start(ap, format);
	len = vasprintf(&arg, format, ap);
	va_end(ap);
	if (len < 0)
		return -ENOMEM;
	args->own[args->owned++] = arg;
	args->argv[args->argc++] = arg;
	return 0;
}

/* "(0,2,3)" */
static void print_set(FILE *out, const cpu_set_t *set)
{
	const char *sep = "(";

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, set))
			continue;
		fprintf(out, "%s%d", sep, cpu);
		sep = ",";
	}
	fputc(')', out);
}

/*
 * The CPUs for the main lcore, and with it for EAL's own threads: not the carriers' CPUs if there
 * are others. On a carrier's CPU they would interrupt a poller amid a burst, which costs time, and
 * with memif more: its PMD unmaps the shared memory under a burst when the peer goes.
 */
static cpu_set_t off_the_carriers(const struct haul_plan *plan, const cpu_set_t *usable)
{
	cpu_set_t set = *usable;

	for (unsigned i = 0; i < plan->carriers; i++) {
		const struct haul_place *p = &plan->places[i];

		if (p->cpu != FLOATS && !p->elsewhere && p->cpu < CPU_SETSIZE)
			CPU_CLR(p->cpu, &set);
	}
	return CPU_COUNT(&set) > 0 ? set : *usable;
}

/* Carrier i is lcore i; the main lcore comes after them. */
static int add_lcores(
	struct hauli_eal_args *args, const struct haul_plan *plan, const cpu_set_t *usable)
{
	const cpu_set_t main_set = off_the_carriers(plan, usable);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int err;

	if (!out)
		return -ENOMEM;
	for (unsigned i = 0; i < plan->carriers; i++) {
		const struct haul_place *p = &plan->places[i];

		fprintf(out, "%u@", i);
		if (p->cpu != FLOATS && !p->elsewhere)
			fprintf(out, "%d", p->cpu);
		else
			print_set(out, usable);
		fputc(',', out);
	}
	fprintf(out, "%u@", plan->carriers);
	print_set(out, &main_set);
	fclose(out);
	err = text ? add(args, "--lcores=%s", text) : -ENOMEM;
	free(text);
	return err < 0 ? err : add(args, "--main-lcore=%u", plan->carriers);
}

/* True if EAL must try huge pages. If false on a machine with huge pages, args->pages has the
 * reason. */
static bool choose_hugepages(
	struct hauli_eal_args *args, unsigned mb, const bool concerns[CONCERNS])
{
	/* For huge pages EAL reserves more addresses than valgrind has. */
	if (concerns[NO_HUGE] || RUNNING_ON_VALGRIND)
		return false;
	if (hauli_restart_was()) {
		snprintf(args->pages, sizeof(args->pages),
			"free huge pages could not be mapped (another program took them, or a "
			"limit forbids it): packets are in ordinary pages");
		return false;
	}
	if (hauli_hugepages_can_map(mb) && (!concerns[SHARED] || hauli_hugepages_can_name()))
		return true;
	if (hauli_hugepages_exist())
		snprintf(args->pages, sizeof(args->pages),
			"%u MB of huge pages are needed, but %s: packets are in ordinary pages", mb,
			hauli_hugepages_can_map(mb) ? "no hugetlbfs is mounted" : "fewer are free");
	return false;
}

/*
 * --in-memory leaves no files behind and needs no mount, but no other process can attach; a user
 * who names files (--file-prefix) wants another process to attach. EAL refuses --in-memory with
 * --no-huge.
 */
static int add_memory(struct hauli_eal_args *args, unsigned mb, const bool concerns[CONCERNS],
	char *errbuf, size_t errlen)
{
	int err = 0;

	args->hugepages = choose_hugepages(args, mb, concerns);
	if (!args->hugepages && concerns[IN_MEMORY]) {
		snprintf(errbuf, errlen,
			"EAL argument '--in-memory': it takes %u MB of huge pages, which are not "
			"free; echo %u > /proc/sys/vm/nr_hugepages",
			mb, (mb + 1) / 2);
		return -EINVAL;
	}
	args->shared = args->hugepages && concerns[SHARED] && !concerns[IN_MEMORY];
	/* The kernel promises more pages than it has. */
	if (!concerns[MEMORY] && !args->hugepages && mb > haul_memory_free_mb() + SPARE_MB) {
		snprintf(errbuf, errlen,
			"DPDK cannot start: packet buffers take %u MB of memory, and %lu MB are "
			"free; use "
			"fewer queues, carriers or buffers",
			mb, haul_memory_free_mb());
		return -ERANGE;
	}
	if (!concerns[MEMORY])
		err = add(args, "-m%u", mb);
	if (err == 0 && !args->hugepages) {
		err = add(args, "--no-huge");
		if (err == 0)
			err = add(args, "--no-shconf");
	} else if (err == 0 && !concerns[SHARED]) {
		err = add(args, "--in-memory");
		if (err == 0)
			err = add(args, "--single-file-segments");
	}
	if (err == 0 && !concerns[SHARED])
		err = add(args, "--file-prefix=" HAULI_RUNDIR_PREFIX "%d", (int)getpid());
	return err;
}

/* EAL's telemetry needs a socket, and EAL does not start without a directory for it. */
static int add_telemetry(struct hauli_eal_args *args)
{
	int err = hauli_rundir_prepare(args->notice, sizeof(args->notice));

	if (err == 0)
		return 0;
	snprintf(args->notice, sizeof(args->notice),
		"no telemetry: no directory for its socket can be made in /tmp (%s); set "
		"RUNTIME_DIRECTORY to a directory of your own",
		strerror(-err));
	return add(args, "--no-telemetry");
}

/*
 * Nothing is probed before a port asks for it: the machine's own NIC may be among the devices.
 * Without devices, physical addresses are not needed; EAL uses them where it may, and then memory
 * is one piece per huge page, while XDP sockets need the whole pool in one piece.
 */
static int add_devices(struct hauli_eal_args *args, const struct haul_eal_opts *opts,
	const bool concerns[CONCERNS])
{
	int err = 0;

	if (concerns[DEVICES])
		return 0;
	if (opts->pci)
		return add(args, "-affff:ff:1f.7");
	if (!concerns[ADDRESSES])
		err = add(args, "--iova-mode=va");
	return err < 0 ? err : add(args, "--no-pci");
}

static int compose(struct hauli_eal_args *args, const struct haul_eal_opts *opts,
	const cpu_set_t *usable, const bool concerns[CONCERNS], char *errbuf, size_t errlen)
{
	int err = add(args, "%s", opts->program ? opts->program : "haul");

	if (err == 0)
		err = add_lcores(args, opts->plan, usable);
	if (err == 0)
		err = add_memory(
			args, opts->mem_mb ? opts->mem_mb : DEFAULT_MB, concerns, errbuf, errlen);
	if (err == 0)
		err = add_devices(args, opts, concerns);
	if (err == 0)
		err = add_telemetry(args);
	if (err == 0 && !opts->verbose)
		err = add(args, "--log-level=warning");
	for (int i = 0; err == 0 && i < opts->nb_args; i++)
		if (!is_switch(opts->args[i]) || !is_given(args, opts->args[i]))
			args->argv[args->argc++] = opts->args[i];
	return err;
}

int hauli_eal_args_init(struct hauli_eal_args *args, const struct haul_eal_opts *opts,
	const cpu_set_t *usable, char *errbuf, size_t errlen)
{
	bool concerns[CONCERNS] = {false};
	int err;

	memset(args, 0, sizeof(*args));
	if (opts->plan->carriers >= RTE_MAX_LCORE) {
		snprintf(errbuf, errlen,
			"%u carriers: DPDK has room for %d lcores and one of them is the main one; "
			"use at most %d carriers",
			opts->plan->carriers, RTE_MAX_LCORE, RTE_MAX_LCORE - 1);
		return -EINVAL;
	}
	err = scan_user(opts, concerns, errbuf, errlen);
	if (err == 0)
		err = hauli_secure_check(opts->args, opts->nb_args, errbuf, errlen);
	if (err < 0)
		return err;
	args->usage = concerns[USAGE];
	args->argv = calloc(HAULI_EAL_ARGS_OWN + (size_t)opts->nb_args + 1, sizeof(*args->argv));
	err = args->argv ? compose(args, opts, usable, concerns, errbuf, errlen) : -ENOMEM;
	if (err == -ENOMEM)
		snprintf(errbuf, errlen, "no memory for EAL's arguments");
	return err;
}

void hauli_eal_args_fini(struct hauli_eal_args *args)
{
	for (unsigned i = 0; i < args->owned; i++)
		free(args->own[i]);
	free(args->argv);
	memset(args, 0, sizeof(*args));
}
