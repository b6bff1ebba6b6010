/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pci: ports, NICs that a driver of DPDK takes from the kernel: by vfio, with an IOMMU or without,
 * or by uio. Drivers of the kernel that DPDK's work beside need neither.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel.h"
#include "pci.h"
#include "port.h"

#define DEVICES PORT_PCI_DEVICES
#define NETWORK_CLASS 0x02
#define NO_IOMMU "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"

struct device {
	char address[PORT_PCI_ADDRESS]; /* "0000:03:00.0"; "": the port has none */
	bool exists;
	char driver[64]; /* of the kernel; "": none */
	char group[32]; /* of the IOMMU; "": none */
};

/* The last part of what a link of the device leads to; "": there is no such link. */
static void follow(char *name, size_t size, const char *address, const char *link)
{
	char path[320], target[256];
	ssize_t n;

	snprintf(path, sizeof(path), DEVICES "/%s/%s", address, link);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	snprintf(name, size, "%s", strrchr(target, '/') ? strrchr(target, '/') + 1 : "");
}

static struct device device_of(const struct doctor_subject *subject)
{
	const char *given = port_spec_main(subject->port);
	struct device d = {0};
	unsigned domain = 0, bus, slot, function;
	char path[128];

	if (!given[0])
		return d;
	if (sscanf(given, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4 &&
		(domain = 0, sscanf(given, "%x:%x.%x", &bus, &slot, &function) != 3)) {
		snprintf(d.address, sizeof(d.address), "%s", given);
		return d;
	}
	snprintf(d.address, sizeof(d.address), "%04x:%02x:%02x.%x", domain, bus, slot, function);
	snprintf(path, sizeof(path), DEVICES "/%s", d.address);
	d.exists = access(path, F_OK) == 0;
	follow(d.driver, sizeof(d.driver), d.address, "driver");
	follow(d.group, sizeof(d.group), d.address, "iommu_group");
	return d;
}

static bool is_uio(const struct device *d)
{
	return strcmp(d->driver, "uio_pci_generic") == 0 || strcmp(d->driver, "igb_uio") == 0;
}

static bool is_vfio(const char *driver)
{
	return strncmp(driver, "vfio", strlen("vfio")) == 0;
}

/* Drivers of the kernel that stay, beside DPDK's. */
static bool is_shared(const struct device *d)
{
	static const char *const shared[] = {"mlx4_core", "mlx5_core", "mana"};

	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if (strcmp(d->driver, shared[i]) == 0)
			return true;
	return false;
}

void port_pci_device(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	struct device d = device_of(subject);
	char line[32];

	if (!d.address[0])
		return;
	if (!d.exists) {
		doctor_say(finding, DOCTOR_PROBLEM, "there is no PCI device %s", d.address);
		doctor_todo(finding, "list them: ls " DEVICES);
		return;
	}
	if (kernel_line(line, sizeof(line), DEVICES "/%s/class", d.address) &&
		strtoul(line, NULL, 16) >> 16 != NETWORK_CLASS) {
		doctor_say(finding, DOCTOR_PROBLEM, "%s is no network controller (class %s)",
			d.address, line);
		doctor_todo(finding, "list them: ls " DEVICES);
		return;
	}
	doctor_say(finding, DOCTOR_OK, "%s is a network controller", d.address);
}

/* The interface that the kernel would lose with the device: it is below the device or its virtio
 * device. "": none. */
static void find_iface(char *name, size_t size, const char *address)
{
	char pattern[128];
	glob_t found;

	snprintf(pattern, sizeof(pattern), DEVICES "/%s/{,virtio*/}net/*", address);
	name[0] = '\0';
	if (glob(pattern, GLOB_NOSORT | GLOB_BRACE, NULL, &found) == 0)
		snprintf(name, size, "%s", strrchr(found.gl_pathv[0], '/') + 1);
	globfree(&found);
}

void port_pci_binding(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	struct device d = device_of(subject);
	char iface[64];

	if (!d.exists)
		return;
	if (is_vfio(d.driver) || is_uio(&d) || is_shared(&d)) {
		doctor_say(finding, DOCTOR_OK, "driver %s", d.driver);
		return;
	}
	find_iface(iface, sizeof(iface), d.address);
	doctor_say(finding, DOCTOR_PROBLEM, "driver %s%s%s%s%s", d.driver[0] ? d.driver : "none",
		d.driver[0] ? " of the kernel" : "", iface[0] ? ", for interface " : "", iface,
		iface[0] ? ", which the kernel loses by the remedy" : "");
	doctor_todo_root(finding, "modprobe vfio-pci && %sdpdk-devbind.py -b vfio-pci %s",
		doctor_sudo(), d.address);
}

static bool allows_no_iommu(void)
{
	char line[8];

	return kernel_line(line, sizeof(line), NO_IOMMU) && line[0] == 'Y';
}

/* False if vfio is loaded and cannot do without an IOMMU: Debian 12's. */
static bool may_allow_no_iommu(void)
{
	return access(NO_IOMMU, F_OK) == 0 || access("/sys/module/vfio", F_OK) < 0;
}

static bool has_iommu(void)
{
	DIR *dir = opendir("/sys/kernel/iommu_groups");
	const struct dirent *entry = NULL;

	while (dir && (entry = readdir(dir)) && entry->d_name[0] == '.')
		continue;
	if (dir)
		closedir(dir);
	return entry != NULL;
}

/* A device of the group, other than bridges, that keeps a driver of the kernel; false: none. */
static bool find_other(char *what, size_t size, const struct device *d)
{
	const struct dirent *entry;
	bool found = false;
	char path[96], driver[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/kernel/iommu_groups/%s/devices", d->group);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || strcmp(entry->d_name, d->address) == 0)
			continue;
		follow(driver, sizeof(driver), entry->d_name, "driver");
		found = driver[0] && !is_vfio(driver) && strcmp(driver, "pcieport") != 0;
		snprintf(what, size, "%.32s (driver %s)", entry->d_name, driver);
	}
	if (dir)
		closedir(dir);
	return found;
}

void port_pci_iommu(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	struct device d = device_of(subject);
	char other[128];

	if ((d.address[0] && !d.exists) || is_uio(&d) || is_shared(&d))
		return;
	if (d.address[0] ? d.group[0] : has_iommu()) {
		if (d.address[0] && find_other(other, sizeof(other), &d)) {
			doctor_say(finding, DOCTOR_PROBLEM,
				"its IOMMU group %s has another device, %s, that is not bound to "
				"vfio-pci",
				d.group, other);
			doctor_todo(finding, "bind that one to vfio-pci, too, or use another slot");
			return;
		}
		doctor_say(finding, DOCTOR_OK, "%s%s", d.group[0] ? "group " : "there is one",
			d.group);
	} else if (allows_no_iommu()) {
		doctor_say(finding, DOCTOR_NOTE,
			"none, and vfio is allowed to do without: the NIC can write to all memory");
	} else if (!may_allow_no_iommu()) {
		doctor_say(finding, DOCTOR_PROBLEM,
			"none, and this kernel's vfio needs one (it has no CONFIG_VFIO_NOIOMMU): "
			"turn it on in the firmware");
		doctor_todo(finding, "kernel command line, on Intel: intel_iommu=on");
	} else {
		doctor_say(finding, DOCTOR_PROBLEM,
			"none: turn it on in the firmware, and on Intel boot with intel_iommu=on; "
			"or do without, which lets the NIC write to all memory");
		doctor_todo_root(finding, "sh -c 'modprobe vfio && echo Y > " NO_IOMMU "'");
	}
}

/* The file by which vfio hands out the device's group. */
static void group_path(char *path, size_t size, const struct device *d)
{
	snprintf(path, size, "/dev/vfio/%s%s", allows_no_iommu() ? "noiommu-" : "", d->group);
}

void port_pci_vfio(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	struct device d = device_of(subject);
	char path[64] = "/dev/vfio/vfio";
	int fd;

	if ((d.address[0] && !d.exists) || is_uio(&d) || is_shared(&d))
		return;
	if (is_vfio(d.driver) && d.group[0])
		group_path(path, sizeof(path), &d);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 || errno == EBUSY) {
		doctor_say(finding, fd >= 0 ? DOCTOR_OK : DOCTOR_PROBLEM, "%s %s", path,
			fd >= 0 ? "can be opened" : "is in use by another program");
		if (fd >= 0)
			close(fd);
		else
			doctor_todo(finding, "end that program: fuser -v %s", path);
		return;
	}
	doctor_say(finding, DOCTOR_PROBLEM, "%s: %s", path, strerror(errno));
	if (access(path, F_OK) < 0)
		doctor_todo_root(finding, "modprobe vfio-pci");
	else
		doctor_todo_root(finding, "chown $USER %s", path);
}

bool port_pci_address(const struct doctor_subject *subject, char *address)
{
	struct device d = device_of(subject);

	memcpy(address, d.address, sizeof(d.address));
	return d.exists;
}

bool port_pci_is_ready(const struct doctor_subject *subject)
{
	struct device d = device_of(subject);
	char path[64];
	int fd;

	if (!d.exists || is_uio(&d) || is_shared(&d) || !is_vfio(d.driver))
		return d.exists && (is_uio(&d) || is_shared(&d));
	group_path(path, sizeof(path), &d);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Without an IOMMU the NIC is given physical addresses, which only huge pages keep. */
void port_pci_memory(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	struct device d = device_of(subject);
	bool translated = d.address[0] ? d.group[0] || is_shared(&d) : has_iommu();
	char value[32] = "";

	if (d.address[0] && !d.exists)
		return;
	if (translated && !is_uio(&d)) {
		doctor_memlock(subject, finding);
		return;
	}
	kernel_field(value, sizeof(value), "/proc/meminfo", "HugePages_Free");
	if (strtoul(value, NULL, 10) > 0) {
		doctor_say(finding, DOCTOR_OK, "%s huge pages are free", value);
		return;
	}
	doctor_say(finding, DOCTOR_PROBLEM,
		"without an IOMMU the memory of packets must be huge pages, and none is free");
	doctor_todo_root(finding, "sysctl -w vm.nr_hugepages=512");
}
