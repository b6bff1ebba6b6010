/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: a call stack that is returned is that of one instant, at which the thread waited.
 *
 * The kernel counts the voluntary context switches of a thread. If the count is the same before and
 * after a copy of the stack, and the thread waits both times, it has not run in between.
 *
 * The copy is unwound, so the thread may continue meanwhile. Words in the copy that point into the
 * original are adjusted to point into the copy. /proc gives only the stack pointer and the program
 * counter. The frame pointer is unknown, so it begins with an address in the middle of `dead`, an
 * area whose words all hold that address. A frame that uses the frame pointer before an inner frame
 * has restored it reads a program counter from there, which is in no code, and the walk ends: where
 * code keeps frame pointers a stack may be too short, but is never wrong.
 */
#include "sched/look/foreign.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/race.h"
#include "coro/trace.h"
#include "sched/look/peek.h"

#define COPY_BYTES ((size_t)16 << 10)
#define DEAD_WORDS 512

/* Reads the beginning of /proc/self/task/TID/NAME. False: it cannot be read. */
static bool read_of(uint32_t tid, const char *name, char *text, size_t len)
{
	char path[64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%" PRIu32 "/%s", tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, len - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* True if the thread is in an interruptible sleep; *times: its number of voluntary context
 * switches. */
static bool waits(uint32_t tid, uint64_t *times)
{
	char text[8192];
	const char *state, *count;

	if (!read_of(tid, "status", text, sizeof(text)))
		return false;
	state = strstr(text, "\nState:\tS");
	count = strstr(text, "\nvoluntary_ctxt_switches:");
	return state && count && sscanf(count, "%*s %" SCNu64, times) == 1;
}

/* True if the thread is in a system call. */
static bool see_call(uint32_t tid, struct hauli_foreign *f)
{
	char text[256];

	/* Number, six arguments, stack pointer, program counter; or "running". The number is -1 if
	 * the thread came into the kernel otherwise. */
	return read_of(tid, "syscall", text, sizeof(text)) &&
		sscanf(text, "%ld %*s %*s %*s %*s %*s %*s %" SCNxPTR " %" SCNxPTR, &f->call, &f->sp,
			&f->pc) == 3 &&
		f->call >= 0;
}

bool hauli_foreign_look(uint32_t tid, struct hauli_foreign *f)
{
	return waits(tid, &f->waits) && see_call(tid, f) && hauli_foreign_still_waits(tid, f);
}

bool hauli_foreign_still_waits(uint32_t tid, const struct hauli_foreign *f)
{
	uint64_t now;

	return waits(tid, &now) && now == f->waits;
}

/* Copies n words of the stack from sp on. By a system call, as a sanitizer reports reads of
 * another's stack. */
static bool copy(uintptr_t *to, uintptr_t sp, size_t n)
{
	return hauli_peek(to, (const void *)sp, n * sizeof(to[0]));
}

static bool is_in(const void *from, size_t bytes, const void *p)
{
	return (const char *)p >= (const char *)from &&
		(const char *)p < (const char *)from + bytes;
}

HAULI_MAY_RACE unsigned hauli_foreign_trace(uint32_t tid, const struct hauli_foreign *f,
	const struct hauli_stack *stack, void **pcs, unsigned most)
{
	uintptr_t words[COPY_BYTES / sizeof(uintptr_t) + DEAD_WORDS], *dead, end = (uintptr_t)stack;
	struct hauli_ctx ctx = {.pc = (void *)f->pc};
	size_t n;

	HAULI_RACES(stack);
	if (f->sp >= end || f->sp < end - stack->bytes || f->sp % sizeof(words[0]))
		return 0;
	n = (end - f->sp) / sizeof(words[0]);
	if (n > COPY_BYTES / sizeof(words[0]))
		n = COPY_BYTES / sizeof(words[0]);
	if (!copy(words, f->sp, n) || !hauli_foreign_still_waits(tid, f))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (words[i] >= f->sp && words[i] < end)
			words[i] += (uintptr_t)words - f->sp;
	dead = &words[n + DEAD_WORDS / 2];
	for (size_t i = 0; i < DEAD_WORDS; i++)
		words[n + i] = (uintptr_t)dead;
	ctx.sp = words;
	ctx.fp = ctx.base = dead;
	n = hauli_trace(&ctx, pcs, most);
	while (n > 0 && is_in(words, sizeof(words), pcs[n - 1])) /* read from `dead` */
		n--;
	return (unsigned)n;
}

bool hauli_foreign_is_lock(const struct hauli_foreign *f)
{
	return f->call == SYS_futex;
}

#define THREAD "make the call by haul_offload()"
#define SLEEP "use haul_sleep()"
#define LOCK "use haul_mutex_lock() or another object of haul/sync.h"

static const struct call {
	long number;
	const char *name, *remedy;
} calls[] = {
	{SYS_clock_nanosleep, "clock_nanosleep", SLEEP},
	{SYS_nanosleep, "nanosleep", SLEEP},
	{SYS_futex, "futex", LOCK},
	{SYS_read, "read", THREAD},
	{SYS_readv, "readv", THREAD},
	{SYS_write, "write", THREAD},
	{SYS_writev, "writev", THREAD},
	{SYS_recvfrom, "recvfrom", THREAD},
	{SYS_recvmsg, "recvmsg", THREAD},
	{SYS_sendto, "sendto", THREAD},
	{SYS_sendmsg, "sendmsg", THREAD},
	{SYS_accept, "accept", THREAD},
	{SYS_accept4, "accept4", THREAD},
	{SYS_connect, "connect", THREAD},
	{SYS_wait4, "wait4", THREAD},
	{SYS_openat, "openat", THREAD},
	{SYS_flock, "flock", THREAD},
	{SYS_fcntl, "fcntl", THREAD},
	{SYS_ppoll, "ppoll", THREAD},
	{SYS_pselect6, "pselect6", THREAD},
	{SYS_epoll_pwait, "epoll_pwait", THREAD},
	{SYS_rt_sigtimedwait, "rt_sigtimedwait", THREAD},
#ifdef SYS_poll /* the older calls, which some architectures lack */
	{SYS_poll, "poll", THREAD},
	{SYS_select, "select", THREAD},
	{SYS_epoll_wait, "epoll_wait", THREAD},
	{SYS_pause, "pause", THREAD},
#endif
	{-1, "a system call", THREAD},
};

static const struct call *call_of(const struct hauli_foreign *f)
{
	const struct call *c = calls;

	while (c->number >= 0 && c->number != f->call)
		c++;
	return c;
}

const char *hauli_foreign_name(const struct hauli_foreign *f)
{
	return call_of(f)->name;
}

const char *hauli_foreign_remedy(const struct hauli_foreign *f)
{
	return call_of(f)->remedy;
}
