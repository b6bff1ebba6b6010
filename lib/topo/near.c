/* SPDX-License-Identifier: BSD-3-Clause */
#include "topo/near.h"

#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/cpufile.h"

/* Converts "1:0.0" and "0000:01:00.0" to the name in sysfs. */
static bool pci_name(const char *text, char *name, size_t len)
{
	unsigned domain = 0, bus, dev, fn;
	int end = 0;

	if (sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &dev, &fn, &end) != 4 || text[end]) {
		domain = 0;
		end = 0;
		if (sscanf(text, "%x:%x.%x%n", &bus, &dev, &fn, &end) != 3 || text[end])
			return false;
	}
	snprintf(name, len, "%04x:%02x:%02x.%x", domain, bus, dev, fn);
	return true;
}

/* Sets the CPUs that sysfs lists as local to the device at path, or to the closest bus device above
 * it that has such a list (a virtio or USB NIC has none). Without any list the set stays empty. */
static void local_cpus(const char *path, hwloc_bitmap_t set)
{
	char dir[PATH_MAX], file[PATH_MAX + 16];

	if (!realpath(path, dir))
		return;
	for (char *slash = strrchr(dir, '/'); slash && slash != dir; slash = strrchr(dir, '/')) {
		snprintf(file, sizeof(file), "%s/local_cpulist", dir);
		if (hauli_cpufile_read(file, set))
			return;
		*slash = '\0';
	}
}

int hauli_near_cpus(hwloc_bitmap_t set, const char *nic)
{
	char path[128], pci[32], real[PATH_MAX];

	/* if_nametoindex also limits the name's length and rejects slashes. */
	if (if_nametoindex(nic) != 0) {
		snprintf(path, sizeof(path), "/sys/class/net/%s/device", nic);
		local_cpus(path, set);
		return 0;
	}
	if (!pci_name(nic, pci, sizeof(pci)))
		return -EINVAL;
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", pci);
	if (!realpath(path, real))
		return -EINVAL;
	local_cpus(real, set);
	return 0;
}

static int find_described(hwloc_topology_t topo, const char *nic, hwloc_bitmap_t set)
{
	char pci[32];
	hwloc_obj_t dev = NULL;

	while ((dev = hwloc_get_next_osdev(topo, dev))) {
		if (dev->name && strcmp(dev->name, nic) == 0)
			break;
	}
	if (!dev && pci_name(nic, pci, sizeof(pci)))
		dev = hwloc_get_pcidev_by_busidstring(topo, pci);
	if (!dev)
		return -EINVAL;
	return hwloc_bitmap_copy(set, hwloc_get_non_io_ancestor_obj(topo, dev)->cpuset);
}

int hauli_near_find(hwloc_obj_t *part, hwloc_topology_t topo, bool here, const char *nic,
	char *errbuf, size_t errlen)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	int err;

	*part = NULL;
	if (!set)
		return -ENOMEM;
	err = here ? hauli_near_cpus(set, nic) : find_described(topo, nic, set);
	/* sysfs lists offline CPUs too. */
	hwloc_bitmap_and(set, set, hwloc_topology_get_topology_cpuset(topo));
	if (err == 0)
		*part = hwloc_get_obj_covering_cpuset(topo, set);
	else
		snprintf(errbuf, errlen,
			"near_nic '%s': no such interface or PCI device%s; see '%s' for what there "
			"is",
			nic, here ? "" : " in the described machine",
			here ? "ip -br link" : "lstopo");
	hwloc_bitmap_free(set);
	return err;
}
