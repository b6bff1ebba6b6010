/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_line(char *line, size_t size, const char *path)
{
	FILE *file = fopen(path, "re");
	bool ok = file && fgets(line, (int)size, file);

	if (file)
		fclose(file);
	line[ok ? strcspn(line, "\n") : 0] = '\0';
	return ok;
}

bool kernel_line(char *line, size_t size, const char *path, ...)
{
	char name[PATH_MAX];
	va_list ap;

	va_start(ap, path);
	vsnprintf(name, sizeof(name), path, ap);
	va_end(ap);
	return read_line(line, size, name);
}

int64_t kernel_number(const char *path, ...)
{
	char name[PATH_MAX], line[64], *end;
	va_list ap;
	int64_t number;

	va_start(ap, path);
	vsnprintf(name, sizeof(name), path, ap);
	va_end(ap);
	if (!read_line(line, sizeof(line), name))
		return -1;
	number = strtoll(line, &end, 10);
	return end == line ? -1 : number;
}

/* The text after "key:" or "key	: "; NULL if the line has another key. */
static const char *value_of(const char *line, const char *key)
{
	size_t len = strlen(key);

	if (strncmp(line, key, len) != 0)
		return NULL;
	line += len + strspn(line + len, "\t ");
	return *line == ':' ? line + 1 + strspn(line + 1, "\t ") : NULL;
}

bool kernel_field(char *value, size_t size, const char *path, const char *key)
{
	FILE *file = fopen(path, "re");
	const char *found = NULL;
	size_t room = 0;
	char *line = NULL;

	while (file && !found && getline(&line, &room, file) >= 0)
		found = value_of(line, key);
	snprintf(value, size, "%.*s", found ? (int)strcspn(found, "\n") : 0, found ? found : "");
	free(line);
	if (file)
		fclose(file);
	return found != NULL;
}

bool kernel_has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += len) {
		if ((at == text || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
			return true;
	}
	return false;
}

bool kernel_in_list(const char *list, int cpu)
{
	while (*list) {
		char *end;
		long first = strtol(list, &end, 10);
		long last = *end == '-' ? strtol(end + 1, &end, 10) : first;

		if (end == list)
			break;
		if (cpu >= first && cpu <= last)
			return true;
		list = *end == ',' ? end + 1 : "";
	}
	return false;
}
