/* SPDX-License-Identifier: BSD-3-Clause */
#include "topo/free_cpus.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "topo/usable.h"

#define BITS (8 * sizeof(unsigned long))

static bool is_known(const struct hauli_free_cpus *cpus)
{
	for (size_t i = 0; i < sizeof(cpus->mask) / sizeof(cpus->mask[0]); i++)
		if (cpus->mask[i])
			return true;
	return false;
}

static void store(struct hauli_free_cpus *cpus, hwloc_const_bitmap_t set)
{
	unsigned i;

	memset(cpus, 0, sizeof(*cpus));
	hwloc_bitmap_foreach_begin(i, set) if (i < HAULI_CPUS_MOST) cpus->mask[i / BITS] |= 1UL
		<< i % BITS;
	hwloc_bitmap_foreach_end();
}

/* Takes the CPUs of other out of set, unless none would be left. */
static void without(hwloc_bitmap_t set, hwloc_const_bitmap_t other)
{
	if (!hwloc_bitmap_isincluded(set, other))
		hwloc_bitmap_andnot(set, set, other);
}

static int find(struct hauli_free_cpus *cpus, const uint16_t carriers[HAULI_CPUS_MOST],
	hwloc_bitmap_t set, hwloc_bitmap_t other)
{
	int err = hauli_usable_get(set);

	if (err)
		return err;
	hauli_usable_isolated(other);
	without(set, other);
	hwloc_bitmap_zero(other);
	for (unsigned i = 0; i < HAULI_CPUS_MOST; i++)
		if (carriers[i] > 0 && hwloc_bitmap_set(other, i) < 0)
			return -ENOMEM;
	without(set, other);
	store(cpus, set);
	return 0;
}

int hauli_free_cpus_find(struct hauli_free_cpus *cpus, const uint16_t carriers[HAULI_CPUS_MOST])
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc(), other = hwloc_bitmap_alloc();
	int err = set && other ? find(cpus, carriers, set, other) : -ENOMEM;

	hwloc_bitmap_free(set);
	hwloc_bitmap_free(other);
	return err;
}

int hauli_free_cpus_attr(const struct hauli_free_cpus *cpus, pthread_attr_t *attr)
{
	if (!is_known(cpus))
		return 0;
	return -pthread_attr_setaffinity_np(
		attr, sizeof(cpus->mask), (const cpu_set_t *)cpus->mask);
}

void hauli_free_cpus_bind(const struct hauli_free_cpus *cpus)
{
	if (is_known(cpus))
		(void)sched_setaffinity(0, sizeof(cpus->mask), (const cpu_set_t *)cpus->mask);
}
