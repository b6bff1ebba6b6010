/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of the timelines: a thread writes them when it is asked to (trace/ask.h), or when a signal
 * comes, which it takes as the threads of dump_signal.c do. After a crash the handler of the signal
 * writes the file itself, with calls that are async-signal-safe.
 *
 * Promise: a reader of the path finds a whole file, or none; and after a crash that of the crash.
 *
 * A writer fills a file of another name, and renames it when it is whole. The thread and callers of
 * haul_trace_save() take turns by a lock. They rename under a second one, and leave their file
 * away if that is taken. The handler of a crash takes only the second lock, waits for it as long as
 * a rename takes, and keeps it: so nobody renames an older file afterwards. fork() waits for the
 * rename, since it is also done under the lock of the process.
 *
 * The lock of the process is held for a few system calls, and never while a file is written:
 * carriers that look whether the runtime is quiet take it, too.
 */
#include "sched/look/trace_files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <haul/trace.h>

#include "base/assert.h"
#include "base/forks.h"
#include "base/shared.h"
#include "conc/word.h"
#include "sched/look/dump_signal.h"
#include "sched/state/self.h"
#include "trace/ask.h"
#include "trace/write.h"

#define PATH_MOST 4000
#define REST_US 1000000 /* between two files */

/* What haul_trace_to() was told. Constant; kept until the end, as a handler may be reading it. */
struct target {
	struct target *before;
	bool on_crash;
	char path[PATH_MOST + 1];
	char part[PATH_MOST + 16], part_of_crash[PATH_MOST + 16];
};

static struct hauli_ptr_published target; /* the latest; NULL: none */
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static struct hauli_trylock renaming;
/* Under the lock of the process. */
static bool started;
static unsigned forks_at_first; /* hauli_forks when the thread was started */
static sigset_t taken; /* the signals of the thread */

/* A device, or a pipe, is not to be replaced. */
static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) != 0 || S_ISREG(st.st_mode);
}

#define NOTHING 1 /* no runtime keeps a timeline */

/* Writes all to a file. flags: of open(2). Returns 0, NOTHING, or an errno, negated. */
static int fill(const char *name, int flags, enum haul_trace_why why)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC | flags, 0600), err;

	if (fd < 0)
		return -errno;
	err = hauli_trace_write(fd, why);
	err = err == -ENOENT ? NOTHING : err;
	return close(fd) != 0 && !err ? -errno : err;
}

/* The file `part` is whole, if err is 0. */
static int end_part(const char *part, const char *path, int err)
{
	if (!err && rename(part, path) != 0)
		err = -errno;
	if (err)
		unlink(part);
	return err;
}

static int put_in_place(const struct target *to, int err)
{
	hauli_process_lock();
	if (!hauli_trylock_take(&renaming)) {
		unlink(to->part); /* another thread has crashed, and writes the last file */
	} else {
		err = end_part(to->part, to->path, err);
		hauli_trylock_release(&renaming);
	}
	hauli_process_unlock();
	return err;
}

/* As fill(). */
static int write_file(enum haul_trace_why why)
{
	const struct target *to;
	int err;

	pthread_mutex_lock(&writing);
	to = hauli_ptr_published_get(&target);
	if (is_file(to->path))
		err = put_in_place(to, fill(to->part, O_CREAT | O_TRUNC, why));
	else
		err = fill(to->path, 0, why);
	pthread_mutex_unlock(&writing);
	return err;
}

/* The thread takes the signals that haul_trace_to() was given, and blocks all others, which are the
 * program's. */
static void hear(void)
{
	sigset_t mask;

	sigfillset(&mask);
	hauli_process_lock();
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (sigismember(&taken, sig) == 1)
			sigdelset(&mask, sig);
	hauli_process_unlock();
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void tell(int err)
{
	const struct target *to = hauli_ptr_published_get(&target);

	if (err < 0)
		fprintf(stderr, "haul: no trace in %s: %s\n", to->path, strerror(-err));
}

static void *write_files(void *arg)
{
	enum haul_trace_why why;

	pthread_setname_np(pthread_self(), "trace");
	for (;;) {
		hear();
		if (!hauli_trace_asks_wait(&why))
			continue;
		tell(write_file(why));
		usleep(REST_US);
		hauli_trace_asks_next();
	}
	return NULL;
}

static void handle(int sig)
{
	hauli_trace_ask(NULL, HAUL_TRACE_SIGNAL);
}

static bool is_started(void)
{
	return started && forks_at_first == hauli_forks;
}

/* Under the lock of the process. The thread unblocks its signals itself. In a child of fork() no
 * other thread of haul's is left, and locks may have been those of the parent's. */
static int start_thread(void)
{
	sigset_t all, before;
	pthread_t thread;
	int err;

	if (is_started()) {
		hauli_trace_asks_wake();
		return 0;
	}
	pthread_mutex_init(&writing, NULL);
	hauli_trace_asks_begin();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, write_files, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return -EAGAIN;
	pthread_detach(thread);
	started = true;
	forks_at_first = hauli_forks;
	return 0;
}

/* Under the lock of the process. */
static int take_signal(int sig)
{
	const struct sigaction sa = {.sa_handler = handle, .sa_flags = SA_RESTART | SA_ONSTACK};

	if (!is_started())
		sigemptyset(&taken);
	if (sig == 0)
		return 0;
	if (sigaction(sig, &sa, NULL) != 0)
		return -EINVAL;
	sigaddset(&taken, sig);
	return 0;
}

static void block_here(int sig)
{
	sigset_t it;

	sigemptyset(&it);
	sigaddset(&it, sig);
	pthread_sigmask(SIG_BLOCK, &it, NULL);
}

/* Under the lock of the process. The target of these options, which may have been given before.
 * NULL: no memory. */
static struct target *target_of(const struct haul_trace_opts *opts)
{
	struct target *latest = hauli_ptr_published_get(&target), *t = latest;

	while (t && (strcmp(t->path, opts->path) != 0 || t->on_crash != opts->on_crash))
		t = t->before;
	if (t)
		return t;
	hauli_shared_begin();
	t = malloc(sizeof(*t));
	hauli_shared_end();
	if (!t)
		return NULL;
	t->before = latest;
	t->on_crash = opts->on_crash;
	snprintf(t->path, sizeof(t->path), "%s", opts->path);
	snprintf(t->part, sizeof(t->part), "%s.part", opts->path);
	snprintf(t->part_of_crash, sizeof(t->part_of_crash), "%s.crash", opts->path);
	return t;
}

/* Under the lock of the process. */
static int begin(const struct haul_trace_opts *opts)
{
	struct target *to = target_of(opts);
	int err;

	if (!to)
		return -ENOMEM;
	err = take_signal(opts->sig);
	if (err)
		return err;
	hauli_ptr_published_set(&target, to);
	return start_thread();
}

static uint64_t limit(uint64_t ns)
{
	return ns == 0 ? UINT64_MAX : hauli_ticks_from_ns(ns);
}

int haul_trace_to(const struct haul_trace_opts *opts)
{
	size_t len;
	int err;

	HAUL_MISUSE_IF(!opts, "the options are NULL");
	len = opts->path ? strnlen(opts->path, PATH_MOST + 1) : 0;
	if (len == 0 || len > PATH_MOST || (opts->sig != 0 && hauli_dump_refuses(opts->sig)))
		return -EINVAL;
	hauli_clock_init();
	hauli_process_lock();
	err = begin(opts);
	hauli_process_unlock();
	if (err)
		return err;
	if (opts->sig != 0)
		block_here(opts->sig);
	hauli_u64_shared_set(&hauli_trace_limits.slice, limit(opts->slice_ns));
	hauli_u64_shared_set(&hauli_trace_limits.gap, limit(opts->gap_ns));
	hauli_u8_shared_init(&hauli_trace_limits.drops, opts->on_drop);
	return 0;
}

unsigned hauli_trace_threads(void)
{
	unsigned n;

	hauli_process_lock();
	n = is_started();
	hauli_process_unlock();
	return n;
}

int haul_trace_save(void)
{
	int err = hauli_trace_threads() > 0 ? write_file(HAUL_TRACE_ASKED) : NOTHING;

	return err == NOTHING ? -ENOENT : err;
}

void haul_trace_trigger(void)
{
	hauli_trace_ask(hauli_here()->timeline, HAUL_TRACE_PROGRAM);
}

bool hauli_trace_is_on_crash(void)
{
	const struct target *to = hauli_ptr_published_get(&target);

	return to && to->on_crash;
}

/* A pipe without a reader does not keep the program from its end. */
void hauli_trace_on_crash(void)
{
	const struct target *to = hauli_ptr_published_get(&target);

	if (!to || !to->on_crash)
		return;
	if (!is_file(to->path)) {
		(void)fill(to->path, O_NONBLOCK, HAUL_TRACE_CRASH);
		return;
	}
	while (!hauli_trylock_take(&renaming))
		sched_yield();
	(void)end_part(to->part_of_crash, to->path,
		fill(to->part_of_crash, O_CREAT | O_TRUNC, HAUL_TRACE_CRASH));
}

const char *haul_trace_begin_(const char *name)
{
	struct haul_carrier *c = hauli_here();

	if (!c->timeline)
		return NULL;
	hauli_timeline_put(c->timeline, HAUL_TRACE_BEGIN, 0, (uintptr_t)c->current,
		hauli_timeline_name(c->timeline, name));
	return name;
}

/* On another carrier, if the coroutine was stolen. */
void haul_trace_end_(void)
{
	struct haul_carrier *c = hauli_here();

	if (c->timeline)
		hauli_timeline_put(c->timeline, HAUL_TRACE_END, 0, (uintptr_t)c->current, 0);
}

void haul_trace_mark_(const char *name)
{
	struct haul_carrier *c = hauli_here();

	if (c->timeline)
		hauli_timeline_put(c->timeline, HAUL_TRACE_MARK, 0, (uintptr_t)c->current,
			hauli_timeline_name(c->timeline, name));
}

void haul_trace_count_(const char *name, int64_t value)
{
	struct haul_carrier *c = hauli_here();

	if (!c->timeline)
		return;
	hauli_timeline_put(
		c->timeline, HAUL_TRACE_COUNT, 0, 0, hauli_timeline_name(c->timeline, name));
	hauli_timeline_put_value(c->timeline, value);
}
