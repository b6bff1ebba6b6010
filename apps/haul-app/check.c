/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <string.h>

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define NAME LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "_"
#define NAME_MAX_LEN 63

static bool is_option_name(const char *name)
{
	if (name[0] == '-' && name[1] && strchr(LOWER, name[1]) && !strncmp(name + 2, ", ", 2))
		name += 4;
	return !strncmp(name, "--", 2) && name[2] && !name[2 + strspn(name + 2, LOWER DIGITS "-")];
}

/* The mistake in an option, or NULL. */
static const char *mistake(const struct haul_app_option *o)
{
	bool takes_value = o->kind != HAUL_APP_FLAG && o->kind != HAUL_APP_REST;

	if (!is_option_name(o->name))
		return "a name is -- and lower-case letters, digits or -, after \"-x, \" if it has "
		       "a "
		       "letter";
	if ((unsigned)o->kind > HAUL_APP_REST)
		return "there is no such kind";
	if (!o->to)
		return "\"to\" is NULL";
	if (takes_value && !o->value)
		return "\"value\" is NULL: give the name of its value, or the choices";
	if (!o->help)
		return "\"help\" is NULL";
	if (o->max && o->min > o->max)
		return "min is above max";
	if (!o->needs != !o->has_effect)
		return "\"needs\" and \"has_effect\" go together";
	return NULL;
}

static bool has_letter(const struct haul_app_option *o)
{
	return hauli_option_name(o) != o->name;
}

/* The number of options with the name or the letter of an option. */
static unsigned count(const struct hauli_command *command, const struct haul_app_option *of)
{
	const char *name = hauli_option_name(of);
	unsigned n =
		!strcmp(name, "--help") + !strncmp(of->name, "-h,", 3) + !strcmp(name, "--version");

	for (unsigned t = 0; command->tables[t]; t++)
		for (const struct haul_app_option *o = command->tables[t]; o->name; o++)
			n += !strcmp(hauli_option_name(o), name) ||
				(has_letter(of) && !strncmp(o->name, of->name, 3));
	return n;
}

/* The name of a wrong row of haul_app_program.needs, or NULL. */
static const char *wrong_need(const struct hauli_command *command)
{
	const struct haul_app_need *need = command->program->needs;

	for (; need && need->option; need++) {
		const struct haul_app_option named = {.name = need->option};

		if (count(command, &named) == 0 || !need->needs || !need->has_effect)
			return need->option;
	}
	return NULL;
}

int hauli_check_options(const struct hauli_command *command)
{
	const char *need = wrong_need(command);

	for (unsigned t = 0; command->tables[t]; t++) {
		for (const struct haul_app_option *o = command->tables[t]; o->name; o++) {
			const char *wrong = mistake(o);

			if (!wrong && count(command, o) > 1)
				wrong = "there are two of that name; the library has some, too";
			if (!wrong)
				continue;
			haul_app_say(command->program, "table of options: %s: %s", o->name, wrong);
			return HAUL_APP_FAILED;
		}
	}
	if (need) {
		haul_app_say(command->program,
			"table of needs: %s: give an option of the library, \"needs\" and "
			"\"has_effect\"",
			need);
		return HAUL_APP_FAILED;
	}
	return HAUL_APP_DONE;
}

static bool is_name(const char *text)
{
	return text[0] && !text[strspn(text, NAME)] && strlen(text) <= NAME_MAX_LEN;
}

static bool counters_are_right(const struct hauli_app *a)
{
	const struct haul_app_counter *all = a->hooks->counters;

	for (unsigned i = 0; all && all[i].name; i++) {
		if (i == HAUL_APP_COUNTERS_MAX) {
			haul_app_say(
				a->pub.program, "more than %u counters", HAUL_APP_COUNTERS_MAX);
			return false;
		}
		for (unsigned k = 0; k <= i; k++) {
			if (is_name(all[i].name) && (k == i || strcmp(all[i].name, all[k].name)))
				continue;
			haul_app_say(a->pub.program,
				"counter %u, \"%s\": give each a name of its own, of letters, "
				"digits and _",
				i, all[i].name);
			return false;
		}
	}
	return true;
}

static bool drop_names_are_right(const struct hauli_app *a)
{
	const char *const *names = a->io_opts.drop_names;

	for (unsigned i = 0; i < HAUL_DROP_OWN_MAX; i++) {
		bool right = !names[i] || is_name(names[i]);

		for (unsigned k = 0; names[i] && k < HAUL_DROP_REASONS; k++)
			right &= strcmp(names[i], haul_drop_name((enum haul_drop)k)) != 0;
		for (unsigned k = 0; names[i] && k < i; k++)
			right &= !names[k] || strcmp(names[i], names[k]) != 0;
		if (right)
			continue;
		haul_app_say(a->pub.program,
			"drop_names[%u], \"%s\": give each a name of its own, of letters, digits "
			"and _",
			i, names[i]);
		return false;
	}
	return true;
}

int hauli_check_hooks(const struct hauli_app *a)
{
	const struct haul_io_opts *io = &a->io_opts;

	if ((io->on_packet && io->on_burst) || (!io->on_packet && !io->on_burst && !io->source)) {
		haul_app_say(a->pub.program,
			"set one of on_packet and on_burst, or source, or both (haul-app/app.h)");
		return HAUL_APP_FAILED;
	}
	return counters_are_right(a) && drop_names_are_right(a) ? HAUL_APP_DONE : HAUL_APP_FAILED;
}

int hauli_check_rc(const struct hauli_app *a, const char *hook, int rc)
{
	if (rc >= 0 && rc <= 255)
		return rc;
	haul_app_say(a->pub.program, "%s() returned %d, which is no exit code", hook, rc);
	return HAUL_APP_FAILED;
}
