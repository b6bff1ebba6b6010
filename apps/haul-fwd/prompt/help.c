/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands, in the sections of dpdk-testpmd. */
#include <stddef.h>

#include "command.h"

#define SECTIONS "control|display|config|ports|filters|traffic_management|devices|drivers"
#define CONFIG 2 /* has the commands that no other section has */
#define BEGINNINGS_MOST 5

static const struct section {
	const char *name, *about, *title;
	const char *begins[BEGINNINGS_MOST]; /* forms of commands */
} sections[] = {
	{"control", "Start and stop forwarding.",
		"Control forwarding:", {"start", "stop", "quit", "help", "capture"}},
	{"display", "Displaying port, stats and config information.",
		"Display:", {"show", "clear", "dump", "save"}},
	[CONFIG] = {"config", "Configuration information.", "Configuration:", {NULL}},
	{"ports", "Configuring ports.", "Port Operations:", {"port"}},
	{"filters", "Filters configuration help.", "filters:", {"flow", "set raw_"}},
	{"traffic_management", "Traffic Management commands.", "Traffic Management:", {NULL}},
	{"devices", "Device related commands.", "Device Operations:", {NULL}},
	{"drivers", "Driver specific commands.", "Driver specific:", {NULL}},
	{NULL, NULL, NULL, {NULL}},
};

static const struct section *section_of(const char *form)
{
	for (const struct section *s = sections; s->name; s++)
		for (unsigned i = 0; i < BEGINNINGS_MOST && s->begins[i]; i++)
			if (strncmp(form, s->begins[i], strlen(s->begins[i])) == 0)
				return s;
	return &sections[CONFIG];
}

static void print_section(const struct section *section, FILE *out)
{
	const struct fwd_command *c;
	unsigned n = 0;

	fprintf(out, "\n%s\n%.*s\n\n", section->title, (int)strlen(section->title),
		"------------------------------");
	for (unsigned t = 0; fwd_commands[t]; t++) {
		for (c = fwd_commands[t]; c->form; c++) {
			if (section_of(c->form) != section)
				continue;
			fprintf(out, "%s\n    %s\n\n", c->form, c->help);
			n++;
		}
	}
	if (n == 0)
		fprintf(out, "haul-fwd has no commands of this section.\n\n");
}

/* "help SECTION" */
static bool show_section(const struct fwd_call *call)
{
	const char *name = call->words[1].text;

	for (const struct section *s = sections; s->name; s++)
		if (strcmp(name, "all") == 0 || strcmp(name, s->name) == 0)
			print_section(s, call->out);
	return true;
}

static bool show_sections(const struct fwd_call *call)
{
	fprintf(call->out, "\nHelp is available for the following sections:\n\n");
	for (const struct section *s = sections; s->name; s++)
		fprintf(call->out, "    help %-27s: %s\n", s->name, s->about);
	fprintf(call->out, "    help %-27s: All of the above sections.\n\n", "all");
	return true;
}

const struct fwd_command fwd_commands_help[] = {
	{"help", show_sections, "List the sections of commands."},
	{"help " SECTIONS "|all", show_section, "List the commands of a section, or of all."},
	{0},
};
