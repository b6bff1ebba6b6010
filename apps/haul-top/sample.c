/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* True if a command that was answered is answered by an error now. */
static bool is_of_an_end(const json_t *now, const json_t *sample)
{
	json_t *answers = json_object_get(now, "answers"), *any;
	const char *command;

	json_object_foreach(answers, command,
		any) if (top_values(now, command) && top_error(sample, command)) return true;
	return false;
}

bool top_pair_push(struct top_pair *pair, json_t *sample)
{
	bool same = pair->now &&
		json_equal(json_object_get(pair->now, "pid"), json_object_get(sample, "pid"));

	if (same && is_of_an_end(pair->now, sample)) {
		json_decref(sample);
		return false;
	}
	json_decref(pair->before);
	pair->before = same ? pair->now : NULL;
	if (!same)
		json_decref(pair->now);
	pair->now = sample;
	return true;
}

void top_pair_clear(struct top_pair *pair)
{
	json_decref(pair->now);
	json_decref(pair->before);
	*pair = (struct top_pair){NULL, NULL};
}

static const json_t *answer_of(const json_t *sample, const char *command)
{
	return json_object_get(json_object_get(sample, "answers"), command);
}

const char *top_error(const json_t *sample, const char *command)
{
	const json_t *values = json_object_get(answer_of(sample, command), "values");

	return json_string_value(json_object_get(values, "error"));
}

const json_t *top_values(const json_t *sample, const char *command)
{
	const json_t *values = json_object_get(answer_of(sample, command), "values");

	return json_object_get(values, "error") ? NULL : values;
}

const json_t *top_item(const json_t *list, unsigned i)
{
	char key[16];

	snprintf(key, sizeof(key), "%u", i);
	return json_object_get(list, key);
}

int64_t top_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

const char *top_string(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

double top_seconds(const struct top_pair *pair, const char *command)
{
	int64_t now = top_number(answer_of(pair->now, command), "at_ns"),
		before = top_number(answer_of(pair->before, command), "at_ns");

	return before > 0 && now > before ? ((double)now - (double)before) / 1e9 : 0;
}

double top_rate(const struct top_pair *pair, const char *command, int i, const char *key)
{
	const json_t *now = top_values(pair->now, command),
		     *before = top_values(pair->before, command);
	double seconds = top_seconds(pair, command);
	int64_t a, b;

	if (i != TOP_WHOLE) {
		now = top_item(now, (unsigned)i);
		before = top_item(before, (unsigned)i);
	}
	if (seconds <= 0 || !json_object_get(now, key) || !json_object_get(before, key) ||
		strcmp(top_string(now, "spec"), top_string(before, "spec")) != 0)
		return NAN;
	a = top_number(now, key);
	b = top_number(before, key);
	return a >= b ? ((double)a - (double)b) / seconds : NAN;
}
