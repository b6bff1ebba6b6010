/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

json_t *app_json_text(const char *text)
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
