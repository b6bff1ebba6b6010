/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/path.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOCKET "dpdk_telemetry.v2"

/* As EAL and its clients find it. */
static const char *base(void)
{
	const char *dir = secure_getenv("RUNTIME_DIRECTORY");

	if (!dir)
		dir = getuid() == 0 ? "/var/run" : secure_getenv("XDG_RUNTIME_DIR");
	return dir ? dir : "/tmp";
}

/* Others have none of these permissions. */
static bool is_private(const char *dir, mode_t others)
{
	struct stat st;

	return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
		!(st.st_mode & others);
}

static int make(const char *dir, mode_t others, char *errbuf, size_t errlen)
{
	if (mkdir(dir, 0700) < 0 && errno != EEXIST) {
		int err = -errno;

		snprintf(errbuf, errlen, "no telemetry: %s: %s", dir, strerror(-err));
		return err;
	}
	if (is_private(dir, others))
		return 0;
	snprintf(errbuf, errlen,
		"no telemetry: the directory %s is not this user's own; set XDG_RUNTIME_DIR", dir);
	return -EACCES;
}

int hauli_telemetry_path_make(char *path, size_t len, char *errbuf, size_t errlen)
{
	char dir[PATH_MAX];
	int n, err;

	snprintf(dir, sizeof(dir), "%s/dpdk", base());
	/* Nobody else can put another directory in the place of ours. */
	err = make(dir, S_IWGRP | S_IWOTH, errbuf, errlen);
	if (err < 0)
		return err;
	/* The name that EAL's directory has in programs of haul: these remove it, with the socket,
	 * if this program is killed. */
	n = snprintf(dir, sizeof(dir), "%s/dpdk/haul-%d", base(), (int)getpid());
	if (n < 0 || (size_t)n + sizeof("/" SOCKET) > len) {
		snprintf(errbuf, errlen, "no telemetry: %s: too long for a socket", base());
		return -ENAMETOOLONG;
	}
	err = make(dir, S_IRWXG | S_IRWXO, errbuf, errlen);
	if (err == 0)
		snprintf(path, len, "%s/" SOCKET, dir);
	return err;
}

void hauli_telemetry_path_remove(const char *path)
{
	char dir[PATH_MAX];

	unlink(path);
	snprintf(dir, sizeof(dir), "%.*s", (int)(strlen(path) - strlen("/" SOCKET)), path);
	rmdir(dir);
}
