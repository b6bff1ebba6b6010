/* SPDX-License-Identifier: BSD-3-Clause */
#include "linked.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static int is_eal(struct dl_phdr_info *object, size_t size, void *arg)
{
	return strstr(object->dlpi_name, "/librte_eal.so") != NULL;
}

bool doctor_dpdk_is_static(void)
{
	return !dl_iterate_phdr(is_eal, NULL);
}

struct needle {
	const void *bytes;
	size_t len;
};

static int contains(struct dl_phdr_info *object, size_t size, void *arg)
{
	const struct needle *needle = arg;

	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && part->p_flags & PF_R && !(part->p_flags & PF_W) &&
			memmem((const void *)(object->dlpi_addr + part->p_vaddr), part->p_filesz,
				needle->bytes, needle->len))
			return 1;
	}
	return 0;
}

bool doctor_links_bytes(const void *bytes, size_t len)
{
	struct needle needle = {bytes, len};

	return dl_iterate_phdr(contains, &needle) != 0;
}

bool doctor_is_linked(const char *name)
{
	char text[128];

	if (strncmp(name, "net_", strlen("net_")) != 0)
		return true;
	/* The build of DPDK puts such a line into each driver, for its dpdk-pmdinfo. */
	snprintf(text, sizeof(text), "PMD_INFO_STRING= {\"name\": \"%s\"", name);
	return doctor_links_bytes(text, strlen(text));
}
