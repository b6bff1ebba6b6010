/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/command.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "process/readers.h"
#include "telemetry/answer.h"
#include "telemetry/control.h"
#include "telemetry/coroutines.h"
#include "telemetry/figures.h"
#include "telemetry/tree.h"

#define OWN_MAX 64 /* commands of the program */
#define COMMANDS_MAX (OWN_MAX + 32)
#define NAME_LENGTH 50
#define HELP_LENGTH 60

/* One of the library, or of the program. */
struct entry {
	const char *name, *help;
	const struct hauli_telemetry_command *command; /* NULL: of the program */
	haul_app_telemetry_fn *fn;
	void *arg;
};

/* Entries are added by the main thread and never taken away. They, and nb, under the lock. */
static struct {
	pthread_mutex_t lock;
	struct entry entries[COMMANDS_MAX]; /* by name */
	unsigned nb, own;
	int (*publish)(const char *name, const char *help);
	/* Written while no reader is inside. */
	const struct haul_app_program *program;
	struct haul_runtime *rt;
} t = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Under the lock. False: there is one of that name. There is room: for own ones, add() looks. */
static bool insert(const struct entry *e)
{
	unsigned i = t.nb;

	if (t.nb == COMMANDS_MAX)
		abort();
	for (unsigned k = 0; k < t.nb; k++)
		if (strcmp(t.entries[k].name, e->name) == 0)
			return false;
	for (; i > 0 && strcmp(t.entries[i - 1].name, e->name) > 0; i--)
		t.entries[i] = t.entries[i - 1];
	t.entries[i] = *e;
	t.nb++;
	return true;
}

static void insert_all(const struct hauli_telemetry_command *commands)
{
	for (; commands->fn; commands++)
		insert(&(struct entry){commands->name, commands->help, commands, NULL, NULL});
}

/* Under the lock. */
static void init(void)
{
	if (t.nb > 0)
		return;
	insert_all(hauli_commands_of_control);
	insert_all(hauli_commands_of_coroutines);
	insert_all(hauli_commands_of_ports);
}

static bool is_name(const char *name)
{
	size_t n = 0;

	for (; name[n]; n++)
		if (!isalnum((unsigned char)name[n]) && name[n] != '_' && name[n] != '/')
			return false;
	return name[0] == '/' && n > 1 && n <= NAME_LENGTH;
}

static int add(const struct entry *e)
{
	int err = 0;

	pthread_mutex_lock(&t.lock);
	init();
	if (t.own == OWN_MAX)
		err = -ENOSPC;
	else if (!insert(e))
		err = -EEXIST;
	else
		t.own++;
	pthread_mutex_unlock(&t.lock);
	return err;
}

int haul_app_telemetry(const char *command, const char *help, haul_app_telemetry_fn *fn, void *arg)
{
	int err;

	if (!command || !help || !fn || !is_name(command) || strlen(help) > HELP_LENGTH)
		return -EINVAL;
	err = add(&(struct entry){command, help, NULL, fn, arg});
	if (err == 0 && t.publish)
		t.publish(command, help);
	return err;
}

const char *hauli_telemetry_name(unsigned i)
{
	const char *name;

	pthread_mutex_lock(&t.lock);
	init();
	name = i < t.nb ? t.entries[i].name : NULL;
	pthread_mutex_unlock(&t.lock);
	return name;
}

static bool find(const char *name, struct entry *e)
{
	bool found = false;

	pthread_mutex_lock(&t.lock);
	init();
	for (unsigned i = 0; i < t.nb && !found; i++) {
		found = strcmp(t.entries[i].name, name) == 0;
		if (found)
			*e = t.entries[i];
	}
	pthread_mutex_unlock(&t.lock);
	return found;
}

const char *hauli_telemetry_help(const char *name)
{
	struct entry e;

	return find(name, &e) ? e.help : NULL;
}

void hauli_telemetry_publish(int (*fn)(const char *name, const char *help))
{
	const char *name;

	for (unsigned i = 0; (name = hauli_telemetry_name(i)) != NULL; i++)
		fn(name, hauli_telemetry_help(name));
	t.publish = fn;
}

void hauli_telemetry_set_runtime(const struct haul_app_program *program, struct haul_runtime *rt)
{
	t.program = program;
	t.rt = rt;
}

static void fill(const struct entry *e, struct hauli_answer *answer)
{
	const bool ports = e->command && e->command->needs == HAULI_NEEDS_PORTS;

	if (!e->command)
		e->fn(answer->values, answer->params, e->arg);
	else if (ports && !answer->app)
		hauli_answer_fails(answer, "this program has no ports");
	else if (!answer->rt)
		hauli_answer_fails(answer, "there is no runtime");
	else
		e->command->fn(answer);
}

void hauli_telemetry_about(struct hauli_answer *about)
{
	*about = (struct hauli_answer){
		.program = t.program,
		.app = hauli_app_state.pub.io ? &hauli_app_state : NULL,
		.rt = t.rt,
	};
}

/* Alone of all readers. */
static json_t *made_inside(const struct entry *e, const char *params)
{
	struct haul_app_json *holder = haul_app_json_begin();
	struct hauli_answer answer;
	json_t *tree;

	hauli_telemetry_about(&answer);
	answer.params = params;
	answer.values = haul_app_json_object(holder, "values");
	answer.list = haul_app_json_array(holder, "list");
	fill(e, &answer);
	tree = hauli_telemetry_tree(answer.values);
	if (!json_object_get(tree, "error"))
		hauli_telemetry_tree_add(tree, answer.list, answer.first);
	haul_app_json_end(holder, NULL);
	return tree;
}

static json_t *failure(const char *why)
{
	return json_pack("{s:s}", "error", why);
}

json_t *hauli_telemetry_answer(const char *name, const char *params)
{
	const char *why;
	struct entry e;
	json_t *tree;

	if (!find(name, &e))
		return NULL;
	if (!hauli_reader_enter(&why))
		return failure(why);
	tree = made_inside(&e, params ? params : "");
	hauli_reader_leave();
	if (hauli_telemetry_tree_size(tree) <= HAULI_TELEMETRY_ROOM)
		return tree;
	json_decref(tree);
	return failure("the answer is longer than 16 KB");
}
