/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of DPDK: its version, and the drivers of port specs. */
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_build_config.h>
#include <rte_version.h>

#include "doctor.h"
#include "dpdk.h"
#include "linked.h"

static const char *const tested[] = {"DPDK 22.11", "DPDK 24.11", "DPDK 26.07"};

static void version(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	/* The version of the loaded libraries, which may differ from that of the headers. */
	for (size_t i = 0; i < sizeof(tested) / sizeof(tested[0]); i++) {
		if (strncmp(rte_version(), tested[i], strlen(tested[i])) == 0) {
			doctor_say(finding, DOCTOR_OK, "%s", rte_version());
			return;
		}
	}
	doctor_say(finding, DOCTOR_NOTE, "%s; haul is tested with 22.11, 24.11 and 26.07",
		rte_version());
}

/* Writes the path of the plugin's library. */
static bool find_plugin(char *path, size_t size, const char *name)
{
	char pattern[512];
	glob_t found;
	bool has;

	snprintf(pattern, sizeof(pattern), "%s/librte_%s.so*", RTE_EAL_PMD_PATH, name);
	has = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
	if (has)
		snprintf(path, size, "%s", found.gl_pathv[0]);
	globfree(&found);
	return has;
}

bool doctor_has_plugin(const char *name)
{
	char path[512];

	return doctor_dpdk_is_static() ? doctor_is_linked(name)
				       : find_plugin(path, sizeof(path), name);
}

/* A file that cannot be read may contain anything. */
static bool file_contains(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map = MAP_FAILED;
	bool has;

	if (fd >= 0 && fstat(fd, &st) == 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return true;
	has = memmem(map, (size_t)st.st_size, bytes, len);
	munmap(map, (size_t)st.st_size);
	return has;
}

bool doctor_plugin_takes(const char *name, const char *key)
{
	size_t len = strlen(key) + 1; /* with its end */
	char path[512];

	if (doctor_dpdk_is_static())
		return doctor_links_bytes(key, len);
	return !find_plugin(path, sizeof(path), name) || file_contains(path, key, len);
}

static void append(char *list, size_t size, const char *separator, const char *item)
{
	size_t len = strlen(list);

	snprintf(list + len, size - len, "%s%s", len ? separator : "", item);
}

/* Debian's package of a plugin: "librte-net-af-xdp23" for "net_af_xdp". */
static void append_package(char *list, size_t size, const char *plugin)
{
	const char *abi = strstr(RTE_EAL_PMD_PATH, "pmds-");
	char package[64];

	snprintf(package, sizeof(package), "librte-%s%.*s", plugin, abi ? 2 : 0,
		abi ? abi + strlen("pmds-") : "");
	for (char *c = package; *c; c++)
		*c = *c == '_' ? '-' : *c;
	append(list, size, " ", package);
}

static const char *plugins_place(void)
{
	return doctor_dpdk_is_static() ? "linked into the program" : "in " RTE_EAL_PMD_PATH;
}

static void todo(struct doctor_finding *finding, const char *packages)
{
	/* Debian's DPDK; another comes from its own build. */
	if (strncmp(RTE_EAL_PMD_PATH, "/usr/lib/", strlen("/usr/lib/")) == 0 &&
		!doctor_dpdk_is_static())
		doctor_todo_root(finding, "apt install %s", packages);
	else
		doctor_todo(finding, "build DPDK with these drivers (-Denable_drivers=...)");
}

void doctor_say_no_plugin(
	struct doctor_finding *finding, enum doctor_status status, const char *name)
{
	doctor_say(finding, status, "there is no plugin %s %s", name, plugins_place());
}

void doctor_todo_plugin(struct doctor_finding *finding, const char *name)
{
	char package[128] = "";

	append_package(package, sizeof(package), name);
	todo(finding, package);
}

/* Plugins without which no port starts: the vdev bus and the handler of mempools. */
static void plugins(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	static const char *const needed[] = {"bus_vdev", "mempool_ring"};
	char missing[128] = "", packages[128] = "";

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (doctor_has_plugin(needed[i]))
			continue;
		append(missing, sizeof(missing), ", ", needed[i]);
		append_package(packages, sizeof(packages), needed[i]);
	}
	if (!missing[0]) {
		doctor_say(finding, DOCTOR_OK, "%s", plugins_place());
		return;
	}
	doctor_say(finding, DOCTOR_PROBLEM, "%s missing in %s", missing, RTE_EAL_PMD_PATH);
	todo(finding, packages);
}

static void drivers(const struct doctor_subject *subject, struct doctor_finding *finding)
{
	static const struct {
		const char *spec, *driver;
	} wanted[] = {
		{"tap:", "net_tap"},
		{"afxdp:", "net_af_xdp"},
		{"afpacket:", "net_af_packet"},
		{"memif:", "net_memif"},
		{"vhost:", "net_vhost"},
		{"virtio-user:", "net_virtio"},
		{"pcap:", "net_pcap"},
		{"ring:", "net_ring"},
		{"null:", "net_null"},
	};
	char present[128] = "", missing[128] = "", packages[256] = "";

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		bool has = doctor_has_plugin(wanted[i].driver);

		append(has ? present : missing, sizeof(present), " ", wanted[i].spec);
		if (!has)
			append_package(packages, sizeof(packages), wanted[i].driver);
	}
	if (!missing[0]) {
		doctor_say(finding, DOCTOR_OK, "for %s", present);
		return;
	}
	doctor_say(finding, present[0] ? DOCTOR_NOTE : DOCTOR_PROBLEM, "%s%s; missing for %s",
		present[0] ? "for " : "none", present, missing);
	todo(finding, packages);
}

const struct doctor_check doctor_dpdk_checks[] = {
	{"version", version},
	{"plugins", plugins},
	{"drivers", drivers},
	{NULL, NULL},
};
