/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <haul-dpdk/file.h>

#include "linux/file.h"

#define MODE 0600 /* frames are for this user only */
#define SUFFIX ".pcapng"
#define NAMES 16 /* tried for one file: if all exist, the capture ends */
#define PATIENCE_MS 20 /* of poll(), between two calls of may_wait() */

/* FILE_00001_20261122203000.pcapng, as dumpcap names its files; if that is in use,
 * FILE_00001_20261122203000-1.pcapng. */
static int name_next(struct hauli_capture_file *file, unsigned other)
{
	size_t stem = strlen(file->name);
	const char *dot = strrchr(file->name, '.');
	const char *slash = strrchr(file->name, '/');
	time_t now = time(NULL);
	struct tm at;
	char date[16], number[16] = "";
	int len;

	if (dot && (!slash || dot > slash + 1) && dot != file->name)
		stem = (size_t)(dot - file->name);
	else
		dot = SUFFIX;
	strftime(date, sizeof(date), "%Y%m%d%H%M%S", localtime_r(&now, &at));
	if (other > 0)
		snprintf(number, sizeof(number), "-%u", other);
	len = snprintf(file->path, sizeof(file->path), "%.*s_%05u_%s%s%s", (int)stem, file->name,
		file->number, date, number, dot);
	return len < (int)sizeof(file->path) ? 0 : -ENAMETOOLONG;
}

/* Removes the oldest file, if there would be too many. */
static int keep(struct hauli_capture_file *file)
{
	char **oldest;

	if (file->keep == 0)
		return 0;
	oldest = &file->kept[(file->number - 1) % file->keep];
	if (*oldest)
		unlink(*oldest);
	free(*oldest);
	*oldest = strdup(file->path);
	return *oldest ? 0 : -ENOMEM;
}

/* fd: or -errno. */
static int take(struct hauli_capture_file *file, int fd)
{
	struct stat st;

	if (fd < 0)
		return fd;
	file->wrong[0] = '\0';
	file->fd = fd;
	file->bytes = 0;
	if (fstat(fd, &st) != 0)
		return -errno;
	file->is_own = S_ISREG(st.st_mode) && strcmp(file->name, "-") != 0;
	file->is_pipe = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
	return 0;
}

/* Opens the next file. Never overwrites one: if the name exists, tries another. */
static int open_next(struct hauli_capture_file *file)
{
	int err = -EEXIST;

	file->number++;
	for (unsigned i = 0; i < NAMES && err == -EEXIST; i++) {
		err = name_next(file, i);
		if (!err)
			err = take(file,
				hauli_file_create_new(
					file->path, MODE, file->wrong, sizeof(file->wrong)));
	}
	return err ? err : keep(file);
}

int hauli_capture_file_try(struct hauli_capture_file *file)
{
	int err = take(file, haul_file_create(file->path, MODE, file->wrong, sizeof(file->wrong)));

	if (!err && file->is_own && ftruncate(file->fd, 0) != 0)
		err = -errno;
	if (err != -ENXIO)
		return err;
	file->wrong[0] = '\0'; /* no error: a FIFO whose reader may come */
	return -EAGAIN;
}

static int open_one(struct hauli_capture_file *file)
{
	int err;

	file->number = 1;
	if (strcmp(file->name, "-") == 0) {
		snprintf(file->path, sizeof(file->path), "standard output");
		err = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return take(file, err < 0 ? -errno : err);
	}
	if (strlen(file->name) >= sizeof(file->path))
		return -ENAMETOOLONG;
	strcpy(file->path, file->name);
	err = hauli_capture_file_try(file);
	return err == -EAGAIN ? 0 : err;
}

int hauli_capture_file_open(struct hauli_capture_file *file, const char *name, bool rotates,
	unsigned keep_files, char *errbuf, size_t errlen)
{
	int err = 0;

	*file = (struct hauli_capture_file){
		.name = name, .fd = -1, .rotates = rotates, .keep = rotates ? keep_files : 0};
	if (file->keep > 0) {
		file->kept = calloc(file->keep, sizeof(file->kept[0]));
		err = file->kept ? 0 : -ENOMEM;
	}
	if (!err)
		err = rotates ? open_next(file) : open_one(file);
	if (!err)
		return 0;
	hauli_capture_file_explain(file, err, errbuf, errlen);
	hauli_capture_file_close(file);
	hauli_capture_file_free(file);
	return err;
}

int hauli_capture_file_next(struct hauli_capture_file *file)
{
	int err = hauli_capture_file_close(file);

	return err ? err : open_next(file);
}

/* A pipe takes this much without waiting if poll() says that it takes any. */
static int shorten(struct iovec *iov, int n, size_t most)
{
	int i;

	for (i = 0; i < n && most > 0; i++) {
		if (iov[i].iov_len > most)
			iov[i].iov_len = most;
		most -= iov[i].iov_len;
	}
	return i;
}

static ssize_t write_some(const struct hauli_capture_file *file, const struct iovec *iov, int n)
{
	struct pollfd out = {.fd = file->fd, .events = POLLOUT};
	struct iovec part[PIPE_BUF / 16];
	ssize_t len;

	if (!file->is_pipe) {
		len = writev(file->fd, iov, n);
	} else {
		if (poll(&out, 1, PATIENCE_MS) <= 0)
			return 0;
		n = n < (int)(sizeof(part) / sizeof(part[0]))
			? n
			: (int)(sizeof(part) / sizeof(part[0]));
		memcpy(part, iov, (size_t)n * sizeof(part[0]));
		len = writev(file->fd, part, shorten(part, n, PIPE_BUF));
	}
	if (len >= 0)
		return len;
	return errno == EINTR || errno == EAGAIN ? 0 : -errno;
}

/* Skips len bytes. Returns the number of parts that are done with. */
static int advance(struct iovec *iov, int n, size_t len)
{
	int i = 0;

	while (i < n && len >= iov[i].iov_len)
		len -= iov[i++].iov_len;
	if (i < n) {
		iov[i].iov_base = (char *)iov[i].iov_base + len;
		iov[i].iov_len -= len;
	}
	return i;
}

ssize_t hauli_capture_file_write(struct hauli_capture_file *file, struct iovec *iov, int n,
	bool (*may_wait)(void *arg), void *arg)
{
	size_t done = 0;
	int i = advance(iov, n, 0);

	while (i < n) {
		ssize_t len = write_some(file, iov + i, n - i);

		if (len < 0) {
			/* No torn block at the end: the file stays readable. */
			if (file->is_own && ftruncate(file->fd, (off_t)file->bytes) != 0)
				return len;
			return len;
		}
		if (len == 0 && !may_wait(arg))
			break;
		i += advance(iov + i, n - i, (size_t)len);
		done += (size_t)len;
	}
	file->bytes += done;
	file->total += done;
	return (ssize_t)done;
}

void hauli_capture_file_explain(
	const struct hauli_capture_file *file, int err, char *buf, size_t len)
{
	snprintf(buf, len, "cannot write %s: %s", file->path[0] ? file->path : file->name,
		file->wrong[0]          ? file->wrong
			: err == -EPIPE ? "its reader has gone"
					: strerror(-err));
}

int hauli_capture_file_close(struct hauli_capture_file *file)
{
	int err = 0;

	if (file->fd >= 0 && close(file->fd) != 0)
		err = -errno;
	file->fd = -1;
	return err;
}

void hauli_capture_file_free(struct hauli_capture_file *file)
{
	for (unsigned i = 0; file->kept && i < file->keep; i++)
		free(file->kept[i]);
	free(file->kept);
	file->kept = NULL;
}
