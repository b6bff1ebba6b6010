/* SPDX-License-Identifier: BSD-3-Clause */
#include "texts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char **place_of(const struct trace_texts *t, const char *text)
{
	uint32_t hash = 2166136261u; /* FNV-1a */
	size_t i;

	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	for (i = hash; t->items[i &= t->size - 1]; i++)
		if (strcmp(t->items[i], text) == 0)
			break;
	return &t->items[i];
}

static bool grow(struct trace_texts *t)
{
	struct trace_texts more = {.n = t->n, .size = t->size ? 2 * t->size : 64};

	more.items = calloc(more.size, sizeof(more.items[0]));
	if (!more.items)
		return false;
	for (size_t i = 0; i < t->size; i++)
		if (t->items[i])
			*place_of(&more, t->items[i]) = t->items[i];
	free(t->items);
	*t = more;
	return true;
}

const char *trace_text(struct trace_texts *t, const char *text)
{
	char **place;

	if (2 * (t->n + 1) > t->size && !grow(t)) {
		t->failed = true;
		return "";
	}
	place = place_of(t, text);
	if (*place)
		return *place;
	*place = strdup(text);
	t->n += *place != NULL;
	t->failed |= !*place;
	return *place ? *place : "";
}

void trace_texts_free(struct trace_texts *t)
{
	for (size_t i = 0; i < t->size; i++)
		free(t->items[i]);
	free(t->items);
}
