/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * There are many limits (rlimits, cgroups, the machine's), and some do not bind some users. So haul
 * tries to take the needed resources, and returns them.
 */
#include "eal/resources.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <haul-dpdk/eal.h>
#include <haul/topo.h>

#define FDS_EACH 4 /* two pipes of each lcore */
#define FDS_ELSE 24 /* memory, interrupts, alarms, telemetry, a held log, files read */
#define THREADS_ELSE 4 /* interrupts, telemetry, messages of other processes */

static int fail(const char *what, unsigned need, unsigned have, unsigned carriers, int err,
	const char *advice, char *errbuf, size_t errlen)
{
	snprintf(errbuf, errlen,
		"DPDK cannot start: %u %s are needed for %u carriers, but %u are available (%s); "
		"raise %s, or use fewer carriers",
		need, what, carriers, have, strerror(err), advice);
	return -err;
}

static int check_descriptors(unsigned carriers, char *errbuf, size_t errlen)
{
	unsigned need = FDS_EACH * carriers + FDS_ELSE, n = 0;
	int *fds = calloc(need, sizeof(*fds));
	int err = 0;

	while (fds && n < need && err == 0) {
		fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fds[n] < 0)
			err = errno;
		else
			n++;
	}
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
	free(fds);
	if (err != EMFILE && err != ENFILE)
		return 0;
	return fail("descriptors", need, n, carriers, err, "ulimit -n", errbuf, errlen);
}

static void *wait_for_all(void *arg)
{
	pthread_mutex_t *held = arg;

	pthread_mutex_lock(held);
	pthread_mutex_unlock(held);
	return NULL;
}

static int check_threads(unsigned carriers, char *errbuf, size_t errlen)
{
	pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
	unsigned need = carriers + THREADS_ELSE, n = 0;
	pthread_t *threads = calloc(need, sizeof(*threads));
	int err = 0;

	pthread_mutex_lock(&held);
	while (threads && n < need && err == 0) {
		err = pthread_create(&threads[n], NULL, wait_for_all, &held);
		n += err == 0;
	}
	pthread_mutex_unlock(&held);
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	if (err == 0)
		return 0;
	return fail("threads", need, n, carriers, err, "ulimit -u or the cgroup's pids.max", errbuf,
		errlen);
}

unsigned long haul_memory_free_mb(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	uint64_t left = haul_cgroup_memory();
	unsigned long cgroup = left == UINT64_MAX ? ULONG_MAX : left >> 20;
	unsigned long available = ULONG_MAX, swap = 0, kb;
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemAvailable: %lu kB", &kb) == 1)
			available = kb >> 10;
		else if (sscanf(line, "SwapFree: %lu kB", &kb) == 1)
			swap = kb >> 10;
	}
	if (file)
		fclose(file);
	if (available != ULONG_MAX)
		available += swap;
	return cgroup < available ? cgroup : available;
}

int hauli_resources_check(unsigned carriers, char *errbuf, size_t errlen)
{
	int err = check_descriptors(carriers, errbuf, errlen);

	return err < 0 ? err : check_threads(carriers, errbuf, errlen);
}
