/* SPDX-License-Identifier: BSD-3-Clause */
#include <haul/version.h>

#define TEXT(x) #x
#define DOTTED(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *haul_version(void)
{
	return DOTTED(HAUL_VERSION_MAJOR, HAUL_VERSION_MINOR, HAUL_VERSION_PATCH);
}
