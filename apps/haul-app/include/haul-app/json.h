/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON output: values are added one by one to an object or an array. In an object key is the name
 * of the value, and replaces an earlier value of that name; in an array key is NULL. Text may
 * contain any bytes: those that are not part of a UTF-8 character become U+FFFD. Not for concurrent
 * use.
 */
#ifndef HAUL_APP_JSON_H
#define HAUL_APP_JSON_H

#include <stdio.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct haul_app_json; /* an object or an array */

/* A new object. The caller ends it by haul_app_json_end(). */
HAUL_API struct haul_app_json *haul_app_json_begin(void);
/* Prints the object with all that it contains to out, and frees it. out == NULL: only frees it. */
HAUL_API void haul_app_json_end(struct haul_app_json *object, FILE *out);

/* Add an empty object or array to "to", which owns it; the result is valid until the end, or until
 * its key is replaced. */
HAUL_API struct haul_app_json *haul_app_json_object(struct haul_app_json *to, const char *key);
HAUL_API struct haul_app_json *haul_app_json_array(struct haul_app_json *to, const char *key);

/* Add a value to "to", which copies the text. Infinity, NaN, and a text of NULL become null. */
HAUL_API void haul_app_json_number(struct haul_app_json *to, const char *key, int64_t value);
HAUL_API void haul_app_json_real(struct haul_app_json *to, const char *key, double value);
HAUL_API void haul_app_json_bool(struct haul_app_json *to, const char *key, bool value);
HAUL_API void haul_app_json_text(struct haul_app_json *to, const char *key, const char *value);

#ifdef __cplusplus
}
#endif

#endif
