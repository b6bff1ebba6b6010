/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines from tables. */
#include "options/command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "options/help.h"
#include "options/value.h"

static void append(struct haul_app_texts *texts, char *text)
{
	texts->items = realloc(texts->items, (texts->n + 1) * sizeof(texts->items[0]));
	if (!texts->items)
		abort();
	texts->items[texts->n++] = text;
}

/* Texts of options that were set after the start: they last until the end. */
static struct haul_app_texts set_later;

/* Stores text in the variable of o. Returns -1, or an exit code after printing an error. */
static int take(const struct haul_app_program *program, const struct haul_app_option *o, char *text)
{
	const uint64_t most = o->max ? o->max : UINT64_MAX;
	char min[32], max[32];
	uint64_t n;

	switch (o->kind) {
	case HAUL_APP_NUMBER:
		if (hauli_number_parse(&n, text) && n >= o->min && n <= most) {
			*(uint64_t *)o->to = n;
			return -1;
		}
		return haul_app_wrong(program, "%s %s: give a number from %" PRIu64 " to %" PRIu64,
			hauli_option_name(o), text, o->min, most);
	case HAUL_APP_TIME:
		if (hauli_time_parse(&n, text) && n >= o->min && n <= most) {
			*(uint64_t *)o->to = n;
			return -1;
		}
		hauli_time_text(min, sizeof(min), o->min);
		hauli_time_text(max, sizeof(max), most);
		return haul_app_wrong(program,
			"%s %s: give a time from %s to %s, such as 5us, 5ms, 1.5s or 2min",
			hauli_option_name(o), text, min, max);
	case HAUL_APP_CHOICE:
		if (hauli_choice_parse(o->to, o->value, text))
			return -1;
		return haul_app_wrong(
			program, "%s %s: give one of %s", hauli_option_name(o), text, o->value);
	case HAUL_APP_TEXT:
		*(const char **)o->to = text;
		return -1;
	case HAUL_APP_TEXTS:
		append(o->to, text);
		return -1;
	case HAUL_APP_FLAG:
	case HAUL_APP_REST:
		break;
	}
	abort();
}

static const struct haul_app_alias *find_alias(
	const struct haul_app_program *program, const char *name, size_t len)
{
	const struct haul_app_alias *a;

	for (a = program->aliases; a && a->name; a++)
		if (strlen(a->name) == len && strncmp(a->name, name, len) == 0)
			return a;
	return NULL;
}

/* The option of an argument, up to its "=". NULL after a line. */
static const struct haul_app_option *find_or_say(
	const struct hauli_command *command, const char *arg)
{
	const struct haul_app_program *program = command->program;
	size_t len = strcspn(arg, "=");
	const struct haul_app_option *o = hauli_option_find(command, arg, len);
	const struct haul_app_alias *alias = o ? NULL : find_alias(program, arg, len);

	if (alias && alias->option)
		return hauli_option_find(command, alias->option, strlen(alias->option));
	if (alias)
		haul_app_wrong(program, "%s: %s", alias->name, alias->hint);
	else if (!o && strncmp(arg, "--", 2) != 0)
		haul_app_wrong(program, "%s: not an option; options begin with --", arg);
	else if (!o)
		haul_app_wrong(program, "%s: there is no such option", arg);
	return o;
}

static bool wants_help(const struct hauli_command *command, int argc, char **argv)
{
	const struct haul_app_option *o;
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
		o = hauli_option_find(command, argv[i], strlen(argv[i]));
		if (o && o->kind == HAUL_APP_REST)
			return false;
	}
	return false;
}

/* Stores the options, and adds each one to given. Returns -1, or an exit code. */
static int parse_all(const struct hauli_command *command, int argc, char **argv,
	const struct haul_app_option **given)
{
	const struct haul_app_program *program = command->program;
	const struct haul_app_option *o;
	char *arg, *value;
	int i, err;

	for (i = 1; i < argc; i++) {
		arg = argv[i];
		if (strcmp(arg, "--version") == 0) {
			hauli_print_version(program);
			return HAUL_APP_DONE;
		}
		value = strchr(arg, '=');
		o = find_or_say(command, arg);
		if (!o)
			return HAUL_APP_USAGE;
		*given++ = o;
		if (o->kind == HAUL_APP_REST) {
			while (++i < argc)
				append(o->to, argv[i]);
			break;
		}
		if (o->kind == HAUL_APP_FLAG) {
			if (value)
				return haul_app_wrong(
					program, "%s: takes no value", hauli_option_name(o));
			*(bool *)o->to = true;
			continue;
		}
		if (value)
			value++;
		else if (i + 1 < argc)
			value = argv[++i];
		else
			return haul_app_wrong(program, "%s: give a value: %s %s",
				hauli_option_name(o), hauli_option_name(o), o->value);
		err = take(program, o, value);
		if (err >= 0)
			return err;
	}
	return -1;
}

int hauli_options_parse(const struct hauli_command *command, int argc, char **argv)
{
	const struct haul_app_option **given;
	struct haul_app_need need;
	int rc;

	/* First of all, because parsing overwrites the defaults that --help shows. */
	if (wants_help(command, argc, argv)) {
		hauli_print_help(command);
		return HAUL_APP_DONE;
	}
	given = calloc((size_t)argc + 1, sizeof(*given));
	if (!given)
		abort();
	rc = parse_all(command, argc, argv, given);
	for (const struct haul_app_option **o = given; *o && rc < 0; o++) {
		need = hauli_option_need(command, *o);
		if (!need.has_effect || need.has_effect())
			continue;
		if (command->program->tolerates && command->program->tolerates())
			haul_app_say(command->program, "note: %s has no effect here (it needs %s)",
				need.option, need.needs);
		else
			rc = haul_app_wrong(command->program, "%s has no effect here: it needs %s",
				need.option, need.needs);
	}
	free(given);
	return rc;
}

int hauli_option_set(const struct hauli_command *command, const char *name, const char *value)
{
	const struct haul_app_option *o = hauli_option_find(command, name, strlen(name));
	char *copy;
	int err;

	if (!o || o->kind == HAUL_APP_REST)
		return haul_app_wrong(command->program, "%s: there is no such option", name);
	if (o->kind == HAUL_APP_FLAG) {
		*(bool *)o->to = true;
		return HAUL_APP_DONE;
	}
	copy = strdup(value);
	if (!copy)
		abort();
	err = take(command->program, o, copy);
	if (err >= 0 || (o->kind != HAUL_APP_TEXT && o->kind != HAUL_APP_TEXTS))
		free(copy);
	else
		append(&set_later, copy);
	return err >= 0 ? err : HAUL_APP_DONE;
}

void hauli_options_free(const struct hauli_command *command)
{
	const struct haul_app_option *o;
	struct haul_app_texts *texts;
	unsigned t;

	for (t = 0; command->tables[t]; t++) {
		for (o = command->tables[t]; o->name; o++) {
			if (o->kind != HAUL_APP_TEXTS && o->kind != HAUL_APP_REST)
				continue;
			texts = o->to;
			free(texts->items);
			*texts = (struct haul_app_texts){0};
		}
	}
	for (t = 0; t < set_later.n; t++)
		free(set_later.items[t]);
	free(set_later.items);
	set_later = (struct haul_app_texts){0};
}
