/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/fds/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fd/slot.h"
#include "sim/fault.h"
#include "sim/real.h"
#include "sim/steps.h"
#include "sim/world.h"

/* The lowest number of a file that is opened in a simulation. What its program holds already is not
 * the same in a child of a search, in a debugger and in a shell that left it a file. */
#define LOWEST 32

static struct {
	struct hauli_sim_file **files; /* by number; NULL: not a simulated one */
	int n;
	int reserve; /* what the numbers are for the kernel */
	uint32_t fillers; /* a bit of each number below LOWEST that was free */
} t;

_Static_assert(LOWEST <= 32, "the bits of fillers");

static void ignore(struct hauli_sim_file *f)
{
}

struct hauli_sim_file hauli_sim_fds_kernel;

static void fill_lowest(void)
{
	for (;;) {
		int fd = HAULI_SIM_REAL(fcntl)(t.reserve, F_DUPFD_CLOEXEC, 0);

		if (fd >= LOWEST)
			HAULI_SIM_REAL(close)(fd);
		if (fd < 0 || fd >= LOWEST)
			return;
		t.fillers |= UINT32_C(1) << fd;
	}
}

int hauli_sim_fds_begin(void)
{
	static const struct hauli_sim_file_kind kernel = {.release = ignore};

	hauli_sim_files_forget();
	hauli_sim_file_init(&hauli_sim_fds_kernel, &kernel, 0);
	hauli_sim_fds_kernel.refs = 1;
	t.reserve = HAULI_SIM_REAL(open)("/", O_PATH | O_CLOEXEC);
	if (t.reserve < 0)
		return -errno;
	fill_lowest();
	return 0;
}

/* The number has what it holds no more. */
static void drop(int fd)
{
	struct hauli_sim_file *f;

	if (fd < 0 || fd >= t.n || !t.files[fd])
		return;
	f = t.files[fd];
	t.files[fd] = NULL;
	hauli_sim_file_put(f);
}

void hauli_sim_fds_end(void)
{
	for (int fd = 0; fd < t.n; fd++) {
		if (!t.files[fd])
			continue;
		drop(fd);
		HAULI_SIM_REAL(close)(fd);
	}
	for (int fd = 0; fd < LOWEST; fd++)
		if (t.fillers & UINT32_C(1) << fd)
			HAULI_SIM_REAL(close)(fd);
	HAULI_SIM_REAL(close)(t.reserve);
	free(t.files);
	memset(&t, 0, sizeof(t));
}

/* Those of the host that is gone, who wait for the number no more. */
static void forget_waiters(int fd)
{
	struct hauli_fd_slot *slot = hauli_fd_slot(fd);

	if (slot)
		memset(slot, 0, sizeof(*slot));
}

void hauli_sim_fds_kill(unsigned host)
{
	hauli_sim_files_kill(host);
	for (int fd = 0; fd < t.n; fd++) {
		if (!t.files[fd] || t.files[fd]->host != host)
			continue;
		drop(fd);
		HAULI_SIM_REAL(close)(fd);
		forget_waiters(fd);
	}
}

/* True: there is room for the number. */
static bool grow(int fd)
{
	int n = t.n ? t.n : 64;
	struct hauli_sim_file **more;

	if (fd < t.n)
		return true;
	while (n <= fd)
		n *= 2;
	more = realloc(t.files, (size_t)n * sizeof(more[0]));
	if (!more)
		return false;
	memset(&more[t.n], 0, (size_t)(n - t.n) * sizeof(more[0]));
	t.files = more;
	t.n = n;
	return true;
}

/* The real descriptor fd, or -errno, is new: it holds f. */
static int hold(struct hauli_sim_file *f, int fd)
{
	f->refs++;
	if (fd >= 0 && !grow(fd)) {
		HAULI_SIM_REAL(close)(fd);
		fd = -ENOMEM;
	}
	if (fd < 0) {
		hauli_sim_file_put(f);
		return fd;
	}
	drop(fd); /* whoever has closed it did so without this table */
	f->host = hauli_sim_host();
	t.files[fd] = f;
	return fd;
}

int hauli_sim_fds_add(struct hauli_sim_file *f, int flags)
{
	int how = flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD;
	int fd = HAULI_SIM_REAL(fcntl)(t.reserve, how, 0);

	return hold(f, fd < 0 ? -errno : fd);
}

int hauli_sim_fds_add_pair(
	struct hauli_sim_file *a, struct hauli_sim_file *b, int flags, int fds[2])
{
	int first = hauli_sim_fds_add(a, flags), second;

	if (first < 0) {
		b->refs++;
		hauli_sim_file_put(b);
		return first;
	}
	second = hauli_sim_fds_add(b, flags);
	if (second < 0) {
		HAULI_SIM_REAL(close)(first);
		drop(first);
		return second;
	}
	fds[0] = first;
	fds[1] = second;
	return 0;
}

int hauli_sim_fds_add_at(struct hauli_sim_file *f, int fd)
{
	return hold(f, fd);
}

struct hauli_sim_file *hauli_sim_fds_file(int fd)
{
	return hauli_sim_is_on() && fd >= 0 && fd < t.n ? t.files[fd] : NULL;
}

static int fails(const char *call)
{
	int err;

	return hauli_sim_fails(call, &err) ? err : 0;
}

static void begin_call(void)
{
	(void)hauli_sim_ticks();
	hauli_sim_step();
}

struct hauli_sim_file *hauli_sim_fds_enter(const char *call, int fd, int *err)
{
	struct hauli_sim_file *f;

	if (err)
		*err = 0;
	if (!hauli_sim_is_on())
		return NULL;
	begin_call();
	f = hauli_sim_fds_file(fd);
	if (f && err)
		*err = fails(call);
	return f;
}

bool hauli_sim_fds_enter_new(const char *call, int *err)
{
	if (!hauli_sim_is_on())
		return false;
	begin_call();
	*err = fails(call);
	return true;
}

void hauli_sim_fds_passed(void)
{
	int err = errno;

	if (hauli_sim_is_on())
		hauli_sim_file_changed(&hauli_sim_fds_kernel, UINT32_MAX);
	errno = err;
}

ssize_t hauli_sim_fds_result(ssize_t n)
{
	if (n >= 0)
		return n;
	errno = (int)-n;
	return -1;
}

HAULI_SIM_REPLACED int close(int fd)
{
	struct hauli_sim_file *f = hauli_sim_fds_enter("close", fd, NULL);
	int rc = HAULI_SIM_REAL(close)(fd);

	if (f)
		drop(fd);
	else
		hauli_sim_fds_passed();
	return rc;
}

/* The number `to` is that of the same file as `from`, or -errno: for the kernel it is so. */
static int duplicated(int from, int to)
{
	struct hauli_sim_file *f = hauli_sim_fds_file(from);

	if (to < 0)
		return to;
	if (f && from != to)
		return (int)hauli_sim_fds_result(hold(f, to));
	if (from != to && hauli_sim_is_on())
		drop(to);
	hauli_sim_fds_passed();
	return to;
}

HAULI_SIM_REPLACED int dup(int fd)
{
	(void)hauli_sim_fds_enter("dup", fd, NULL);
	return duplicated(fd, HAULI_SIM_REAL(dup)(fd));
}

HAULI_SIM_REPLACED int dup2(int fd, int to)
{
	(void)hauli_sim_fds_enter("dup2", fd, NULL);
	return duplicated(fd, HAULI_SIM_REAL(dup2)(fd, to));
}

HAULI_SIM_REPLACED int dup3(int fd, int to, int flags)
{
	(void)hauli_sim_fds_enter("dup3", fd, NULL);
	return duplicated(fd, HAULI_SIM_REAL(dup3)(fd, to, flags));
}

#define SETTABLE (O_NONBLOCK | O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME)

static int control(int fd, int what, void *arg)
{
	struct hauli_sim_file *f = hauli_sim_fds_enter("fcntl", fd, NULL);

	if (what == F_DUPFD || what == F_DUPFD_CLOEXEC)
		return duplicated(fd, HAULI_SIM_REAL(fcntl)(fd, what, arg));
	if (!f)
		return HAULI_SIM_REAL(fcntl)(fd, what, arg);
	switch (what) {
	case F_GETFL:
		return f->flags;
	case F_SETFL:
		f->flags = (f->flags & ~SETTABLE) | ((int)(intptr_t)arg & SETTABLE);
		return 0;
	case F_GETFD:
	case F_SETFD:
		return HAULI_SIM_REAL(fcntl)(fd, what, arg);
	default:
		errno = EINVAL;
		return -1;
	}
}

/* By both names: which one a program has depends on its _FILE_OFFSET_BITS. */
HAULI_SIM_REPLACED int hauli_sim_fds_fcntl(int fd, int what, ...) __asm__("fcntl");
int hauli_sim_fds_fcntl(int fd, int what, ...)
{
	va_list args;
	void *arg;

	va_start(args, what);
	arg = va_arg(args, void *);
	va_end(args);
	return control(fd, what, arg);
}

HAULI_SIM_REPLACED int hauli_sim_fds_fcntl64(int fd, int what, ...) __asm__("fcntl64");
int hauli_sim_fds_fcntl64(int fd, int what, ...)
{
	va_list args;
	void *arg;

	va_start(args, what);
	arg = va_arg(args, void *);
	va_end(args);
	return control(fd, what, arg);
}

HAULI_SIM_REPLACED int ioctl(int fd, unsigned long what, ...)
{
	struct hauli_sim_file *f = hauli_sim_fds_enter("ioctl", fd, NULL);
	va_list args;
	void *arg;

	va_start(args, what);
	arg = va_arg(args, void *);
	va_end(args);
	if (!f)
		return HAULI_SIM_REAL(ioctl)(fd, what, arg);
	switch (what) {
	case FIONBIO:
		f->flags = (f->flags & ~O_NONBLOCK) | (*(int *)arg ? O_NONBLOCK : 0);
		return 0;
	case FIONREAD:
		if (!f->kind->readable)
			break;
		*(int *)arg = f->kind->readable(f);
		return 0;
	case FIOCLEX:
	case FIONCLEX:
		return HAULI_SIM_REAL(fcntl)(fd, F_SETFD, what == FIOCLEX ? FD_CLOEXEC : 0);
	default:
		break;
	}
	errno = ENOTTY;
	return -1;
}
