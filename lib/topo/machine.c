/* SPDX-License-Identifier: BSD-3-Clause */
#include "topo/machine.h"

#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/forks.h"
#include "topo/near.h"
#include "topo/usable.h"

#define CPUS_MAX 4096u /* of a described machine: hwloc's time grows faster than their square */
#define NO_SHARED_CACHE 0u /* shared caches are numbered from 1 */

static bool is_path(const char *description)
{
	return strchr(description, '/') || strstr(description, ".xml");
}

/*
 * The number of CPUs in a synthetic description: the product of its counts, without the parts in
 * brackets (memory) and in parentheses (attributes). Any number above CPUS_MAX means too many.
 */
static unsigned long synthetic_cpus(const char *text)
{
	unsigned long cpus = 1;
	int nested = 0;

	for (const char *at = text; *at && cpus <= CPUS_MAX; at++) {
		nested += (*at == '[' || *at == '(') - (*at == ']' || *at == ')');
		if (nested > 0 || *at < '0' || *at > '9')
			continue;
		/* A digit in a name, as in l3, is not a count. */
		if (at > text && at[-1] != ':' && at[-1] != ' ')
			continue;
		cpus *= strtoul(at, NULL, 10) < CPUS_MAX ? strtoul(at, NULL, 10) : CPUS_MAX + 1;
	}
	return cpus;
}

static int describe(hwloc_topology_t topo, const char *machine, char *errbuf, size_t errlen)
{
	struct stat st;

	if (is_path(machine)) {
		/* hwloc would read a device for ever. */
		if (stat(machine, &st) == 0 && S_ISREG(st.st_mode) &&
			hwloc_topology_set_xml(topo, machine) == 0)
			return 0;
		snprintf(errbuf, errlen,
			"machine '%s': not a readable hwloc XML file; make one with 'lstopo %s'",
			machine, "machine.xml");
		return -EINVAL;
	}
	if (synthetic_cpus(machine) > CPUS_MAX) {
		snprintf(errbuf, errlen,
			"machine '%s': more than %u CPUs, for which hwloc takes minutes; describe "
			"a part of it",
			machine, CPUS_MAX);
		return -EINVAL;
	}
	if (hwloc_topology_set_synthetic(topo, machine) == 0)
		return 0;
	snprintf(errbuf, errlen,
		"machine '%s': not an hwloc synthetic description; "
		"write it like 'pack:2 l3:2 core:4 pu:2', or give the path of an hwloc XML file",
		machine);
	return -EINVAL;
}

/* hwloc has a lock of its own for these two, which a child of fork() must not find taken. */
static int create(hwloc_topology_t *topo)
{
	int err;

	hauli_process_lock();
	err = hwloc_topology_init(topo) < 0 ? -ENOMEM : 0;
	hauli_process_unlock();
	return err;
}

static void destroy(hwloc_topology_t topo)
{
	hauli_process_lock();
	hwloc_topology_destroy(topo);
	hauli_process_unlock();
}

static int load(
	hwloc_topology_t *topo, const char *machine, const char *nic, char *errbuf, size_t errlen)
{
	/*
	 * CPUs that the cgroup withholds stay in the tree: whether several cores share a cache does
	 * not depend on the CPUs that this process may use.
	 * hwloc must not change the binding: it would run on each CPU in turn, and wait for ever
	 * for a CPU that a real-time thread keeps busy.
	 */
	unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;
	int err = create(topo);

	if (err < 0)
		return err;
	if (machine)
		err = describe(*topo, machine, errbuf, errlen);
	else
		flags |= HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
	if (err == 0 && machine && nic)
		hwloc_topology_set_io_types_filter(*topo, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	if (err == 0) {
		hwloc_topology_set_flags(*topo, flags);
		if (hwloc_topology_load(*topo) < 0) {
			snprintf(errbuf, errlen,
				"machine '%s': hwloc cannot load it (%s); check it with 'lstopo'",
				machine ? machine : "this one", strerror(errno));
			err = -EINVAL;
		}
	}
	if (err < 0)
		destroy(*topo);
	return err;
}

static unsigned cores_below(hwloc_topology_t topo, hwloc_obj_t obj)
{
	int cores = hwloc_get_nbobjs_inside_cpuset_by_type(topo, obj->cpuset, HWLOC_OBJ_CORE);

	/* In a description without cores each CPU counts as a core. */
	if (hwloc_get_nbobjs_by_type(topo, HWLOC_OBJ_CORE) <= 0)
		cores = hwloc_bitmap_weight(obj->cpuset);
	return cores > 0 ? (unsigned)cores : 0;
}

/*
 * The largest cache, from L3 down to L1, that several cores share. A cache of a single core does
 * not tell which CPUs work well together (virtual machines often report an L3 for each CPU), so it
 * makes no cluster. All CPUs without a shared cache are in one cluster.
 */
static unsigned cluster_of(hwloc_topology_t topo, hwloc_obj_t pu)
{
	static const hwloc_obj_type_t caches[] = {
		HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE};
	unsigned before = NO_SHARED_CACHE + 1;

	for (size_t i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
		hwloc_obj_t cache = hwloc_get_ancestor_obj_by_type(topo, caches[i], pu);
		int count = hwloc_get_nbobjs_by_type(topo, caches[i]);

		if (cache && cores_below(topo, cache) > 1)
			return before + cache->logical_index;
		before += count > 0 ? (unsigned)count : 0;
	}
	return NO_SHARED_CACHE;
}

static struct hauli_cpu describe_cpu(hwloc_topology_t topo, hwloc_obj_t pu)
{
	hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topo, HWLOC_OBJ_CORE, pu);
	hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topo, HWLOC_OBJ_PACKAGE, pu);

	return (struct hauli_cpu){
		.cpu = (int)pu->os_index,
		.node = pu->nodeset ? hwloc_bitmap_first(pu->nodeset) : -1,
		.core = core ? core->logical_index : pu->logical_index,
		.package = package ? package->logical_index : 0,
		.cluster = cluster_of(topo, pu),
	};
}

/* Siblings are next to each other in the table. */
static void count_siblings(struct hauli_machine *m)
{
	unsigned earlier = 0;

	for (unsigned i = 0; i < m->count; i++) {
		if (i > 0 && m->cpus[i].core != m->cpus[i - 1].core)
			earlier = 0;
		m->cpus[i].sibling = earlier;
		earlier += m->cpus[i].usable;
		m->usable += m->cpus[i].usable;
	}
}

/* The number of levels from `near` up to an object that contains the CPU. */
static unsigned steps_to(hwloc_obj_t near, hwloc_obj_t pu)
{
	unsigned steps = 0;

	for (; near && !hwloc_bitmap_isset(near->cpuset, pu->os_index); near = near->parent)
		steps++;
	return steps;
}

static int fill(struct hauli_machine *m, hwloc_topology_t topo, const char *nic, char *errbuf,
	size_t errlen)
{
	hwloc_const_cpuset_t allowed = hwloc_topology_get_allowed_cpuset(topo);
	hwloc_bitmap_t usable = hwloc_bitmap_alloc(), isolated = hwloc_bitmap_alloc();
	hwloc_obj_t near = NULL;
	int err = usable && isolated ? 0 : -ENOMEM;

	if (err == 0 && m->here) {
		err = hauli_usable_get(usable);
		hauli_usable_isolated(isolated);
	} else if (err == 0) {
		hwloc_bitmap_fill(usable);
	}
	if (err == 0) {
		hwloc_bitmap_and(usable, usable, allowed);
		hwloc_bitmap_and(isolated, isolated, allowed);
	}
	if (err == 0 && nic)
		err = hauli_near_find(&near, topo, m->here, nic, errbuf, errlen);
	for (unsigned i = 0; err == 0 && i < m->count; i++) {
		hwloc_obj_t pu = hwloc_get_obj_by_type(topo, HWLOC_OBJ_PU, i);

		m->cpus[i] = describe_cpu(topo, pu);
		m->cpus[i].usable = hwloc_bitmap_isset(usable, pu->os_index);
		m->cpus[i].isolated = hwloc_bitmap_isset(isolated, pu->os_index);
		m->cpus[i].far = near ? steps_to(near, pu) : 0;
	}
	hwloc_bitmap_free(usable);
	hwloc_bitmap_free(isolated);
	return err;
}

int hauli_machine_init(struct hauli_machine *m, const char *description, const char *nic,
	char *errbuf, size_t errlen)
{
	hwloc_topology_t topo;
	int count, err;

	*m = (struct hauli_machine){.here = description == NULL};
	err = load(&topo, description, nic, errbuf, errlen);
	if (err < 0)
		return err;
	count = hwloc_get_nbobjs_by_type(topo, HWLOC_OBJ_PU);
	m->count = count > 0 ? (unsigned)count : 0;
	m->cpus = calloc(m->count ? m->count : 1, sizeof(*m->cpus));
	err = m->cpus ? fill(m, topo, nic, errbuf, errlen) : -ENOMEM;
	destroy(topo);
	if (err == 0)
		count_siblings(m);
	if (err == 0 && m->usable == 0) {
		snprintf(errbuf, errlen,
			"machine '%s': none of its CPUs is usable; check the affinity mask "
			"(taskset -p) "
			"and the cgroup's cpuset",
			description ? description : "this one");
		err = -EINVAL;
	}
	if (err < 0)
		hauli_machine_fini(m);
	return err;
}

void hauli_machine_fini(struct hauli_machine *m)
{
	free(m->cpus);
	*m = (struct hauli_machine){0};
}

const struct hauli_cpu *hauli_machine_cpu(const struct hauli_machine *m, int cpu)
{
	for (unsigned i = 0; i < m->count; i++) {
		if (m->cpus[i].cpu == cpu)
			return &m->cpus[i];
	}
	return NULL;
}

bool hauli_cpu_nameable(const struct hauli_cpu *cpu)
{
	return cpu->usable || cpu->isolated;
}

void hauli_machine_list(const struct hauli_machine *m, bool nameable, char *buf, size_t len)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();

	for (unsigned i = 0; set && i < m->count; i++) {
		if (!nameable || hauli_cpu_nameable(&m->cpus[i]))
			hwloc_bitmap_set(set, (unsigned)m->cpus[i].cpu);
	}
	if (!set || hwloc_bitmap_list_snprintf(buf, len, set) < 0)
		snprintf(buf, len, "?");
	hwloc_bitmap_free(set);
}
