/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL's worker lcores as carriers. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <haul-dpdk/eal.h>

#include <rte_launch.h>
#include <rte_lcore.h>

#include "base/assert.h"
#include "base/simulated.h"
#include "eal/init.h"
#include "topo/pin.h"

#define FLOATS (-1)
#define CPU_DIGITS 6 /* with a comma */

/* The lcores' work. Written before the launch, by the thread that launches. */
static struct job {
	char name[HAULI_THREAD_NAME];
	int (*fn)(void *);
	void *arg;
} jobs[RTE_MAX_LCORE];

/* The single CPU to which a worker lcore is bound, or FLOATS. */
static int bound_to(unsigned lcore)
{
	rte_cpuset_t set = rte_lcore_cpuset(lcore);

	for (int cpu = 0; CPU_COUNT(&set) == 1 && cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &set))
			return cpu;
	}
	return FLOATS;
}

/* The CPU of this lcore alone, or FLOATS. If two lcores share a CPU, the first one has it. */
static int cpu_of(unsigned lcore)
{
	int cpu = bound_to(lcore);
	unsigned other;

	RTE_LCORE_FOREACH_WORKER (other) {
		if (other < lcore && bound_to(other) == cpu)
			return FLOATS;
	}
	return cpu;
}

/*
 * The lcore of a carrier, RTE_MAX_LCORE if there is none. In order of lcores; floating lcores come
 * last, as in a plan.
 */
static unsigned lcore_of(unsigned carrier)
{
	for (int floats = 0; floats <= 1; floats++) {
		unsigned lcore;

		RTE_LCORE_FOREACH_WORKER (lcore) {
			if ((cpu_of(lcore) == FLOATS) == floats && carrier-- == 0)
				return lcore;
		}
	}
	return RTE_MAX_LCORE;
}

static int run(void *arg)
{
	const struct job *job = arg;

	/* EAL has already bound the thread. */
	pthread_setname_np(pthread_self(), job->name);
	return job->fn(job->arg);
}

static int launch(
	void *ctx, unsigned i, const struct haul_place *place, int (*fn)(void *), void *arg)
{
	unsigned lcore = lcore_of(i);

	if (lcore == RTE_MAX_LCORE)
		return -EINVAL;
	if (!hauli_eal_is_up())
		return -EPERM;
	if (rte_eal_get_lcore_state(lcore) != WAIT)
		return -EBUSY;
	jobs[lcore] = (struct job){.fn = fn, .arg = arg};
	hauli_place_name(jobs[lcore].name, place, i);
	return rte_eal_remote_launch(run, &jobs[lcore], lcore);
}

static void join(void *ctx, unsigned i)
{
	rte_eal_wait_lcore(lcore_of(i));
}

const struct haul_launcher *haul_eal_launcher(void)
{
	static const struct haul_launcher launcher = {.launch = launch, .join = join};

	/* Hosts share lcores, which are threads of the process: carriers are POSIX threads. */
	return hauli_is_simulated() ? NULL : &launcher;
}

/* Without a list of CPUs the plan has chosen some, which differ from the lcores' CPUs. */
static void let_float(struct haul_plan *plan)
{
	plan->clusters = 1;
	for (unsigned i = 0; i < plan->carriers; i++)
		plan->places[i] = (struct haul_place){.cpu = FLOATS, .core = -1, .node = -1};
	snprintf(plan->notice, sizeof(plan->notice),
		"no lcore of EAL's is bound to a CPU: all %u carriers float, in one cluster",
		plan->carriers);
}

int haul_eal_attach(struct haul_plan **plan, char *errbuf, size_t errlen)
{
	char cpus[RTE_MAX_LCORE * CPU_DIGITS];
	struct haul_plan_opts opts = {0};
	size_t len = 0;
	int err;

	HAUL_MISUSE_IF(!plan, "the address for the plan is NULL");
	if (!hauli_eal_is_up()) {
		snprintf(errbuf, errlen,
			"haul_eal_attach: DPDK is not running; call rte_eal_init() first");
		return -ENODEV;
	}
	for (; lcore_of(opts.carriers) != RTE_MAX_LCORE; opts.carriers++) {
		int cpu = cpu_of(lcore_of(opts.carriers));

		if (cpu != FLOATS)
			len += (size_t)snprintf(
				cpus + len, sizeof(cpus) - len, "%s%d", len ? "," : "", cpu);
	}
	if (opts.carriers == 0) {
		snprintf(errbuf, errlen,
			"EAL has no worker lcore to be a carrier; give it more with --lcores");
		return -ENODEV;
	}
	opts.cpus = len > 0 ? cpus : NULL;
	err = haul_plan_create(plan, &opts, errbuf, errlen);
	if (err == 0 && !opts.cpus)
		let_float(*plan);
	return err;
}
