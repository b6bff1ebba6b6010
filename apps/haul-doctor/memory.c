/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of memory: amount, huge pages, locking, guard pages. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <haul-dpdk/pool.h>

#include "doctor.h"
#include "kernel.h"
#include "privilege.h"
#include "single.h"

#define MEMINFO "/proc/meminfo"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102 /* Linux 6.13 */
#endif

static uint64_t meminfo_kb(const char *key)
{
	char value[64];

	return kernel_field(value, sizeof(value), MEMINFO, key) ? strtoull(value, NULL, 10) : 0;
}

/* MiB that a program with two ports needs, such as haul-fwd. */
static unsigned wanted_mb(const struct doctor_subject *subject)
{
	static const char *const specs[] = {"afxdp:a", "afxdp:b"};
	struct haul_pool_need need = {
		.specs = specs, .nb_specs = 2, .carriers = subject->plan->carriers};

	return haul_pool_mem_mb(haul_pool_size(&need));
}

static void memory(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	unsigned wanted = wanted_mb(subject);
	uint64_t total = meminfo_kb("MemTotal") >> 10, free = meminfo_kb("MemAvailable") >> 10;
	uint64_t cgroup = haul_cgroup_memory() >> 20;
	const char *limit = cgroup < free ? " (limit of the cgroup)" : "";

	if (cgroup < free)
		free = cgroup;
	/* The same amount again for coroutines and other programs. */
	if (free >= 2 * wanted) {
		doctor_say(finding, DOCTOR_OK, "%" PRIu64 " MiB, %" PRIu64 " MiB available%s",
			total, free, limit);
		return;
	}
	doctor_say(finding, free < wanted ? DOCTOR_PROBLEM : DOCTOR_NOTE,
		"%" PRIu64 " MiB available%s; two ports on %u carriers need %u MiB", free, limit,
		subject->plan->carriers, wanted);
	doctor_todo(finding, "haul-fwd --carriers 1 ...");
}

struct huge_pages {
	uint64_t reserved_mb, free_mb; /* of all sizes */
	bool enough; /* of one size */
	char sizes[128];
};

static void add_size(struct huge_pages *pages, const char *dir, unsigned wanted)
{
	int64_t all = kernel_number("/sys/kernel/mm/hugepages/%s/nr_hugepages", dir);
	int64_t free = kernel_number("/sys/kernel/mm/hugepages/%s/free_hugepages", dir);
	size_t len = strlen(pages->sizes);
	unsigned long kb;

	if (sscanf(dir, "hugepages-%lukB", &kb) != 1 || all <= 0 || free < 0)
		return;
	pages->reserved_mb += (uint64_t)all * kb >> 10;
	pages->free_mb += (uint64_t)free * kb >> 10;
	pages->enough |= (uint64_t)free * kb >> 10 >= wanted;
	snprintf(pages->sizes + len, sizeof(pages->sizes) - len,
		"%s%" PRId64 " of %" PRId64 " free at %lu MiB", len ? ", " : "", free, all,
		kb >> 10);
}

static struct huge_pages count_huge_pages(unsigned wanted)
{
	struct huge_pages pages = {0};
	DIR *dir = opendir("/sys/kernel/mm/hugepages");
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		add_size(&pages, entry->d_name, wanted);
	if (dir)
		closedir(dir);
	return pages;
}

static void huge_pages(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	unsigned wanted = wanted_mb(subject);
	struct huge_pages pages = count_huge_pages(wanted);
	uint64_t size_kb = meminfo_kb("Hugepagesize");

	if (pages.enough) {
		doctor_say(finding, DOCTOR_OK, "%s", pages.sizes);
		return;
	}
	if (size_kb == 0) {
		doctor_say(finding, DOCTOR_NOTE,
			"this kernel has none: packets are in ordinary pages, which costs TLB "
			"misses");
		return;
	}
	if (pages.reserved_mb > 0)
		doctor_say(finding, DOCTOR_NOTE,
			"%s: less than the %u MiB that two ports need, so packets are in ordinary "
			"pages, which costs TLB misses",
			pages.sizes, wanted);
	else
		doctor_say(finding, DOCTOR_NOTE,
			"none reserved: packets are in ordinary pages, which costs TLB misses");
	doctor_todo_root(finding, "sysctl -w vm.nr_hugepages=%" PRIu64,
		((pages.reserved_mb - pages.free_mb + wanted) * 1024 + size_kb - 1) / size_kb);
}

static bool is_mounted(const char *type)
{
	FILE *file = fopen("/proc/self/mounts", "re");
	char line[1024], kind[64];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%*s %*s %63s", kind) == 1 && strcmp(kind, type) == 0;
	if (file)
		fclose(file);
	return found;
}

static void hugetlbfs(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	/* haul maps huge pages privately, and needs no mount for that. */
	doctor_say(finding, DOCTOR_OK, "%s",
		is_mounted("hugetlbfs")
			? "mounted"
			: "not mounted; needed only to share memory with other DPDK processes");
}

static bool has_guards(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool ok;

	if (at == MAP_FAILED)
		return false;
	ok = madvise(at, page, MADV_GUARD_INSTALL) == 0;
	munmap(at, page);
	return ok;
}

static void stack_guards(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	if (has_guards()) {
		doctor_say(finding, DOCTOR_OK, "MADV_GUARD_INSTALL works: guards take no mappings");
		return;
	}
	doctor_say(finding, DOCTOR_NOTE,
		"no MADV_GUARD_INSTALL (Linux 6.13): the guard of each stack takes a mapping");
	doctor_todo(finding, "for more than some ten thousand coroutines use a newer kernel");
}

static void mappings(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	int64_t max = kernel_number("/proc/sys/vm/max_map_count");

	if (max < 0)
		return;
	if (has_guards() || max >= 1 << 20) {
		doctor_say(finding, DOCTOR_OK, "at most %" PRId64 ", which is enough", max);
		return;
	}
	/* haul uses three quarters of them, two for each stack. */
	doctor_say(finding, DOCTOR_NOTE,
		"at most %" PRId64 ": room for about %" PRId64
		" guarded stacks; further ones get canaries",
		max, max / 8 * 3);
	doctor_todo_root(finding, "sysctl -w vm.max_map_count=2800000");
}

void doctor_memlock(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return;
	if (limit.rlim_cur == RLIM_INFINITY || privilege_has(PRIVILEGE_IPC_LOCK)) {
		doctor_say(finding, DOCTOR_OK, "no limit");
		return;
	}
	doctor_say(finding,
		limit.rlim_cur >= (uint64_t)wanted_mb(subject) << 20 ? DOCTOR_OK
								     : doctor_fault(subject),
		"%" PRIu64 " KiB may be locked; afxdp: ports lock the memory of packets",
		(uint64_t)limit.rlim_cur >> 10);
	if (finding->status != DOCTOR_OK)
		doctor_todo(finding,
			limit.rlim_max == RLIM_INFINITY ? "ulimit -l unlimited"
							: "run as root, or raise memlock in "
							  "/etc/security/limits.conf");
}

const struct doctor_check doctor_memory_checks[] = {
	{"memory", memory},
	{"huge-pages", huge_pages},
	{"hugetlbfs", hugetlbfs},
	{"guards", stack_guards},
	{"mappings", mappings},
	{"memlock", doctor_memlock},
	{NULL, NULL},
};
