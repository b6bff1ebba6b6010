/* SPDX-License-Identifier: BSD-3-Clause */
#include <haul-app/file.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/input.h"
#include "process/signals.h"

static bool is_consumed;

bool hauli_app_input_is_consumed(void)
{
	return is_consumed;
}

/* Waits until there is something to read, or the end. A FIFO that had no writer yet has no end. */
static int wait_for_bytes(const struct haul_app_input *in)
{
	struct pollfd fds[] = {
		{.fd = in->fd, .events = POLLIN}, {.fd = hauli_app_signals_fd(), .events = POLLIN}};

	while (!hauli_app_signals_came()) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return errno;
		if (fds[0].revents)
			return 0;
	}
	return ECANCELED;
}

/* One byte beyond the longest length tells that the file is longer. */
static ssize_t read_some(struct haul_app_input *in, char *bytes, size_t size)
{
	size_t most = in->left < size ? (size_t)in->left + 1 : size;
	ssize_t n;

	do {
		in->err = hauli_app_signals_came() ? ECANCELED : in->waits ? wait_for_bytes(in) : 0;
		n = in->err ? -1 : read(in->fd, bytes, most);
	} while (n < 0 && !in->err && (errno == EAGAIN || errno == EINTR));
	if (n < 0)
		in->err = in->err ? in->err : errno;
	else if ((uint64_t)n > in->left)
		in->err = EFBIG;
	else
		in->left -= (uint64_t)n;
	if (!in->err)
		return n;
	errno = in->err;
	return -1;
}

static ssize_t take(void *cookie, char *bytes, size_t size)
{
	struct haul_app_input *in = cookie;

	return in->err ? -1 : read_some(in, bytes, size);
}

static int end(void *cookie)
{
	struct haul_app_input *in = cookie;

	return close(in->fd);
}

static int explain(const struct haul_app_input *in, int err, char *errbuf, size_t errlen)
{
	if (err == EFBIG)
		snprintf(errbuf, errlen,
			"it has more than %" PRIu64 " bytes, the most that is read", in->most);
	else if (err == ECANCELED)
		snprintf(errbuf, errlen, "the program was told to end while it was read");
	else
		snprintf(errbuf, errlen, "%s", strerror(err));
	return -err;
}

/* The name of the output of this program that goes to the file, or NULL. */
static const char *output_into(const struct stat *st)
{
	static const char *const names[] = {[STDOUT_FILENO] = "stdout", [STDERR_FILENO] = "stderr"};
	struct stat out;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if ((S_ISREG(st->st_mode) || S_ISFIFO(st->st_mode)) && fstat(fd, &out) == 0 &&
			out.st_dev == st->st_dev && out.st_ino == st->st_ino)
			return names[fd];
	return NULL;
}

/* Checks that the file can be read from beginning to end. */
static int check(struct haul_app_input *in, char *errbuf, size_t errlen)
{
	const char *output;
	struct stat st;

	if (fstat(in->fd, &st) != 0)
		return explain(in, errno, errbuf, errlen);
	output = output_into(&st);
	if (output) {
		snprintf(
			errbuf, errlen, "%s of this program goes to it; give another file", output);
		return -EINVAL;
	}
	if (S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode)) {
		snprintf(errbuf, errlen, "it is a %s; give a file or a pipe",
			S_ISDIR(st.st_mode) ? "directory" : "disk");
		return -EINVAL;
	}
	in->waits = !S_ISREG(st.st_mode);
	is_consumed |= in->waits;
	if (!in->waits && (uint64_t)st.st_size > in->most)
		return explain(in, EFBIG, errbuf, errlen);
	return 0;
}

int haul_app_input_open(
	struct haul_app_input *in, const char *path, uint64_t most, char *errbuf, size_t errlen)
{
	static const cookie_io_functions_t functions = {.read = take, .close = end};
	int err;

	*in = (struct haul_app_input){.most = most, .left = most};
	/* Without O_NONBLOCK a FIFO without a writer would hold up the program here. */
	in->fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (in->fd < 0)
		return explain(in, errno, errbuf, errlen);
	err = check(in, errbuf, errlen);
	if (!err) {
		in->file = fopencookie(in, "r", functions);
		if (!in->file)
			err = explain(in, ENOMEM, errbuf, errlen);
	}
	if (err)
		close(in->fd);
	return err;
}

int haul_app_input_close(struct haul_app_input *in, char *errbuf, size_t errlen)
{
	if (in->file)
		fclose(in->file);
	in->file = NULL;
	return in->err ? explain(in, in->err, errbuf, errlen) : 0;
}
