/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hauli_spec_fail(const struct hauli_spec *spec, int err, char *errbuf, size_t errlen,
	const char *format, ...)
{
	int len = snprintf(errbuf, errlen, "port '%s': ", spec->text);
	va_list ap;

	va_start(ap, format);
	if (len >= 0 && (size_t)len < errlen)
		vsnprintf(errbuf + len, errlen - (size_t)len, format, ap);
	va_end(ap);
	return err;
}

const char *hauli_spec_get(const struct hauli_spec *spec, const char *name)
{
	for (unsigned i = 0; i < spec->nb; i++) {
		if (strcmp(spec->keys[i].name, name) == 0)
			return spec->keys[i].value;
	}
	return NULL;
}

unsigned long hauli_spec_number(
	const struct hauli_spec *spec, const char *name, unsigned long otherwise)
{
	const char *value = hauli_spec_get(spec, name);

	return value ? strtoul(value, NULL, 10) : otherwise;
}

void hauli_spec_pass_on(const struct hauli_spec *spec, char *args, size_t size)
{
	size_t len = strlen(args);

	for (unsigned i = 0; i < spec->nb && len < size; i++) {
		const struct hauli_key *key = spec->keys[i].key;
		const char *name = key && key->vdev ? key->vdev : spec->keys[i].name;

		if (name[0])
			len += (size_t)snprintf(args + len, size - len, "%s%s=%s", len ? "," : "",
				name, spec->keys[i].value);
	}
}
