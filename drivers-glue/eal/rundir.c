/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In a directory of this user that no other user can write, no other user can create, rename or
 * replace files; and if its parent belongs to root or this user, and is sticky or not writable for
 * everybody, no other user can replace the directory itself. So one check is enough. The sweep
 * nevertheless follows no symbolic link.
 */
#include "eal/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <haul-dpdk/port.h>

#define SOCKET "dpdk_telemetry.v2"
#define WHERE "RUNTIME_DIRECTORY" /* EAL reads this variable first */
#define YOUNG_S 60 /* a program may just be starting */

/* Used by the thread that starts and ends EAL. */
static struct {
	char fresh[sizeof("/tmp/haul-XXXXXX")]; /* "": EAL uses its own directory */
	char *before; /* WHERE's earlier value, or NULL */
} rundir;

/* The parent of EAL's directory "dpdk". */
static const char *base_of_eal(void)
{
	const char *base = getenv(WHERE);

	if (!base)
		base = getuid() == 0 ? "/var/run" : getenv("XDG_RUNTIME_DIR");
	return base ? base : "/tmp";
}

/* True if no other user can rename or replace a directory of this user in it. */
static bool keeps(const char *base)
{
	struct stat st;

	return stat(base, &st) == 0 && S_ISDIR(st.st_mode) &&
		(st.st_uid == 0 || st.st_uid == geteuid()) &&
		(!(st.st_mode & S_IWOTH) || (st.st_mode & S_ISVTX));
}

/* True if only its owner, this user, can change its contents. */
static bool is_ours(const struct stat *st)
{
	return S_ISDIR(st->st_mode) && st->st_uid == geteuid() &&
		!(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Creates EAL's directory first: then it is ours or existed before. */
static bool has_own_directory(void)
{
	const char *base = base_of_eal();
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/dpdk", base) >= (int)sizeof(path) || !keeps(base))
		return false;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return false;
	return lstat(path, &st) == 0 && is_ours(&st) && access(path, W_OK | X_OK) == 0;
}

void hauli_rundir_started(void)
{
	if (!rundir.fresh[0])
		return;
	if (rundir.before)
		setenv(WHERE, rundir.before, 1);
	else
		unsetenv(WHERE);
	free(rundir.before);
	rundir.before = NULL;
}

/* Removes EAL's files in directory fd, which has that name in parent. */
static void empty(int parent, const char *name, int fd)
{
	(void)unlinkat(fd, SOCKET, 0);
	(void)unlinkat(parent, name, AT_REMOVEDIR);
}

static int open_dir(int parent, const char *name)
{
	return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The parent of dir, and dir's name in it; -1 if there is none. */
static int open_parent(const char *dir, const char **name)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(dir, '/');

	if (!slash)
		return -1;
	*name = slash + 1;
	snprintf(parent, sizeof(parent), "%.*s", (int)(slash - dir), dir);
	return open_dir(AT_FDCWD, parent);
}

static void remove_fresh(void)
{
	char path[PATH_MAX];

	if (!rundir.fresh[0])
		return;
	snprintf(path, sizeof(path), "%s/dpdk", rundir.fresh);
	(void)rmdir(path);
	(void)rmdir(rundir.fresh);
	rundir.fresh[0] = '\0';
}

void hauli_rundir_remove(const char *dir)
{
	const char *name;
	int parent = open_parent(dir, &name);
	int fd = parent >= 0 ? open_dir(parent, name) : -1;

	if (fd >= 0) {
		empty(parent, name, fd);
		close(fd);
	}
	if (parent >= 0)
		close(parent);
	hauli_rundir_started();
	remove_fresh();
}

static bool is_served(int fd)
{
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/" SOCKET, fd);
	err = haul_port_socket_look(path);
	return err != -ECONNREFUSED && err != -ENOENT;
}

static bool is_old(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && is_ours(&st) && time(NULL) - st.st_mtime > YOUNG_S;
}

/* Calls fn for each directory in it with a name like ours. */
static void walk(int dir, void (*fn)(int parent, const char *name, int fd))
{
	DIR *d = dir >= 0 ? fdopendir(dir) : NULL;
	const struct dirent *entry;

	if (!d && dir >= 0)
		close(dir);
	while (d && (entry = readdir(d)) != NULL) {
		int fd = -1;

		if (strncmp(entry->d_name, HAULI_RUNDIR_PREFIX, strlen(HAULI_RUNDIR_PREFIX)) == 0)
			fd = open_dir(dir, entry->d_name);
		if (fd >= 0 && is_old(fd))
			fn(dir, entry->d_name, fd);
		if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
}

static void sweep(int parent, const char *name, int fd)
{
	if (!is_served(fd))
		empty(parent, name, fd);
}

/* A fresh directory, as hauli_rundir_prepare() creates it, with EAL's in it. */
static void sweep_fresh(int parent, const char *name, int fd)
{
	walk(open_dir(fd, "dpdk"), sweep);
	if (unlinkat(fd, "dpdk", AT_REMOVEDIR) == 0)
		(void)unlinkat(parent, name, AT_REMOVEDIR);
}

void hauli_rundir_sweep(const char *dir)
{
	const char *name;

	walk(open_parent(dir, &name), sweep);
}

int hauli_rundir_prepare(char *notice, size_t len)
{
	const char *before = getenv(WHERE);
	char path[] = "/tmp/haul-XXXXXX";

	if (has_own_directory())
		return 0;
	walk(open_dir(AT_FDCWD, "/tmp"), sweep_fresh);
	if (!mkdtemp(path))
		return -errno;
	snprintf(notice, len, "EAL's files are in %s, because %s/dpdk is not private to this user",
		path, base_of_eal());
	strcpy(rundir.fresh, path);
	rundir.before = before ? strdup(before) : NULL;
	return setenv(WHERE, path, 1) < 0 ? -errno : 0;
}
