/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting and ending EAL. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/eal.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_pdump.h>

#include "base/assert.h"
#include "base/forks.h"
#include "base/simulated.h"
#include "eal/args.h"
#include "eal/init.h"
#include "eal/interrupts.h"
#include "eal/log.h"
#include "eal/resources.h"
#include "eal/restart.h"
#include "eal/rundir.h"

/* Used by the thread that starts and ends EAL. */
static struct {
	bool starting;
	bool started;
	unsigned forks; /* value of hauli_forks at the start */
	cpu_set_t before; /* that thread's CPUs */
	struct hauli_eal_args args; /* EAL keeps pointers into them */
	int taken; /* arguments that EAL took; EAL moves unknown ones to the end */
	bool pdump; /* rte_pdump_init() has succeeded */
} eal;

/* Checks the caller's options. */
static int check_opts(const struct haul_eal_opts *opts, char *errbuf, size_t errlen)
{
	const char *wrong = NULL;

	if (!opts->plan)
		wrong = "no plan is given; set haul_eal_opts.plan to one of haul_plan_create()";
	else if (opts->plan->carriers == 0)
		wrong = "the plan has no carriers; make one by haul_plan_create()";
	else if (opts->nb_args < 0 || (opts->nb_args > 0 && !opts->args))
		wrong = "haul_eal_opts.nb_args does not fit haul_eal_opts.args";
	if (!wrong)
		return 0;
	snprintf(errbuf, errlen, "haul_eal_init: %s", wrong);
	return -EINVAL;
}

/*
 * The CPUs for floating threads: all that this thread may use. A refusal by the kernel must show
 * here, because EAL ends the program if it cannot bind a thread.
 */
static int find_usable(cpu_set_t *usable, char *errbuf, size_t errlen)
{
	if (sched_getaffinity(0, sizeof(*usable), usable) == 0 &&
		sched_setaffinity(0, sizeof(*usable), usable) == 0)
		return 0;
	snprintf(errbuf, errlen,
		"EAL cannot start: binding threads to CPUs is refused here (%s); allow "
		"sched_setaffinity in the container's seccomp profile",
		strerror(errno));
	return -EPERM;
}

/* Checks that a thread can be bound to each CPU of the plan, for the same reason. */
static int check_places(
	const struct haul_plan *plan, const cpu_set_t *back, char *errbuf, size_t errlen)
{
	int err = 0;

	for (unsigned i = 0; i < plan->carriers && err == 0; i++) {
		const struct haul_place *p = &plan->places[i];
		cpu_set_t one;

		if (p->cpu < 0 || p->elsewhere)
			continue;
		CPU_ZERO(&one);
		if (p->cpu < CPU_SETSIZE)
			CPU_SET(p->cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one) == 0)
			continue;
		err = -EINVAL;
		snprintf(errbuf, errlen,
			"carrier %u: CPU %d is not usable by this process; choose others", i,
			p->cpu);
	}
	sched_setaffinity(0, sizeof(*back), back);
	return err;
}

/* line: the first one that EAL has logged; it may log several about one failure. */
static int failed(const char *line, int err, char *errbuf, size_t errlen)
{
	snprintf(errbuf, errlen, "DPDK cannot start: %s", line[0] ? line : rte_strerror(err));
	return -err;
}

/*
 * True if EAL did not get the huge pages that were free when its arguments were composed. EAL maps
 * them one by one, and nothing can reserve them until then.
 */
static bool lost_hugepages(int err)
{
	return eal.args.hugepages && (err == EACCES || err == ENOMEM);
}

/* Returns only if the program cannot restart itself, with the error of the attempt. */
static int lost(struct hauli_restart *restart, bool allowed, char *errbuf, size_t errlen)
{
	int err = 0;

	sched_setaffinity(0, sizeof(eal.before), &eal.before);
	if (allowed)
		err = hauli_restart(restart);
	snprintf(errbuf, errlen,
		"DPDK cannot start: free huge pages could not be mapped (another program took "
		"them, or a limit forbids it); %s%s",
		err ? "the restart without them failed, so pass --no-huge to EAL: "
		    : "start again, or pass --no-huge to EAL",
		err ? strerror(-err) : "");
	return -EAGAIN;
}

/* Since DPDK 25.11 rte_eal_init() ends the program if it does not know an argument, and its reason
 * is among the held messages. */
static void ended(void)
{
	char line[HAULI_LOG_LINE];

	if (!eal.starting || eal.args.usage)
		return;
	eal.starting = false;
	hauli_log_release(line);
	hauli_rundir_started();
	hauli_rundir_remove("");
	fprintf(stderr, "%s: DPDK cannot start: %s\n", program_invocation_short_name, line);
}

/* rte_eal_init(), with its output in one line. 0 or its error. */
static int start(char line[HAULI_LOG_LINE])
{
	static bool watches;

	if (!watches && atexit(ended) != 0)
		return ENOMEM;
	watches = true;
	rte_errno = 0;
	eal.starting = true;
	if (eal.args.usage)
		hauli_log_hold();
	else
		hauli_log_hold_all();
	eal.taken = rte_eal_init(eal.args.argc, eal.args.argv);
	eal.starting = false;
	hauli_log_release(line);
	if (eal.taken >= 0)
		return 0;
	return rte_errno ? rte_errno : EIO;
}

static int start_or_begin_anew(bool restartable, char *errbuf, size_t errlen)
{
	struct hauli_restart restart = {0};
	char line[HAULI_LOG_LINE];
	int err;

	restartable = restartable && eal.args.hugepages && hauli_restart_init(&restart) == 0;
	err = start(line);
	hauli_rundir_started();
	if (err) {
		hauli_rundir_remove(rte_eal_get_runtime_dir());
		err = lost_hugepages(err) ? lost(&restart, restartable, errbuf, errlen)
					  : failed(line, err, errbuf, errlen);
	}
	hauli_restart_fini(&restart);
	return err;
}

/*
 * Lets dpdk-dumpcap and dpdk-pdump attach, where another process can attach at all. That takes 4 MB
 * of memory for their counters; a packet pays nothing before they have. Without it a program runs
 * as well.
 */
static void allow_pdump(bool verbose)
{
	char line[HAULI_LOG_LINE];

	if (!eal.args.shared)
		return;
	hauli_log_hold();
	eal.pdump = rte_pdump_init() == 0;
	hauli_log_release(line);
	if (!eal.pdump && verbose)
		fprintf(stderr, "dpdk-dumpcap and dpdk-pdump cannot attach: %s\n", line);
}

static int check_taken(char *errbuf, size_t errlen)
{
	if (eal.taken + 1 >= eal.args.argc)
		return 0;
	snprintf(errbuf, errlen, "EAL argument '%s': it belongs to no option of EAL; remove it",
		eal.args.argv[eal.taken + 1]);
	return -EINVAL;
}

int haul_eal_init(const struct haul_eal_opts *opts, char *errbuf, size_t errlen)
{
	int err;

	HAUL_MISUSE_IF(!opts, "the options are NULL; give haul_eal_opts with a plan");
	if (hauli_is_simulated() && hauli_eal_is_up())
		return 0; /* hosts share it */
	if (eal.started) {
		snprintf(
			errbuf, errlen, "EAL was started before; a process can start it only once");
		return -EALREADY;
	}
	err = check_opts(opts, errbuf, errlen);
	if (err < 0)
		return err;
	err = find_usable(&eal.before, errbuf, errlen);
	if (err == 0)
		err = check_places(opts->plan, &eal.before, errbuf, errlen);
	if (err == 0)
		err = hauli_forks_watch();
	if (err == 0)
		err = hauli_resources_check(opts->plan->carriers, errbuf, errlen);
	if (err == 0)
		err = hauli_eal_args_init(&eal.args, opts, &eal.before, errbuf, errlen);
	if (err == 0) {
		if (opts->verbose && eal.args.notice[0])
			fprintf(stderr, "%s\n", eal.args.notice);
		hauli_log_verbose(opts->verbose);
		err = start_or_begin_anew(opts->restartable, errbuf, errlen);
	}
	if (err < 0) {
		hauli_rundir_remove("");
		hauli_eal_args_fini(&eal.args);
		return err;
	}
	eal.started = true;
	eal.forks = hauli_forks;
	hauli_rundir_sweep(rte_eal_get_runtime_dir());
	allow_pdump(opts->verbose);
	err = check_taken(errbuf, errlen);
	if (err < 0)
		haul_eal_fini();
	return err;
}

void haul_eal_fini(void)
{
	char line[HAULI_LOG_LINE];
	char *dir;

	if (!eal.started || !hauli_eal_is_up() || hauli_is_simulated())
		return;
	dir = strdup(rte_eal_get_runtime_dir());
	hauli_log_hold();
	if (eal.pdump)
		rte_pdump_uninit();
	hauli_interrupts_still();
	rte_eal_cleanup();
	hauli_log_release(line);
	if (dir)
		hauli_rundir_remove(dir);
	free(dir);
	hauli_eal_args_fini(&eal.args);
	sched_setaffinity(0, sizeof(eal.before), &eal.before);
}

const char *haul_eal_notice(void)
{
	return eal.args.argv ? eal.args.pages : "";
}

bool hauli_eal_is_up(void)
{
	/* A simulation is a child, with memory of its own. */
	bool forked = !HAULI_SIM && eal.forks != hauli_forks;
	bool ended = eal.started && (!eal.args.argv || forked);

	/* EAL counts sockets when it starts. */
	return !ended && rte_socket_count() > 0;
}
