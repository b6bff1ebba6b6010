/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/kinds/table.h"

#include <string.h>

#define PREFIX strlen("net_")

#define ENTRY(name) &hauli_kind_##name,
const struct hauli_kind *const hauli_kinds[] = {HAULI_PORT_KINDS(ENTRY) NULL};
#undef ENTRY

const struct hauli_kind *hauli_kind_find(const char *name, size_t len)
{
	for (const struct hauli_kind *const *k = hauli_kinds; *k; k++) {
		if (strlen((*k)->name) == len && memcmp((*k)->name, name, len) == 0)
			return *k;
	}
	return NULL;
}

const struct hauli_kind *hauli_kind_of_spec(const struct hauli_spec *spec)
{
	if (spec->kind != &hauli_kind_raw)
		return spec->kind;
	/* "net_..." or, of older drivers too, "eth_..." */
	for (const struct hauli_kind *const *k = hauli_kinds; *k; k++) {
		const char *name = (*k)->driver ? (*k)->driver + PREFIX : NULL;

		if (name && strncmp(name, spec->parts + PREFIX, strlen(name)) == 0)
			return *k;
	}
	return spec->kind;
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
