/* SPDX-License-Identifier: BSD-3-Clause */
/* pci: a NIC driven by DPDK, unbound from the kernel's driver. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_pci.h>

#include "port/kinds/list.h"

/* Accepts "0000:03:00.0"; completes the short form without the domain. */
static int prepare(struct haul_port *port, char *errbuf, size_t errlen)
{
	struct rte_pci_addr addr;
	struct hauli_vdev *v;
	char path[128];
	int err;

	if (rte_pci_addr_parse(port->spec.main, &addr) < 0)
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"'%s' is no PCI address like 0000:03:00.0", port->spec.main);
	err = hauli_port_vdevs(port, 1, errbuf, errlen);
	if (err < 0)
		return err;
	v = &port->vdevs[0];
	v->bus = "pci";
	rte_pci_device_name(&addr, v->name, sizeof(v->name));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", v->name);
	if (access(path, F_OK) < 0)
		return hauli_spec_fail(&port->spec, -ENODEV, errbuf, errlen,
			"there is no such PCI device; lspci -D lists them");
	hauli_spec_pass_on(&port->spec, v->args, sizeof(v->args));
	return 0;
}

/* Its present driver: the kernel's name for the driver, or "". */
static void find_driver(const char *address, char *name, size_t size)
{
	char path[128], target[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", address);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	snprintf(name, size, "%s", strrchr(target, '/') ? strrchr(target, '/') + 1 : "");
}

static int explain(const struct haul_port *port, const char *line, char *errbuf, size_t errlen)
{
	const char *address = port->vdevs[0].name;
	char driver[64];

	find_driver(address, driver, sizeof(driver));
	if (strncmp(driver, "vfio", 4) == 0 || strncmp(driver, "uio", 3) == 0 ||
		strcmp(driver, "igb_uio") == 0)
		return 0;
	return hauli_spec_fail(&port->spec, -ENODEV, errbuf, errlen,
		"it is driven by %s, and no PMD of DPDK's took it; dpdk-devbind.py -b vfio-pci %s",
		driver[0] ? driver : "nothing", address);
}

const struct hauli_kind hauli_kind_pci = {
	.name = "pci",
	.form = "pci:ADDRESS[,key=value...]",
	.help = "a NIC bound to vfio-pci (or with a PMD that needs no binding)",
	.main = HAULI_MAIN_NEEDED,
	.rss = true,
	.promiscuous = true,
	.wait_link = true,
	.real_speed = true,
	.wait_on = HAULI_PORT_WAIT_ON_INTERRUPT,
	.wait_name = "queue interrupt",
	.takes_queues = true,
	.prepare = prepare,
	.explain = explain,
};
