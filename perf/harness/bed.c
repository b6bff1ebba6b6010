/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/bed.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <haul-dpdk/eal.h>
#include <haul-dpdk/pool.h>

#include "harness/eal.h"
#include "harness/harness.h"

#define RUNS_MAX 256

static struct perf_bed bed;
static unsigned holders;
static struct haul_io *ios[RUNS_MAX]; /* to be freed after the port is closed */
static unsigned nb_ios;
static char why[256];

struct perf_bed *perf_bed(void)
{
	return &bed;
}

static int open_port(struct haul_port **port, const char *spec)
{
	const struct haul_port_opts opts = {.queues = 1, .pool = bed.pool, .waits = true};
	int err = haul_port_open(port, spec, &opts, why, sizeof(why));

	return err ? err : haul_port_start(*port, why, sizeof(why));
}

static int start_runtime(const struct haul_plan *plan)
{
	const struct haul_runtime_opts opts = {.plan = plan, .launcher = haul_eal_launcher()};
	int err = haul_start(&bed.rt, &opts, NULL, 0);

	snprintf(why, sizeof(why), "haul_start: %s", strerror(-err));
	return err;
}

int perf_bed_hold(const char *spec, const char *far)
{
	const struct haul_plan *plan;
	int err;

	if (holders++ > 0)
		return 0;
	plan = perf_eal(1);
	if (!plan)
		return -EINVAL;
	bed.pool = haul_pool_create(PERF_EAL_MBUFS, why, sizeof(why));
	err = bed.pool ? open_port(&bed.port, spec) : -ENOMEM;
	if (!err && far)
		err = open_port(&bed.far, far);
	return perf_say(err ? err : start_runtime(plan), why);
}

void perf_bed_release(void)
{
	if (--holders > 0)
		return;
	if (bed.io)
		perf_bed_io_stop();
	perf_must(haul_stop(bed.rt, HAUL_S), "the carrier does not end");
	/* virtio-user before vhost. */
	if (bed.far)
		haul_port_close(bed.far);
	haul_port_close(bed.port);
	while (nb_ios > 0)
		perf_must(haul_io_free(ios[--nb_ios], why, sizeof(why)), why);
	rte_mempool_free(bed.pool);
	bed = (struct perf_bed){0};
}

void perf_bed_io_start(const struct haul_io_opts *opts)
{
	struct haul_io_opts all = *opts;

	all.ports = &bed.port;
	all.nb_ports = 1;
	all.pool = bed.pool;
	perf_must(nb_ios == RUNS_MAX ? -ENOSPC : 0, "more runs than there is room for");
	perf_must(haul_io_start(&ios[nb_ios], bed.rt, &all, why, sizeof(why)), why);
	bed.io = ios[nb_ios++];
}

void perf_bed_io_stop(void)
{
	perf_must(haul_io_stop(bed.io, HAUL_S, why, sizeof(why)), why);
	bed.io = NULL;
}

void perf_bed_io_policy(enum haul_poll_how how)
{
	const struct haul_poll_policy policy = {.how = how};

	perf_must(haul_io_set_policy(bed.io, 0, HAUL_ALL, &policy, HAUL_FOREVER, why, sizeof(why)),
		why);
}

int perf_bed_pin_to_second(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(perf_cpu(1), &set);
	return sched_setaffinity(0, sizeof(set), &set) < 0 ? -errno : 0;
}
