/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of timelines: when they are written, that they are whole, and that nobody waits for them.
 * Signals and their thread stay until the end of a process, so most of this is in a child. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "coro/fiber.h"
#include "coro/overflow.h"
#include "coro_child.h"
#include "sched/look/trace_files.h"
#include "support/runtime.h"
#include "support/suite.h"
#include "support/timeline.h"

/* A child has no threads under TSan; faults are the sanitizers'. */
#define CHILDREN (!HAULI_TSAN && !HAULI_ASAN)

static char dir[] = "/tmp/haul-trace-XXXXXX", path[64], part[80];
static struct haul_runtime *rt;
static int wait_pipe[2]; /* a byte lets a child go on */

static void setup(void)
{
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/trace", dir);
	snprintf(part, sizeof(part), "%s.crash", path);
	ck_assert_int_eq(pipe(wait_pipe), 0);
}

static void teardown(void)
{
	unlink(path);
	unlink(part);
	snprintf(part, sizeof(part), "%s.part", path);
	unlink(part); /* the thread may have been at it */
	close(wait_pipe[0]);
	close(wait_pipe[1]);
	ck_assert_int_eq(rmdir(dir), 0); /* nothing else is left */
}

static void start(unsigned carriers)
{
	struct haul_plan_opts opts = {.carriers = carriers};
	struct haul_plan *plan = NULL;

	TIMELINE_IS(haul_plan_create(&plan, &opts, NULL, 0) == 0);
	TIMELINE_IS(
		haul_start(&rt,
			&(struct haul_runtime_opts){
				.plan = plan, .trace_events = 4096, .watchdog_ns = HAUL_FOREVER},
			NULL, 0) == 0);
	haul_plan_destroy(plan);
}

static void trace_to(struct haul_trace_opts opts)
{
	opts.path = path;
	TIMELINE_IS(haul_trace_to(&opts) == 0);
}

/* Waits for the file, reads it, and removes it. Returns why it was written. */
static enum haul_trace_why wait_for_file(void)
{
	struct timeline_file *f;
	enum haul_trace_why why;
	int fd;

	WAIT_UNTIL((fd = open(path, O_RDONLY | O_CLOEXEC)) >= 0);
	f = timeline_open(fd);
	why = (enum haul_trace_why)f->head.why;
	close(fd);
	timeline_close(f);
	unlink(path);
	return why;
}

static void *computes(void *arg)
{
	for (uint64_t until = haul_in(3 * HAUL_MS); haul_now() < until;)
		;
	haul_yield();
	return NULL;
}

static void ask_in_each_way(void *arg)
{
	trace_to((struct haul_trace_opts){.sig = SIGUSR2});
	start(1);
	kill(getpid(), SIGUSR2);
	TIMELINE_IS(wait_for_file() == HAUL_TRACE_SIGNAL);
	WAIT_UNTIL((haul_trace_trigger(), access(path, R_OK) == 0));
	TIMELINE_IS(wait_for_file() == HAUL_TRACE_PROGRAM);
	trace_to((struct haul_trace_opts){.slice_ns = HAUL_MS});
	WAIT_UNTIL((run_on(rt, 0, computes, NULL), access(path, R_OK) == 0));
	TIMELINE_IS(wait_for_file() == HAUL_TRACE_SLICE);
	runtime_stop(rt);
}

START_TEST(files_when_asked_for)
{
	struct child c;

	if (!CHILDREN)
		return;
	setup();
	c = child_run(ask_in_each_way, NULL);
	CHILD_EXITED(c, 0);
	teardown();
}
END_TEST

static void *tells_its_thread(void *arg)
{
	return (void *)(intptr_t)gettid();
}

/* Viewers need it. */
START_TEST(a_ring_has_its_thread)
{
	struct timeline_file *f;

	start(2);
	for (unsigned i = 0; i < 2; i++) {
		void *tid = run_on(rt, i, tells_its_thread, NULL);

		f = timeline_take();
		ck_assert_uint_eq(f->rings[i].head.tid, (uintptr_t)tid);
		timeline_close(f);
	}
	runtime_stop(rt);
}
END_TEST

/* Of calls without a signal, with one, and with another. */
static void ask_by_two_signals(void *arg)
{
	start(1);
	trace_to((struct haul_trace_opts){0});
	trace_to((struct haul_trace_opts){.sig = SIGUSR2});
	trace_to((struct haul_trace_opts){.sig = SIGUSR1});
	kill(getpid(), SIGUSR1);
	TIMELINE_IS(wait_for_file() == HAUL_TRACE_SIGNAL);
	WAIT_UNTIL((kill(getpid(), SIGUSR2), access(path, R_OK) == 0));
	TIMELINE_IS(wait_for_file() == HAUL_TRACE_SIGNAL);
	TIMELINE_IS(hauli_trace_threads() == 1);
	runtime_stop(rt);
}

START_TEST(each_signal_is_heard)
{
	struct child c;

	if (!CHILDREN)
		return;
	setup();
	c = child_run(ask_by_two_signals, NULL);
	CHILD_EXITED(c, 0);
	teardown();
}
END_TEST

static void save(void *arg)
{
	TIMELINE_IS(haul_trace_save() == -ENOENT);
	trace_to((struct haul_trace_opts){0});
	TIMELINE_IS(haul_trace_save() == -ENOENT); /* no timeline */
	start(1);
	for (int i = 0; i < 3; i++) {
		haul_trace_trigger(); /* one more, at about the same time */
		TIMELINE_IS(haul_trace_save() == 0);
		wait_for_file();
	}
	runtime_stop(rt);
	TIMELINE_IS(haul_trace_to(&(struct haul_trace_opts){.path = "/proc/none/x"}) == 0);
	start(1);
	TIMELINE_IS(haul_trace_save() == -ENOENT);
	runtime_stop(rt);
}

START_TEST(a_file_now)
{
	struct child c;

	if (!CHILDREN)
		return;
	setup();
	c = child_run(save, NULL);
	CHILD_EXITED(c, 0);
	teardown();
}
END_TEST

static void save_once(void *arg)
{
	TIMELINE_IS(haul_trace_save() == -ENOENT);
	trace_to((struct haul_trace_opts){0});
	TIMELINE_IS(haul_trace_save() == 0);
}

/* A child of fork() has no thread, and gets one by another call. */
static void save_in_a_child(void *arg)
{
	struct child c;

	start(1);
	trace_to((struct haul_trace_opts){.sig = SIGUSR2});
	c = child_run(save_once, NULL);
	TIMELINE_IS(c.status == 0);
	TIMELINE_IS(haul_trace_save() == 0);
	runtime_stop(rt);
}

static void save_into_a_device(void *arg)
{
	struct stat st;

	TIMELINE_IS(haul_trace_to(&(struct haul_trace_opts){.path = "/dev/null"}) == 0);
	start(1);
	TIMELINE_IS(haul_trace_save() == 0);
	TIMELINE_IS(stat("/dev/null", &st) == 0);
	TIMELINE_IS(S_ISCHR(st.st_mode));
	runtime_stop(rt);
}

/* As root, a rename would replace it for all programs of the machine: so it is a link to it. */
START_TEST(a_device_is_written_to)
{
	struct child c;

	if (!CHILDREN)
		return;
	setup();
	ck_assert_int_eq(symlink("/dev/null", path), 0);
	c = child_run(save_into_a_device, NULL);
	CHILD_EXITED(c, 0);
	teardown();
}
END_TEST

START_TEST(a_file_in_a_child_of_fork)
{
	struct child c;

	if (!CHILDREN)
		return;
	setup();
	c = child_run(save_in_a_child, NULL);
	CHILD_EXITED(c, 0);
	teardown();
}
END_TEST

/* The pipe is full, and nobody reads. */
static void *writes(void *arg)
{
	int err = haul_trace_write(*(int *)arg);

	close(*(int *)arg); /* the end, to who reads */
	return (void *)(intptr_t)err;
}

static void *yields(void *arg)
{
	for (int i = 0; i < 8192; i++)
		haul_yield();
	return NULL;
}

START_TEST(a_stop_does_not_wait_for_a_reader)
{
	int fds[2], all = memfd_create("all", 0), left = 0;
	struct timeline_file *f;
	char buf[4096];
	pthread_t thread;
	void *err;
	ssize_t n;

	setup();
	ck_assert_int_eq(pipe(fds), 0);
	start(1);
	run_on(rt, 0, yields, NULL);
	ck_assert_int_eq(pthread_create(&thread, NULL, writes, &fds[1]), 0);
	WAIT_UNTIL(ioctl(fds[0], FIONREAD, &left) == 0 && left >= 65536 - 4096);
	runtime_stop(rt);
	start(1); /* another, in a slot of its own */
	runtime_stop(rt);
	ck_assert_int_eq(haul_trace_write(-1), -ENOENT);
	while ((n = read(fds[0], buf, sizeof(buf))) > 0)
		ck_assert_int_eq(write(all, buf, (size_t)n), n);
	ck_assert_int_eq(n, 0);
	ck_assert_int_eq(pthread_join(thread, &err), 0);
	ck_assert_ptr_null(err);
	f = timeline_open(all);
	ck_assert_uint_eq(f->nb, 1);
	ck_assert_uint_ge(f->rings[0].n, 4000);
	timeline_close(f);
	close(fds[0]);
	close(all);
	teardown();
}
END_TEST

static void *faults(void *arg)
{
	static volatile int *volatile nowhere;
	char c;

	if (arg && read(wait_pipe[0], &c, 1) != 1)
		return NULL;
	*nowhere = 1;
	return NULL;
}

static void begin_to_crash(void)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	trace_to((struct haul_trace_opts){.on_crash = true});
	start(2);
}

static void crash(void *arg)
{
	begin_to_crash();
	run_on(rt, 0, faults, NULL);
}

START_TEST(a_crash)
{
	struct child c;

	if (!CHILDREN)
		return;
	setup();
	c = child_run(crash, NULL);
	CHILD_DIED_BY(c, SIGSEGV);
	ck_assert_uint_eq(c.lines, 1);
	ck_assert_int_eq(wait_for_file(), HAUL_TRACE_CRASH);
	teardown();
}
END_TEST

static void crash_elsewhere(void *arg)
{
	begin_to_crash();
	faults(NULL);
}

static bool explains(int sig, const void *uc)
{
	fputs("haul: it was the PMD\n", stderr);
	return true;
}

static void crash_in_a_pmd(void *arg)
{
	begin_to_crash();
	hauli_overflow_explain_others(explains);
	run_on(rt, 0, faults, NULL);
}

/* On a thread that is no carrier, and where another part of haul has said why. */
START_TEST(a_crash_outside)
{
	struct child c;

	if (!CHILDREN)
		return;
	setup();
	c = child_run(crash_elsewhere, NULL);
	CHILD_DIED_BY(c, SIGSEGV);
	ck_assert_int_eq(wait_for_file(), HAUL_TRACE_CRASH);
	c = child_run(crash_in_a_pmd, NULL);
	CHILD_DIED_BY(c, SIGSEGV);
	ck_assert_uint_eq(c.lines, 1);
	ck_assert_int_eq(wait_for_file(), HAUL_TRACE_CRASH);
	teardown();
}
END_TEST

static void *loses_its_stack(void *arg)
{
#ifdef __x86_64__
	asm volatile("mov $0x40, %%rsp; push %%rax" ::: "memory");
#endif
	return faults(NULL);
}

static void crash_without_a_stack(void *arg)
{
	begin_to_crash();
	run_on(rt, 0, loses_its_stack, NULL);
}

START_TEST(a_crash_whose_stack_cannot_be_followed)
{
	struct child c;

	if (!CHILDREN)
		return;
	setup();
	c = child_run(crash_without_a_stack, NULL);
	CHILD_DIED_BY(c, SIGSEGV);
	ck_assert_msg(strstr(c.said, "haul: SIGSEGV in coroutine"), "%s", c.said);
	ck_assert_int_eq(wait_for_file(), HAUL_TRACE_CRASH);
	teardown();
}
END_TEST

static void crash_twice(void)
{
	begin_to_crash();
	haul_spawn_on(haul_carrier(rt, 1), NULL, faults, "waits", NULL);
	run_on(rt, 0, faults, NULL);
}

/* Reads from fd until there have been so many lines. */
static void read_lines(int fd, int n)
{
	char c;

	while (n > 0 && read(fd, &c, 1) == 1)
		n -= c == '\n';
	ck_assert_int_eq(n, 0);
}

/* The file is a pipe here, so its writer waits until the test reads; and its name was another one
 * until it was whole. */
static struct timeline_file *read_pipe(void)
{
	int fd = open(part, O_RDONLY | O_CLOEXEC), all = memfd_create("all", 0);
	struct timeline_file *f;
	char buf[4096];
	ssize_t n;

	ck_assert_int_ge(fd, 0);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		ck_assert_int_eq(write(all, buf, (size_t)n), n);
	f = timeline_open(all);
	close(fd);
	close(all);
	return f;
}

/* A thread that crashes while another one, which has crashed, writes the file. */
START_TEST(two_crashes_at_once)
{
	struct timeline_file *f;
	int err[2], status;
	pid_t pid;

	if (!CHILDREN)
		return;
	setup();
	ck_assert_int_eq(mkfifo(part, 0600), 0);
	ck_assert_int_eq(pipe(err), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(err[1], STDERR_FILENO);
		crash_twice();
		_exit(0);
	}
	close(err[1]);
	read_lines(err[0], 1); /* before the file: nobody reads the pipe yet */
	ck_assert_int_eq(write(wait_pipe[1], "", 1), 1);
	read_lines(err[0], 1);
	ck_assert_int_ne(access(path, F_OK), 0);
	f = read_pipe();
	ck_assert_uint_eq(f->nb, 2);
	timeline_close(f);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	ck_assert_int_eq(access(path, F_OK), 0);
	close(err[0]);
	teardown();
}
END_TEST

SUITE_MAIN("trace_files", {files_when_asked_for, 1}, {a_ring_has_its_thread, 1},
	{each_signal_is_heard, 1}, {a_file_now, 1}, {a_device_is_written_to, 1},
	{a_file_in_a_child_of_fork, 1}, {a_stop_does_not_wait_for_a_reader, 1}, {a_crash, 1},
	{a_crash_outside, 1}, {a_crash_whose_stack_cannot_be_followed, 1}, {two_crashes_at_once, 1})
