/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of what is permitted, since EAL gets new options with its versions, and takes options in
 * several spellings: -vd FILE is -v and -d FILE. Devices (-a, --vdev) are not in it, because
 * drivers take names of files.
 */
#include "eal/secure.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const struct {
	const char *option;
	bool has_value;
} harmless[] = {
	{"-m", true},
	{"--memory-size", true},
	{"--socket-mem", true},
	{"--numa-mem", true},
	{"--socket-limit", true},
	{"--no-huge", false},
	{"--in-memory", false},
	{"--legacy-mem", false},
	{"--single-file-segments", false},
	{"--match-allocations", false},
	{"--iova-mode", true},
	{"--no-shconf", false},
	{"--no-pci", false},
	{"--no-telemetry", false},
	{"--no-hpet", false},
	{"--log-level", true},
	{"-b", true},
	{"--block", true},
	{"-h", false},
	{"--help", false},
};

/* The number of arguments that a permitted option takes up, with its value; 0: not permitted. */
static int length_of(const char *arg)
{
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
		const char *option = harmless[i].option;
		size_t len = strlen(option);

		if (strcmp(arg, option) == 0)
			return harmless[i].has_value ? 2 : 1;
		if (harmless[i].has_value && strncmp(arg, option, len) == 0 &&
			(option[1] != '-' || arg[len] == '='))
			return 1;
	}
	return 0;
}

int hauli_secure_check(char *const *args, int n, char *errbuf, size_t errlen)
{
	int len;

	if (!getauxval(AT_SECURE) || getuid() == 0)
		return 0;
	for (int i = 0; i < n; i += len) {
		len = length_of(args[i]);
		if (len > 0)
			continue;
		snprintf(errbuf, errlen,
			"EAL argument '%s': not for a program that has more privileges than its "
			"user (setcap), because it may load code or name files; remove it, or run "
			"as root",
			args[i]);
		return -EPERM;
	}
	return 0;
}
