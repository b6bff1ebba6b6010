/* SPDX-License-Identifier: BSD-3-Clause */
#include "rundir.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "unixpath.h"

#define SOCKET "dpdk_telemetry.v2"
#define YOUNG_S 60 /* its program may just be starting */

void hauli_rundir_remove(const char *dir)
{
	char path[PATH_MAX];

	if (!dir[0])
		return;
	if (snprintf(path, sizeof(path), "%s/" SOCKET, dir) < (int)sizeof(path))
		(void)unlink(path);
	(void)rmdir(dir);
}

static bool is_served(const char *dir)
{
	char path[PATH_MAX];
	int err = 0;

	if (snprintf(path, sizeof(path), "%s/" SOCKET, dir) < (int)sizeof(path))
		err = hauli_unixpath_look(path);
	return err != -ECONNREFUSED && err != -ENOENT;
}

void hauli_rundir_sweep(const char *dir)
{
	char parent[PATH_MAX], path[PATH_MAX];
	const struct dirent *entry;
	struct stat st;
	DIR *d;

	snprintf(parent, sizeof(parent), "%s", dir);
	if (!strrchr(parent, '/'))
		return;
	*strrchr(parent, '/') = '\0';
	d = opendir(parent);
	while (d && (entry = readdir(d)) != NULL) {
		if (strncmp(entry->d_name, HAULI_RUNDIR_PREFIX, strlen(HAULI_RUNDIR_PREFIX)) != 0 ||
			snprintf(path, sizeof(path), "%s/%s", parent, entry->d_name) >=
				(int)sizeof(path))
			continue;
		if (stat(path, &st) == 0 && time(NULL) - st.st_mtime > YOUNG_S && !is_served(path))
			hauli_rundir_remove(path);
	}
	if (d)
		closedir(d);
}
