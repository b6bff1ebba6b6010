/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/tree.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_node.h"

#define NEXT 32 /* bytes for the number of the next entry, with its key */
#define ENTRIES 250 /* of an object; DPDK takes 256 */
#define TEXT 120 /* bytes of a text; DPDK takes 128 */
#define KEY 60 /* DPDK takes 64 */
#define DEPTH 4

static json_t *made(json_t *value)
{
	if (!value)
		abort(); /* no memory */
	return value;
}

static json_t *tree_of(const json_t *from, unsigned depth);

static json_t *text_of(const char *from)
{
	char text[TEXT + 1];
	size_t n = 0;

	for (; *from && n < TEXT; from++)
		if (((unsigned char)*from & 0xc0) != 0x80) /* a character is one '?' */
			text[n++] = *from < ' ' || *from > '~' ? '?' : *from;
	text[n] = '\0';
	return made(json_string(text));
}

static json_t *text_of_real(double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.9g", value);
	return made(json_string(text));
}

static void set(json_t *to, const char *key, json_t *value)
{
	char clean[KEY + 1];
	size_t n = 0;

	for (; *key && n < KEY; key++)
		clean[n++] = isalnum((unsigned char)*key) || *key == '/' ? *key : '_';
	clean[n] = '\0';
	if (json_object_set_new(to, clean, value) != 0)
		abort();
}

static json_t *object_of(const json_t *from, unsigned depth)
{
	json_t *to = made(json_object()), *value;
	const char *key;
	void *at = json_object_iter((json_t *)(uintptr_t)from);

	for (; at && depth > 0 && json_object_size(to) < ENTRIES;
		at = json_object_iter_next((json_t *)(uintptr_t)from, at)) {
		key = json_object_iter_key(at);
		value = json_object_iter_value(at);
		set(to, key, tree_of(value, depth - 1));
	}
	return to;
}

static json_t *object_of_array(const json_t *from, unsigned depth)
{
	json_t *to = made(json_object());
	char key[24];

	for (size_t i = 0; i < json_array_size(from) && depth > 0 && i < ENTRIES; i++) {
		snprintf(key, sizeof(key), "%zu", i);
		set(to, key, tree_of(json_array_get(from, i), depth - 1));
	}
	return to;
}

static json_t *tree_of(const json_t *from, unsigned depth)
{
	switch (json_typeof(from)) {
	case JSON_OBJECT:
		return object_of(from, depth);
	case JSON_ARRAY:
		return object_of_array(from, depth);
	case JSON_STRING:
		return text_of(json_string_value(from));
	case JSON_INTEGER:
		return made(json_integer(json_integer_value(from)));
	case JSON_REAL:
		return text_of_real(json_real_value(from));
	case JSON_TRUE:
	case JSON_FALSE:
		return made(json_integer(json_is_true(from)));
	case JSON_NULL:
		break;
	}
	return made(json_string(""));
}

json_t *hauli_telemetry_tree(const struct haul_app_json *from)
{
	return tree_of(hauli_json_node(from), DEPTH);
}

size_t hauli_telemetry_tree_size(const json_t *tree)
{
	return json_dumpb(tree, NULL, 0, JSON_COMPACT);
}

void hauli_telemetry_tree_add(json_t *tree, const struct haul_app_json *list, size_t first)
{
	const json_t *from = hauli_json_node(list);
	size_t i, size = hauli_telemetry_tree_size(tree);
	char key[24];

	for (i = first; i < json_array_size(from); i++) {
		json_t *one = tree_of(json_array_get(from, i), DEPTH);

		snprintf(key, sizeof(key), "%zu", i);
		/* With the key, two quotes, a colon and a comma. */
		size += json_dumpb(one, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) + strlen(key) + 4;
		if (size > HAULI_TELEMETRY_ROOM - NEXT || json_object_size(tree) >= ENTRIES) {
			json_decref(one);
			break;
		}
		set(tree, key, one);
	}
	if (i < json_array_size(from))
		set(tree, "next", made(json_integer((json_int_t)i)));
}
