/* SPDX-License-Identifier: BSD-3-Clause */
#include "topo/usable.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "topo/cpufile.h"

/* NR_CPUS is 8192 at most; Linux accepts a mask of the kernel's size or larger. */
#define MASK_CPUS 8192
#define MASK_BYTES CPU_ALLOC_SIZE(MASK_CPUS)

static int get_thread(pid_t tid, hwloc_bitmap_t set)
{
	cpu_set_t *mask = CPU_ALLOC(MASK_CPUS);
	int err = 0;

	if (!mask)
		return -ENOMEM;
	CPU_ZERO_S(MASK_BYTES, mask);
	if (sched_getaffinity(tid, MASK_BYTES, mask) < 0)
		err = -errno;
	for (unsigned i = 0; err == 0 && i < MASK_CPUS; i++) {
		if (CPU_ISSET_S(i, MASK_BYTES, mask))
			err = hwloc_bitmap_set(set, i) < 0 ? -ENOMEM : 0;
	}
	CPU_FREE(mask);
	return err;
}

int hauli_usable_get(hwloc_bitmap_t set)
{
	DIR *tasks = opendir("/proc/self/task");
	int err = get_thread(0, set);

	while (tasks && err == 0) {
		const struct dirent *entry = readdir(tasks);

		if (!entry)
			break;
		/* An error means that the thread has ended: its mask does not count. */
		if (entry->d_name[0] != '.')
			(void)get_thread(atoi(entry->d_name), set);
	}
	if (tasks)
		closedir(tasks);
	return err;
}

void hauli_usable_isolated(hwloc_bitmap_t set)
{
	(void)hauli_cpufile_read("/sys/devices/system/cpu/isolated", set);
}

int hauli_usable_bind(hwloc_const_bitmap_t set)
{
	cpu_set_t *mask = CPU_ALLOC(MASK_CPUS);
	unsigned i;
	int err = 0;

	if (!mask)
		return -ENOMEM;
	CPU_ZERO_S(MASK_BYTES, mask);
	hwloc_bitmap_foreach_begin(i, set) if (i < MASK_CPUS) CPU_SET_S(i, MASK_BYTES, mask);
	hwloc_bitmap_foreach_end();
	if (sched_setaffinity(0, MASK_BYTES, mask) < 0)
		err = -errno;
	CPU_FREE(mask);
	return err;
}

bool hauli_usable_binding(void)
{
	hwloc_bitmap_t own = hwloc_bitmap_alloc();
	/* A seccomp filter refuses the call whatever the mask is, so the present mask is a test. */
	bool ok = own && get_thread(0, own) == 0 && hauli_usable_bind(own) == 0;

	hwloc_bitmap_free(own);
	return ok;
}
