/* SPDX-License-Identifier: BSD-3-Clause */
#include "options/table.h"

#include <string.h>

#include "options/placement.h"

struct hauli_command hauli_command(const struct haul_app_program *program,
	const struct haul_app_option *before, const struct haul_app_option *const *after)
{
	const unsigned most = sizeof(program->options) / sizeof(program->options[0]);
	struct hauli_command command = {
		.program = program, .ports = before || program->explains_ports};
	unsigned i, n = 0;

	if (before)
		command.tables[n++] = before;
	for (i = 0; i < most && program->options[i]; i++)
		command.tables[n++] = program->options[i];
	if (before || program->places_carriers)
		command.tables[n++] = hauli_placement_options();
	while (after && *after)
		command.tables[n++] = *after++;
	return command;
}

const char *hauli_option_name(const struct haul_app_option *o)
{
	return o->name[0] == '-' && o->name[1] != '-' && strlen(o->name) > 4 ? o->name + 4
									     : o->name;
}

struct haul_app_need hauli_option_need(
	const struct hauli_command *command, const struct haul_app_option *o)
{
	const struct haul_app_need *need = command->program->needs;

	for (; need && need->option; need++)
		if (strcmp(need->option, hauli_option_name(o)) == 0)
			return *need;
	return (struct haul_app_need){hauli_option_name(o), o->needs, o->has_effect};
}

static bool has_name(const struct haul_app_option *o, const char *name, size_t len)
{
	const char *whole = hauli_option_name(o);

	if (len == 2 && whole != o->name && strncmp(o->name, name, 2) == 0)
		return true;
	return strlen(whole) == len && strncmp(whole, name, len) == 0;
}

const struct haul_app_option *hauli_option_find(
	const struct hauli_command *command, const char *name, size_t len)
{
	const struct haul_app_option *o;
	unsigned t;

	for (t = 0; command->tables[t]; t++)
		for (o = command->tables[t]; o->name; o++)
			if (has_name(o, name, len))
				return o;
	return NULL;
}
