/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON by jansson, which users need not have. */
#include <haul-app/json.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define LONGEST 4 /* bytes of a UTF-8 character */

/* The length in bytes of the UTF-8 character at the start of text; 0: there is none. */
static size_t character(const char *text)
{
	size_t most = strnlen(text, LONGEST);

	for (size_t len = 1; len <= most; len++) {
		json_t *one = json_stringn(text, len);

		json_decref(one);
		if (one)
			return len;
	}
	return 0;
}

/* A new reference. */
static json_t *valid_text(const char *text)
{
	json_t *string = json_string(text);
	char *valid = NULL;
	size_t size;
	FILE *out;

	if (string)
		return string;
	out = open_memstream(&valid, &size);
	while (out && *text) {
		size_t len = character(text);

		fprintf(out, "%.*s", len ? (int)len : 3, len ? text : "\xef\xbf\xbd");
		text += len ? len : 1;
	}
	if (out)
		fclose(out);
	string = json_string(valid ? valid : "");
	free(valid);
	return string;
}

static json_t *node(struct haul_app_json *json)
{
	return (json_t *)json;
}

/* Takes over the reference. */
static void add(struct haul_app_json *to, const char *key, json_t *value)
{
	int err = key ? json_object_set_new(node(to), key, value)
		      : json_array_append_new(node(to), value);

	if (!err)
		return;
	fprintf(stderr, "haul: haul_app_json: %s\n",
		!to                                        ? "there is no object to add to"
			: key && !json_is_object(node(to)) ? "a key in an array"
			: !key && !json_is_array(node(to)) ? "an object needs keys"
							   : "no memory");
	abort();
}

struct haul_app_json *haul_app_json_begin(void)
{
	json_t *object = json_object();

	if (!object)
		abort();
	return (struct haul_app_json *)object;
}

void haul_app_json_end(struct haul_app_json *object, FILE *out)
{
	if (out) {
		json_dumpf(node(object), out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
		fputc('\n', out);
	}
	json_decref(node(object));
}

struct haul_app_json *haul_app_json_object(struct haul_app_json *to, const char *key)
{
	json_t *object = json_object();

	add(to, key, object);
	return (struct haul_app_json *)object;
}

struct haul_app_json *haul_app_json_array(struct haul_app_json *to, const char *key)
{
	json_t *array = json_array();

	add(to, key, array);
	return (struct haul_app_json *)array;
}

void haul_app_json_number(struct haul_app_json *to, const char *key, int64_t value)
{
	add(to, key, json_integer(value));
}

void haul_app_json_real(struct haul_app_json *to, const char *key, double value)
{
	add(to, key, isfinite(value) ? json_real(value) : json_null());
}

void haul_app_json_bool(struct haul_app_json *to, const char *key, bool value)
{
	add(to, key, json_boolean(value));
}

void haul_app_json_text(struct haul_app_json *to, const char *key, const char *value)
{
	add(to, key, value ? valid_text(value) : json_null());
}
