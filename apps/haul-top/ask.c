/* SPDX-License-Identifier: BSD-3-Clause */
#include "ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <haul/base.h>

#define PARTS 64 /* of an answer: 1,000 queues have 12 */

const char *const top_commands[] = {"/haul/info", "/haul/policies", "/haul/carriers", "/haul/ports",
	"/haul/queues", "/haul/drops", "/haul/latency", "/haul/latency_buckets", "/haul/counters",
	"/haul/coroutines", "/haul/causes", "/haul/waits", NULL};

/* The first part has the oldest, or most: enough to look at. */
static bool has_more(const char *command)
{
	return strcmp(command, "/haul/waits") != 0 && strcmp(command, "/haul/coroutines") != 0;
}

static void ask(struct top_ask *a, struct top_client *c)
{
	char text[64];

	if (a->next > 0)
		snprintf(text, sizeof(text), "%s,%" PRId64, top_commands[a->command], a->next);
	else
		snprintf(text, sizeof(text), "%s", top_commands[a->command]);
	top_client_ask(c, text);
}

void top_ask_begin(struct top_ask *a, struct top_client *c)
{
	*a = (struct top_ask){.sample = json_object()};
	json_object_set_new(a->sample, "at", json_integer(time(NULL)));
	json_object_set(a->sample, "pid", json_object_get(c->about, "pid"));
	json_object_set_new(a->sample, "answers", json_object());
	ask(a, c);
}

/* Of a list that comes in parts. */
static void merge(json_t *values, const json_t *part)
{
	json_object_del(values, "next");
	json_object_update_missing(values, (json_t *)(uintptr_t)part);
}

/* Takes over the values, if there are any. Returns true if there is another part to ask for. */
static bool take(struct top_ask *a, json_t *values)
{
	json_t *answers = json_object_get(a->sample, "answers");
	const char *command = top_commands[a->command];
	json_t *answer = json_object_get(answers, command);
	int64_t next = json_integer_value(json_object_get(values, "next"));
	const int64_t before = a->next;

	a->next = 0;
	if (!values)
		return false;
	if (answer && !json_object_get(values, "error"))
		merge(json_object_get(answer, "values"), values);
	else if (!answer)
		json_object_set_new(answers, command,
			json_pack("{s:I, s:O}", "at_ns", (json_int_t)haul_now(), "values", values));
	json_decref(values);
	if (next <= before || !has_more(command) || ++a->parts >= PARTS)
		return false;
	a->next = next;
	return true;
}

/* True: the program is not ready to answer, and would say so once for each command. */
static bool is_busy(const struct top_ask *a)
{
	const json_t *info = json_object_get(json_object_get(a->sample, "answers"), "/haul/info");

	return json_object_get(json_object_get(info, "values"), "error") != NULL;
}

json_t *top_ask_step(struct top_ask *a, struct top_client *c)
{
	json_t *sample;

	if (!a->sample || c->state != TOP_ANSWERED)
		return NULL;
	if (!take(a, top_client_take(c))) {
		a->command++;
		a->parts = 0;
	}
	if (top_commands[a->command] && !is_busy(a)) {
		ask(a, c);
		return NULL;
	}
	sample = a->sample;
	a->sample = NULL;
	return sample;
}

void top_ask_end(struct top_ask *a)
{
	json_decref(a->sample);
	a->sample = NULL;
}
