/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <systemd/sd-daemon.h>

#include <haul/base.h>

static uint64_t taken_watchdog;
static bool has_heir;

uint64_t hauli_unit_watchdog(void)
{
	uint64_t us;

	return sd_watchdog_enabled(0, &us) > 0 ? us * HAUL_US : taken_watchdog;
}

void hauli_unit_take_watchdog(uint64_t ns)
{
	taken_watchdog = getenv("NOTIFY_SOCKET") ? ns : 0;
}

static void read_cgroup(const char *process, char *text, size_t size)
{
	char path[64];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%s/cgroup", process);
	f = fopen(path, "re");
	n = f ? fread(text, 1, size - 1, f) : 0;
	text[n] = '\0';
	if (f)
		fclose(f);
}

/* Processes of one unit are in the same control group. */
void hauli_unit_hands_over(pid_t pid)
{
	char process[16], ours[4096], other[4096];

	snprintf(process, sizeof(process), "%d", (int)pid);
	read_cgroup("self", ours, sizeof(ours));
	read_cgroup(process, other, sizeof(other));
	has_heir = ours[0] && strcmp(ours, other) == 0;
	if (has_heir)
		sd_notifyf(0, "MAINPID=%d", (int)pid);
}

bool hauli_unit_has_heir(void)
{
	return has_heir;
}
