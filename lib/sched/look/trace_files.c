/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of the timelines: a thread writes them when it is asked to (trace/ask.h), or when a signal
 * comes, which it takes as the threads of dump_signal.c do. After a crash the handler of the signal
 * writes the file itself, with calls that are async-signal-safe.
 */
#include "sched/look/trace_files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <haul/trace.h>

#include "base/assert.h"
#include "base/forks.h"
#include "sched/look/dump_signal.h"
#include "sched/state/self.h"
#include "trace/ask.h"
#include "trace/write.h"

#define PATH_MOST 4000
#define REST_US 1000000 /* between two files */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock. */
static char path[PATH_MOST + 1], part[PATH_MOST + 8];
static bool started;
static unsigned forks_at_first; /* hauli_forks when the thread was started */
/* Read by the handler of a crash. */
static struct hauli_u8_shared on_crash;

/* 0 or an errno, negated. */
static int write_to(const char *name, enum haul_trace_why why)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), err;

	if (fd < 0)
		return -errno;
	err = hauli_trace_write(fd, why);
	return close(fd) != 0 && !err ? -errno : err;
}

static void write_file(enum haul_trace_why why)
{
	int err;

	pthread_mutex_lock(&lock);
	err = write_to(part, why);
	if (!err && rename(part, path) != 0)
		err = -errno;
	if (err && err != -ENOENT)
		fprintf(stderr, "haul: no trace in %s: %s\n", path, strerror(-err));
	if (err)
		unlink(part);
	pthread_mutex_unlock(&lock);
}

static void *write_files(void *arg)
{
	pthread_setname_np(pthread_self(), "trace");
	for (;;) {
		write_file(hauli_trace_asks_wait());
		usleep(REST_US);
		hauli_trace_asks_next();
	}
	return NULL;
}

static void handle(int sig)
{
	hauli_trace_ask(NULL, HAUL_TRACE_SIGNAL);
}

/* Under the lock. The thread takes the signal alone, and blocks all others, which are the
 * program's. */
static int start_thread(int sig)
{
	sigset_t mask, before;
	pthread_t thread;
	int err;

	if (started && forks_at_first == hauli_forks)
		return 0;
	sigfillset(&mask);
	if (sig)
		sigdelset(&mask, sig);
	pthread_sigmask(SIG_SETMASK, &mask, &before);
	hauli_trace_asks_begin();
	err = pthread_create(&thread, NULL, write_files, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return -EAGAIN;
	pthread_detach(thread);
	started = true;
	forks_at_first = hauli_forks;
	return 0;
}

static int take_signal(int sig)
{
	const struct sigaction sa = {.sa_handler = handle, .sa_flags = SA_RESTART | SA_ONSTACK};
	sigset_t it;

	if (sig == 0)
		return 0;
	if (sigaction(sig, &sa, NULL) != 0)
		return -EINVAL;
	sigemptyset(&it);
	sigaddset(&it, sig);
	pthread_sigmask(SIG_BLOCK, &it, NULL);
	return 0;
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
	pthread_mutex_lock(&lock);
	memcpy(path, opts->path, len + 1);
	snprintf(part, sizeof(part), "%s.part", path);
	err = take_signal(opts->sig);
	if (!err)
		err = start_thread(opts->sig);
	pthread_mutex_unlock(&lock);
	if (err)
		return err;
	hauli_u8_shared_init(&on_crash, opts->on_crash);
	hauli_u64_shared_set(&hauli_trace_limits.slice, limit(opts->slice_ns));
	hauli_u64_shared_set(&hauli_trace_limits.gap, limit(opts->gap_ns));
	hauli_u8_shared_init(&hauli_trace_limits.drops, opts->on_drop);
	return 0;
}

unsigned hauli_trace_threads(void)
{
	unsigned n;

	pthread_mutex_lock(&lock);
	n = started && forks_at_first == hauli_forks;
	pthread_mutex_unlock(&lock);
	return n;
}

void haul_trace_trigger(void)
{
	hauli_trace_ask(hauli_here()->timeline, HAUL_TRACE_PROGRAM);
}

/* Not by way of `part`: the thread may be writing that. */
void hauli_trace_on_crash(void)
{
	if (hauli_u8_shared_get(&on_crash))
		(void)write_to(path, HAUL_TRACE_CRASH);
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
	hauli_last_put(&c->timeline->ring, HAUL_TRACE_VALUE, (uint64_t)value);
}
