/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors and notes of the start and the end. */
#include <errno.h>

#include "state.h"

int hauli_app_fail(const struct hauli_app *a, int err, const char *line)
{
	haul_app_say(a->pub.program, "%s", line);
	switch (err) {
	case -EINVAL:
	case -ENODEV:
	case -ENOENT:
	case -ENXIO:
	case -ERANGE:
	case -ENAMETOOLONG:
		return HAUL_APP_USAGE;
	default:
		return HAUL_APP_FAILED;
	}
}

void hauli_app_note(const struct hauli_app *a, const char *line)
{
	if (line[0])
		haul_app_say(a->pub.program, "note: %s", line);
}
