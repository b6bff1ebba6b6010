/* SPDX-License-Identifier: BSD-3-Clause */
#include "eal/hugepages.h"

#include <dirent.h>
#include <mntent.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define SIZES "/sys/kernel/mm/hugepages"
#define HUGE_SHIFT 26 /* position of log2(page size) in mmap's flags */

/*
 * The kernel reserves huge pages when they are mapped, not when they are touched: so a mapping
 * gives the answer for this process, unlike the counters in /sys.
 */
static bool can_map(unsigned mb, unsigned long page_kb)
{
	size_t page = page_kb << 10;
	size_t size = (((size_t)mb << 20) + page - 1) / page * page;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;
	void *p;

	flags |= __builtin_ctzl(page) << HUGE_SHIFT;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (p == MAP_FAILED)
		return false;
	munmap(p, size);
	return true;
}

static bool has_some(unsigned mb, unsigned long page_kb)
{
	char path[96];
	unsigned long n = 0;
	FILE *file;

	snprintf(path, sizeof(path), SIZES "/hugepages-%lukB/nr_hugepages", page_kb);
	file = fopen(path, "re");
	if (file && fscanf(file, "%lu", &n) != 1)
		n = 0;
	if (file)
		fclose(file);
	return n > 0;
}

/* True if is() holds for one of the sizes that the kernel knows. */
static bool any_size(bool (*is)(unsigned mb, unsigned long page_kb), unsigned mb)
{
	DIR *dir = opendir(SIZES);
	const struct dirent *entry;
	unsigned long page_kb;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)) != NULL)
		found = sscanf(entry->d_name, "hugepages-%lukB", &page_kb) == 1 && is(mb, page_kb);
	if (dir)
		closedir(dir);
	return found;
}

bool hauli_hugepages_can_map(unsigned mb)
{
	return any_size(can_map, mb);
}

bool hauli_hugepages_exist(void)
{
	return any_size(has_some, 0);
}

bool hauli_hugepages_can_name(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *m;
	bool found = false;

	while (mounts && !found && (m = getmntent(mounts)) != NULL)
		found = strcmp(m->mnt_type, "hugetlbfs") == 0;
	if (mounts)
		endmntent(mounts);
	return found;
}
