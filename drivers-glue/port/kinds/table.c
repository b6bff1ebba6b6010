/* SPDX-License-Identifier: BSD-3-Clause */
/* All kinds of ports. */
#include <string.h>

#include "port/kind.h"

const struct hauli_kind *const hauli_kinds[] = {
	&hauli_kind_tap,
	&hauli_kind_afxdp,
	&hauli_kind_afpacket,
	&hauli_kind_memif,
	&hauli_kind_vhost,
	&hauli_kind_virtio_user,
	&hauli_kind_pcap,
	&hauli_kind_ring,
	&hauli_kind_null,
	&hauli_kind_pci,
	NULL,
};

const struct hauli_kind *hauli_kind_find(const char *name, size_t len)
{
	for (const struct hauli_kind *const *k = hauli_kinds; *k; k++) {
		if (strlen((*k)->name) == len && memcmp((*k)->name, name, len) == 0)
			return *k;
	}
	return NULL;
}

const struct hauli_kind *hauli_kind_of_vdev(const char *name)
{
	for (const struct hauli_kind *const *k = hauli_kinds; *k; k++) {
		if ((*k)->driver && strncmp((*k)->driver, name, strlen((*k)->driver)) == 0)
			return *k;
	}
	return NULL;
}

const char *haul_port_kind(unsigned i, const char **waits_on)
{
	if (i >= sizeof(hauli_kinds) / sizeof(hauli_kinds[0]) - 1)
		return NULL;
	*waits_on = hauli_kinds[i]->wait_name ? hauli_kinds[i]->wait_name : "";
	return hauli_kinds[i]->name;
}

void haul_port_print_specs(FILE *out)
{
	const struct hauli_kind *raw = &hauli_kind_raw;

	for (const struct hauli_kind *const *k = hauli_kinds; *k; k++)
		fprintf(out, "  %s\n      %s\n", (*k)->form, (*k)->help);
	fprintf(out, "  %s\n      %s\n", raw->form, raw->help);
}
