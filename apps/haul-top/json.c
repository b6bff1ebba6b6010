/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ask.h"

/* Values that do not grow for ever have no rate. */
static bool is_counter(const char *key, const json_t *value)
{
	static const char *const not [] = {"cpu", "cluster", "in_flight", "port", "queue",
		"carrier", "uncounted", "carriers", "ports", "buffers", "buffers_in_use", "paused",
		"next"};

	for (unsigned i = 0; i < sizeof(not ) / sizeof(not [0]); i++)
		if (strcmp(key, not [i]) == 0)
			return false;
	return json_is_integer(value) && strncmp(key, "recent_", 7) != 0;
}

/* Those lists whose elements have counters. */
static bool has_counters(const char *command)
{
	return strcmp(command, "/haul/carriers") == 0 || strcmp(command, "/haul/ports") == 0 ||
		strcmp(command, "/haul/queues") == 0 || strcmp(command, "/haul/drops") == 0;
}

static json_t *rates_of(
	const struct top_pair *pair, const char *command, int i, const json_t *values)
{
	json_t *rates = json_object(), *value;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)values, key, value)
	{
		double rate = is_counter(key, value) ? top_rate(pair, command, i, key) : NAN;

		if (!isnan(rate))
			json_object_set_new(rates, key, json_real(rate));
	}
	return rates;
}

static json_t *element(
	const struct top_pair *pair, const char *command, unsigned i, const json_t *values)
{
	json_t *to = json_copy((json_t *)(uintptr_t)values);

	if (pair->before && json_is_object(to) && has_counters(command))
		json_object_set_new(to, "per_second", rates_of(pair, command, (int)i, values));
	return to;
}

/* What is not an element of the list. */
static json_t *rest_of(const json_t *values)
{
	json_t *to = json_object(), *value;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)values, key,
		value) if (key[0] < '0' || key[0] > '9') json_object_set(to, key, value);
	return to;
}

static json_t *list_of(const struct top_pair *pair, const char *command, const json_t *values)
{
	json_t *list = json_array();
	const json_t *item;

	for (unsigned i = 0; (item = top_item(values, i)) != NULL; i++)
		json_array_append_new(list, element(pair, command, i, item));
	return list;
}

static bool is_any(const char *command, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(command + strlen("/haul/"), *names) == 0)
			return true;
	return false;
}

/* A list is an array; one with values beside it is their "list". */
static json_t *answer_of(const struct top_pair *pair, const char *command, const json_t *values)
{
	static const char *const lists[] = {
		"carriers", "ports", "queues", "drops", "latency", "latency_buckets", NULL};
	static const char *const both[] = {"counters", "coroutines", "causes", "waits", NULL};
	json_t *to;

	if (is_any(command, lists))
		return list_of(pair, command, values);
	to = rest_of(values);
	if (is_any(command, both))
		json_object_set_new(to, "list", list_of(pair, command, values));
	return to;
}

void top_json_print(const struct top_pair *pair, FILE *out)
{
	json_t *all = json_object(), *errors = json_object();

	json_object_set(all, "at", json_object_get(pair->now, "at"));
	json_object_set_new(all, "interval", json_real(top_seconds(pair, top_commands[0])));
	for (unsigned i = 0; top_commands[i]; i++) {
		const char *name = top_commands[i] + strlen("/haul/");
		const json_t *values = top_values(pair->now, top_commands[i]);
		const char *error = top_error(pair->now, top_commands[i]);

		json_object_set_new(
			all, name, values ? answer_of(pair, top_commands[i], values) : json_null());
		if (error)
			json_object_set_new(errors, name, json_string(error));
	}
	json_object_set_new(all, "errors", errors);
	json_dumpf(all, out, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
	fputc('\n', out);
	json_decref(all);
}

void top_json_print_programs(const struct top_find *f, FILE *out)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < f->nb; i++) {
		const struct top_program *p = &f->programs[i];
		json_t *one = json_pack("{s:s, s:I, s:s}", "name", p->name, "pid",
			(json_int_t)p->pid, "socket", p->path);

		if (p->why[0])
			json_object_set_new(one, "error", json_string(p->why));
		json_array_append_new(list, one);
	}
	json_dumpf(list, out, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	fputc('\n', out);
	json_decref(list);
}
