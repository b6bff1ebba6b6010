/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/hand_over_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CONNECT_S 10 /* while the queue of those who connect is full */

static struct {
	int lock; /* 0: not locked */
	dev_t dev; /* of the name that is ours, with ino */
	ino_t ino;
} p;

/* 0, or -errno: the path is too long. */
static int address(const char *path, const char *end, struct sockaddr_un *to)
{
	*to = (struct sockaddr_un){.sun_family = AF_UNIX};
	return snprintf(to->sun_path, sizeof(to->sun_path), "%s%s", path, end) <
			(int)sizeof(to->sun_path)
		? 0
		: -ENAMETOOLONG;
}

bool hauli_path_is_right(const char *path)
{
	struct sockaddr_un to;

	return path[0] == '/' && address(path, ".new", &to) == 0;
}

/* The last one to have it removes the file, so another one may wait for a file without a name. */
static int lock_file(int fd, const char *name, pid_t *pid)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct stat have, named;

	if (fstat(fd, &have) < 0)
		return -errno;
	if (have.st_uid != geteuid() && have.st_uid != 0)
		return -EPERM;
	if (fcntl(fd, F_SETLK, &lock) < 0) {
		if (errno != EAGAIN && errno != EACCES)
			return -errno;
		*pid = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
		return *pid ? -EBUSY : -EAGAIN;
	}
	return lstat(name, &named) == 0 && named.st_ino == have.st_ino &&
			named.st_dev == have.st_dev
		? 0
		: -EAGAIN;
}

int hauli_path_lock(const char *path, pid_t *pid)
{
	char name[PATH_MAX];
	int fd, err;

	snprintf(name, sizeof(name), "%s.lock", path);
	do {
		fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
		if (fd < 0)
			return -errno;
		err = lock_file(fd, name, pid);
		if (err)
			close(fd);
	} while (err == -EAGAIN);
	p.lock = err ? 0 : fd;
	return err;
}

void hauli_path_unlock(const char *path)
{
	char name[PATH_MAX];

	if (!p.lock)
		return;
	snprintf(name, sizeof(name), "%s.lock", path);
	(void)unlink(name);
	close(p.lock);
	p.lock = 0;
}

static bool is_other_file(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode);
}

int hauli_path_connect(const char *path)
{
	const struct timeval most = {.tv_sec = CONNECT_S};
	struct sockaddr_un to;
	int fd, err = address(path, ".new", &to);

	if (err || is_other_file(to.sun_path) || is_other_file(path))
		return err ? err : -ENOTSOCK;
	(void)address(path, "", &to);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	do
		err = connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0 ? -errno : 0;
	while (err == -EINTR);
	if (err == 0)
		return fd;
	close(fd);
	return err == -ECONNREFUSED ? -ENOENT : err;
}

bool hauli_path_is_trusted(int fd, pid_t *pid)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return false;
	*pid = who.pid;
	return who.uid == 0 || who.uid == geteuid();
}

int hauli_path_listen(const char *path)
{
	struct sockaddr_un at, at_last;
	struct stat st = {0};
	int fd, err;
	mode_t mask;

	(void)address(path, ".new", &at);
	(void)address(path, "", &at_last);
	if (is_other_file(at.sun_path) || is_other_file(path))
		return -ENOTSOCK;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	(void)unlink(at.sun_path);
	mask = umask(0077);
	err = bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 4) < 0 ||
			lstat(at.sun_path, &st) < 0 || rename(at.sun_path, at_last.sun_path) < 0
		? -errno
		: 0;
	umask(mask);
	if (err == 0) {
		p.dev = st.st_dev;
		p.ino = st.st_ino;
		return fd;
	}
	(void)unlink(at.sun_path);
	close(fd);
	return err;
}

void hauli_path_leave(const char *path, int fd, bool is_replaced)
{
	struct stat st;

	if (!is_replaced && lstat(path, &st) == 0 && st.st_dev == p.dev && st.st_ino == p.ino)
		(void)unlink(path);
	close(fd);
}
