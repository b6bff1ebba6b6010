/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "coro/fiber.h"
#include "coro/stack.h"

static atomic_uint calls, failed, first; /* first: 0: not armed */
static atomic_bool lasts;
static const char *_Atomic only, *_Atomic last;
static _Atomic size_t mapped, limit = SIZE_MAX;

void faults_arm(struct faults f)
{
	calls = failed = 0;
	last = "none";
	lasts = f.lasts;
	only = f.only;
	first = f.nth;
}

unsigned faults_disarm(const char **name)
{
	first = 0;
	*name = last;
	return failed;
}

void faults_limit(size_t bytes)
{
	limit = bytes ? bytes : SIZE_MAX;
}

size_t faults_mapped(void)
{
	return mapped;
}

/* True if this call is to fail. */
static bool fails(const char *name)
{
	const char *named = only;
	unsigned nth = first, n;

	if (nth == 0 || (named && strcmp(name, named) != 0))
		return false;
	n = ++calls;
	if (n < nth || (n > nth && !lasts))
		return false;
	last = name;
	failed++;
	return true;
}

/* A call that fails with an error. */
#define FAULT(type, name, parameters, arguments, failure, error) \
	type __real_##name parameters;                           \
	type __wrap_##name parameters;                           \
	type __wrap_##name parameters                            \
	{                                                        \
		if (!fails(#name))                               \
			return __real_##name arguments;          \
		errno = error;                                   \
		return failure;                                  \
	}

FAULT(void *, malloc, (size_t n), (n), NULL, ENOMEM)
FAULT(void *, realloc, (void *p, size_t n), (p, n), NULL, ENOMEM)
FAULT(void *, aligned_alloc, (size_t align, size_t n), (align, n), NULL, ENOMEM)
FAULT(char *, strdup, (const char *s), (s), NULL, ENOMEM)
FAULT(int, vasprintf, (char **s, const char *format, va_list ap), (s, format, ap), -1, ENOMEM)
FAULT(FILE *, open_memstream, (char **s, size_t *n), (s, n), NULL, ENOMEM)
FAULT(FILE *, fmemopen, (void *s, size_t n, const char *mode), (s, n, mode), NULL, ENOMEM)
FAULT(FILE *, fopen64, (const char *path, const char *mode), (path, mode), NULL, EMFILE)
FAULT(DIR *, opendir, (const char *path), (path), NULL, EMFILE)
FAULT(int, socket, (int family, int type, int proto), (family, type, proto), -1, EMFILE)
FAULT(int, eventfd, (unsigned n, int flags), (n, flags), -1, EMFILE)
FAULT(int, epoll_create1, (int flags), (flags), -1, EMFILE)
FAULT(int, epoll_ctl, (int e, int op, int fd, struct epoll_event *ev), (e, op, fd, ev), -1, ENOSPC)
struct io_uring;
struct io_uring_params;
FAULT(int, io_uring_queue_init_params,
	(unsigned n, struct io_uring *ring, struct io_uring_params *p), (n, ring, p), -ENOMEM,
	ENOMEM)
FAULT(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1, EMFILE)
FAULT(int, dup, (int fd), (fd), -1, EMFILE)
FAULT(int, pthread_create,
	(pthread_t * id, const pthread_attr_t *attr, void *(*fn)(void *), void *arg),
	(id, attr, fn, arg), EAGAIN, EAGAIN)
FAULT(int, pthread_atfork, (void (*a)(void), void (*b)(void), void (*c)(void)), (a, b, c), ENOMEM,
	ENOMEM)

/* A sanitized build notes each stack, and has no way to do without. */
static bool is_note(size_t n, size_t size)
{
	return (HAULI_ASAN || HAULI_TSAN) && n == 1 &&
		(size == sizeof(struct hauli_fiber) || size == sizeof(struct hauli_stack));
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return is_note(n, size) || !fails("calloc") ? __real_calloc(n, size) : NULL;
}

int __real_open64(const char *path, int flags, mode_t mode);
int __wrap_open64(const char *path, int flags, mode_t mode);
int __wrap_open64(const char *path, int flags, mode_t mode)
{
	if (!fails("open"))
		return __real_open64(path, flags, mode);
	errno = EMFILE;
	return -1;
}

void *__real_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	void *p = MAP_FAILED;

	errno = ENOMEM;
	if (bytes <= limit && !fails("mmap"))
		p = __real_mmap64(at, bytes, prot, flags, fd, offset);
	if (p != MAP_FAILED && !(flags & MAP_FIXED))
		mapped += bytes;
	return p;
}

int __real_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes)
{
	mapped -= bytes;
	return __real_munmap(at, bytes);
}

/* Only the registration for membarrier(2), which an old kernel lacks. */
long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	bool registers = number == SYS_membarrier && a == MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;

	if (!registers || !fails("membarrier"))
		return __real_syscall(number, a, b, c, d, e, f);
	errno = ENOSYS;
	return -1;
}
