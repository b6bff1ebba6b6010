/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nothing is written before the opened file itself, not its name, was looked at. A new file is made
 * by O_EXCL, which follows no link. What exists is opened by O_PATH first, which has no effect on
 * it, then through that descriptor: the name may lead elsewhere by then.
 */
#include <haul-dpdk/file.h>

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "linux/file.h"

#define LINKS_MOST 8
#define HOW (O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) /* waits for no reader of a FIFO */

/* Where errors go. */
struct words {
	char *buf;
	size_t len;
};

static int fail(const struct words *w, int err, const char *text)
{
	snprintf(w->buf, w->len, "%s", text ? text : strerror(err));
	return -err;
}

static int fail_owner(const struct words *w, const char *what, uid_t owner)
{
	snprintf(w->buf, w->len,
		"%s belongs to another user (%u); remove it, or choose another name", what,
		(unsigned)owner);
	return -EPERM;
}

/* Opens what the descriptor of O_PATH stands for. */
static int reopen(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, HOW);
}

/* The result of open(): opened without waiting, and writes may wait. */
static int finish(int fd, const struct words *w)
{
	if (fd >= 0)
		return fcntl(fd, F_SETFL, 0) == 0 ? fd : -errno;
	return fail(w, errno, errno == ENXIO ? "nobody reads the FIFO" : NULL);
}

/* True if only the owner of the directory of path can make files in it. */
static bool is_in_private(const char *path)
{
	char copy[PATH_MAX];
	struct stat st;

	snprintf(copy, sizeof(copy), "%s", path);
	return stat(dirname(copy), &st) == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static int check_regular(const struct stat *st, const struct words *w)
{
	if (st->st_uid != geteuid())
		return fail_owner(w, "it", st->st_uid);
	if (st->st_nlink > 1)
		return fail(w, EMLINK,
			"it has other names (hard links); remove it, or choose another name");
	return 0;
}

static int check(const char *path, const struct stat *st, const struct words *w)
{
	if (S_ISREG(st->st_mode))
		return check_regular(st, w);
	if (S_ISDIR(st->st_mode))
		return fail(w, EISDIR, NULL);
	if (S_ISBLK(st->st_mode) || S_ISSOCK(st->st_mode))
		return fail(w, EINVAL, "it is a disk or a socket; give a file");
	if (S_ISFIFO(st->st_mode) && st->st_uid != geteuid() && st->st_uid != 0 &&
		!is_in_private(path))
		return fail_owner(
			w, "the FIFO, in a directory where others may make files,", st->st_uid);
	return 0;
}

static int open_existing(
	const char *path, int fd, const struct stat *st, mode_t mode, const struct words *w)
{
	int opened, err = check(path, st, w);

	if (err)
		return err;
	opened = finish(reopen(fd), w);
	if (opened >= 0 && S_ISREG(st->st_mode) && (st->st_mode & 0666 & ~mode))
		(void)fchmod(opened, st->st_mode & mode);
	return opened;
}

static int create_or_open(const char *path, mode_t mode, unsigned links, const struct words *w);

/* The target of a link, as a path that does not depend on the present directory's. */
static int follow(const char *path, int fd, const struct stat *st, mode_t mode, unsigned links,
	const struct words *w)
{
	char target[PATH_MAX], next[2 * PATH_MAX], copy[PATH_MAX];
	struct statfs fs;
	ssize_t n;

	if (st->st_uid != geteuid() && st->st_uid != 0)
		return fail_owner(w, "the symbolic link", st->st_uid);
	if (links == 0)
		return fail(w, ELOOP, NULL);
	n = readlinkat(fd, "", target, sizeof(target) - 1);
	if (n < 0)
		return fail(w, errno, NULL);
	target[n] = '\0';
	/* Links of /proc/self/fd lead to open files, whatever their text says: those of the shell's
	 * /dev/stdout and >(command). Whoever opened them chose them. */
	if (fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC)
		return finish(open(path, HOW), w);
	snprintf(copy, sizeof(copy), "%s", path);
	snprintf(next, sizeof(next), "%s%s%s", target[0] == '/' ? "" : dirname(copy),
		target[0] == '/' ? "" : "/", target);
	return create_or_open(next, mode, links - 1, w);
}

static int create_or_open(const char *path, mode_t mode, unsigned links, const struct words *w)
{
	struct stat st;
	int err, fd = open(path, HOW | O_CREAT | O_EXCL | O_NOFOLLOW, mode);

	if (fd >= 0 || errno != EEXIST)
		return finish(fd, w);
	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		err = fail(w, errno, NULL);
	else
		err = S_ISLNK(st.st_mode) ? follow(path, fd, &st, mode, links, w)
					  : open_existing(path, fd, &st, mode, w);
	if (fd >= 0)
		close(fd);
	return err;
}

int haul_file_create(const char *path, mode_t mode, char *errbuf, size_t errlen)
{
	const struct words w = {errbuf, errlen};

	return create_or_open(path, mode, LINKS_MOST, &w);
}

int hauli_file_create_new(const char *path, mode_t mode, char *errbuf, size_t errlen)
{
	const struct words w = {errbuf, errlen};

	return finish(open(path, HOW | O_CREAT | O_EXCL | O_NOFOLLOW, mode), &w);
}
