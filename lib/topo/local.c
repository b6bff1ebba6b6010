/* SPDX-License-Identifier: BSD-3-Clause */
#include "topo/local.h"

#include "topo/near.h"

bool hauli_local_cpus(const char *nic, bool *local, unsigned n)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	bool found = set && hauli_near_cpus(set, nic) == 0 && !hwloc_bitmap_iszero(set);

	for (unsigned i = 0; i < n; i++)
		local[i] = found && hwloc_bitmap_isset(set, i);
	hwloc_bitmap_free(set);
	return found;
}
