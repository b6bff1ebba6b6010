/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_dump() and haul_dump_on_signal() find states, waits and call stacks. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "coro/fiber.h"
#include "coro_child.h"
#include "sched/glue.h"
#include "support/runtime.h"
#include "support/suite.h"

static struct {
	struct haul_runtime *rt;
	atomic_uint step;
	atomic_bool go;
	struct haul_mutex mutex;
	struct haul_event event;
	struct haul_sem sem;
	struct haul_chan *chan;
	struct haul_coro *other;
} s;

static void start(void)
{
	memset(&s, 0, sizeof(s));
	s.rt = runtime_start_stealing(2, NULL, HAUL_STEAL_OFF);
}

static void spawn(unsigned carrier, haul_fn *fn, const char *name)
{
	haul_spawn_on(haul_carrier(s.rt, carrier), NULL, fn, NULL,
		&(struct haul_coro_opts){.name = name});
}

static void *locks(void *arg)
{
	s.step++;
	haul_mutex_lock(&s.mutex);
	haul_mutex_unlock(&s.mutex);
	return NULL;
}

static void *waits_for_event(void *arg)
{
	s.step++;
	haul_event_wait(&s.event, haul_in(1000 * HAUL_S));
	return NULL;
}

static void *waits_for_sem(void *arg)
{
	s.step++;
	haul_sem_wait(&s.sem, HAUL_FOREVER);
	return NULL;
}

static void *receives(void *arg)
{
	uint64_t value;

	s.step++;
	haul_chan_recv(s.chan, &value, HAUL_FOREVER);
	return NULL;
}

static void *sleeps(void *arg)
{
	s.step++;
	haul_sleep(1000 * HAUL_S);
	return NULL;
}

static void *parks(void *arg)
{
	s.other = haul_self();
	s.step++;
	haul_park(HAUL_FOREVER);
	return NULL;
}

static void *joins(void *arg)
{
	struct haul_coro *co;

	haul_spawn(&co, sleeps, NULL, &(struct haul_coro_opts){.name = "joined"});
	s.step++;
	haul_join(co, NULL, HAUL_FOREVER);
	return NULL;
}

static void *runs(void *arg)
{
	s.step++;
	while (!s.go)
		;
	return NULL;
}

static void *holds(void *arg)
{
	haul_mutex_lock(&s.mutex);
	s.step++;
	haul_event_wait(&s.event, HAUL_FOREVER);
	haul_mutex_unlock(&s.mutex);
	return NULL;
}

static const struct {
	haul_fn *fn;
	const char *name, *says;
} kinds[] = {
	{holds, "holder", ", waiting for event 0x"},
	{locks, "locker", ", held by holder 0x"},
	{waits_for_event, "eventful", "s, for at most "},
	{waits_for_sem, "semaphorist", ", waiting for semaphore 0x"},
	{receives, "receiver", ", waiting for a value of channel 0x"},
	{sleeps, "sleeper", ", sleeping"},
	{parks, "parker", ", parked"},
	{joins, "joiner", ", waiting for the end of 0x"},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* The caller frees *text. */
static void dump_to(char **text)
{
	size_t size;
	FILE *out = open_memstream(text, &size);

	haul_dump(s.rt, out);
	fclose(out);
}

START_TEST(a_dump_tells_what_each_does)
{
	char *text = NULL;

	start();
	ck_assert_int_eq(haul_chan_create(&s.chan, sizeof(uint64_t), 1), 0);
	for (unsigned i = 0; i < KINDS; i++) {
		spawn(0, kinds[i].fn, kinds[i].name);
		WAIT_UNTIL(s.step == i + 1 + (i == KINDS - 1));
	}
	haul_sem_wait(&s.sem, 0); /* no more than a try, by a thread */
	spawn(0, runs, "runner"); /* the last one: comes first */
	WAIT_UNTIL(s.step == KINDS + 2);
	dump_to(&text);
	for (unsigned i = 0; i < KINDS; i++) {
		char *line = strstr(text, kinds[i].name), *end;

		ck_assert_msg(line, "no %s in %s", kinds[i].name, text);
		end = strchr(line, '\n');
		*end = '\0';
		ck_assert_msg(strstr(line, kinds[i].says), "%s", line);
		*end = '\n';
		ck_assert_msg(strncmp(end + 1, "    ", 4) == 0, "no call stack: %s", text);
	}
	ck_assert_msg(strncmp(text, "  carrier 0: runner 0x", 22) == 0, "%s", text);
	ck_assert_msg(strstr(text, ", running\n"), "%s", text);
	s.go = true;
	haul_event_set(&s.event);
	runtime_stop(s.rt);
	haul_chan_destroy(s.chan);
	free(text);
}
END_TEST

#define CROWD 300

/* The number of lines that have the text. */
static unsigned lines_with(const char *text, const char *what)
{
	unsigned n = 0;

	for (const char *line = text; (line = strstr(line, what)); line = strchr(line, '\n'))
		n++;
	return n;
}

START_TEST(of_those_at_one_place_a_dump_shows_the_first)
{
	char *text = NULL;

	start();
	for (unsigned i = 0; i < CROWD; i++)
		spawn(0, sleeps, i % 3 ? "sleeper" : "other");
	for (unsigned i = 0; i < 4; i++)
		spawn(1, sleeps, "sleeper");
	WAIT_UNTIL(s.step == CROWD + 4);
	dump_to(&text);
	ck_assert_msg(lines_with(text, "  carrier 0: sleeper 0x") == 3 &&
			lines_with(text, "  carrier 0: other 0x") == 3 &&
			lines_with(text, "  carrier 1: sleeper 0x") == 3,
		"%s", text);
	ck_assert_msg(strstr(text, "  carrier 0: 197 more like sleeper 0x") &&
			strstr(text, "  carrier 0: 97 more like other 0x") &&
			strstr(text, "  carrier 1: 1 more like sleeper 0x") &&
			strstr(text, ", sleeping at the same place, for up to "),
		"%s", text);
	free(text);
	runtime_stop(s.rt);
}
END_TEST

static struct haul_mutex own[10];

static void *holds_one(void *m)
{
	haul_mutex_lock(m);
	s.step++;
	haul_event_wait(&s.event, HAUL_FOREVER);
	haul_mutex_unlock(m);
	return NULL;
}

static void *wants_one(void *m)
{
	s.step++;
	haul_mutex_lock(m);
	haul_mutex_unlock(m);
	return NULL;
}

static void spawn_with(unsigned carrier, haul_fn *fn, void *arg, const char *name)
{
	haul_spawn_on(
		haul_carrier(s.rt, carrier), NULL, fn, arg, &(struct haul_coro_opts){.name = name});
}

/* The 8th holder would be left out, and is on a carrier that was listed before. */
START_TEST(a_holder_that_is_waited_for_is_shown)
{
	char *text = NULL, holder[64], *at;

	start();
	for (unsigned i = 0; i < 10; i++)
		spawn_with(0, holds_one, &own[i], "holder");
	WAIT_UNTIL(s.step == 10);
	spawn_with(1, wants_one, &own[7], "locker");
	WAIT_UNTIL(s.step == 11 && hauli_inbox_is_asleep(&haul_carrier(s.rt, 1)->mail.inbox));
	dump_to(&text);
	at = strstr(text, ", held by holder 0x");
	ck_assert_msg(at, "%s", text);
	snprintf(holder, sizeof(holder), "  carrier 0: %.*s, ",
		(int)strcspn(at + strlen(", held by "), ","), at + strlen(", held by "));
	ck_assert_msg(lines_with(text, "  carrier 0: holder 0x") == 4 &&
			strstr(text, holder) > at &&
			strstr(text, "  carrier 0: 6 more like holder 0x") &&
			strstr(text, ", waiting for event at the same place, for up to "),
		"%s in %s", holder, text);
	free(text);
	haul_event_set(&s.event);
	runtime_stop(s.rt);
}
END_TEST

static void *forgets(void *arg)
{
	haul_mutex_lock(&s.mutex);
	return NULL;
}

static void *locks_by(void *mutex)
{
	s.step++;
	haul_mutex_lock_by(mutex, HAUL_FOREVER);
	return NULL;
}

/* With checks the end of the holder ends the program. With TSan a carrier that sleeps without a
 * timer takes no signals. */
START_TEST(a_dump_tells_that_a_holder_has_ended)
{
	char *text = NULL;

	if (HAUL_CHECKS || HAULI_TSAN)
		return;
	start();
	run_on(s.rt, 0, forgets, NULL);
	haul_spawn_on(haul_carrier(s.rt, 1), NULL, locks_by, &s.mutex, NULL);
	WAIT_UNTIL(s.step == 1 && hauli_inbox_is_asleep(&haul_carrier(s.rt, 1)->mail.inbox));
	dump_to(&text);
	ck_assert_msg(strstr(text, ", held by 0x") && strstr(text, ", which has ended, for "), "%s",
		text);
	free(text);
	runtime_stop(s.rt);
}
END_TEST

static void *holds_first(void *mutex)
{
	haul_mutex_lock(mutex);
	s.step++;
	haul_park(HAUL_FOREVER);
	return NULL;
}

/* Two coroutines wait in a mutex that is gone. */
static void dump_without_mutex(void *arg)
{
	void *mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	start();
	haul_spawn_on(haul_carrier(s.rt, 0), NULL, holds_first, mutex, NULL);
	WAIT_UNTIL(s.step == 1);
	haul_spawn_on(haul_carrier(s.rt, 0), NULL, locks_by, mutex, NULL);
	WAIT_UNTIL(s.step == 2 && hauli_inbox_is_asleep(&haul_carrier(s.rt, 0)->mail.inbox));
	munmap(mutex, 4096);
	haul_dump(s.rt, stderr);
	_exit(0);
}

START_TEST(a_dump_survives_a_mutex_that_is_gone)
{
	struct child c;

	if (HAULI_TSAN) /* which reports that the mutex goes while it is in use */
		return;
	c = child_run(dump_without_mutex, NULL);
	ck_assert_int_eq(c.status, 0);
	ck_assert_msg(strstr(c.said, ", waiting for mutex 0x"), "%s", c.said);
	ck_assert_msg(!strstr(c.said, ", held by "), "%s", c.said);
}
END_TEST

static __attribute__((noinline)) unsigned descend(unsigned depth)
{
	char frame[64];

	memset(frame, (int)depth, sizeof(frame));
	asm volatile("" : : "r"(frame) : "memory");
	if (depth > 0)
		return descend(depth - 1) + (unsigned)frame[depth % 64];
	haul_yield();
	return 0;
}

static void *descends(void *arg)
{
	for (unsigned n = 0; !s.go; n++)
		descend(n % 16);
	return NULL;
}

static void *yields_deeply(void *arg)
{
	s.step = 1;
	descend(3);
	return NULL;
}

static void *keeps_a_yielder_ready(void *opts)
{
	haul_spawn(NULL, yields_deeply, NULL, opts);
	WAIT_UNTIL(s.step == 1);
	s.step = 2;
	while (!s.go)
		;
	return NULL;
}

/* The line of one that is ready, and has begun. It could not be stolen here; but a thief marks what
 * it takes too late for a dump to know. */
START_TEST(a_dump_follows_no_stack_of_one_that_is_ready)
{
	const struct haul_coro_opts opts = {.name = "yielder", .pinned = true};
	const struct haul_coro_opts hog_opts = {.name = "hog", .pinned = true};
	char *text, *line;

	memset(&s, 0, sizeof(s));
	s.rt = runtime_start_stealing(2, NULL, HAUL_STEALING ? HAUL_STEAL_GLOBAL : HAUL_STEAL_OFF);
	haul_spawn_on(haul_carrier(s.rt, 0), NULL, keeps_a_yielder_ready, (void *)&opts, &hog_opts);
	WAIT_UNTIL(s.step == 2);
	dump_to(&text);
	line = strstr(text, "yielder 0x");
	ck_assert_msg(line, "%s", text);
	line = strstr(line, ", ready\n");
	ck_assert_msg(line, "%s", text);
	line = strchr(line, '\n') + 1;
	ck_assert_msg(!HAUL_STEALING || strncmp(line, "    ", 4) != 0, "%s", text);
	s.go = true;
	runtime_stop(s.rt);
	free(text);
}
END_TEST

/* With TSan a carrier that computes takes no signals, and is waited for. */
#define DUMPS (HAULI_TSAN ? 2 : 300)

/* A coroutine that is ready may be taken at any time. */
START_TEST(a_dump_follows_no_stack_that_a_thief_uses)
{
	struct haul_runtime *rt =
		runtime_start_stealing(4, NULL, HAUL_STEALING ? HAUL_STEAL_GLOBAL : HAUL_STEAL_OFF);
	FILE *out = fopen("/dev/null", "w");

	memset(&s, 0, sizeof(s));
	for (unsigned i = 0; i < 32; i++)
		haul_spawn_on(haul_carrier(rt, 0), NULL, descends, NULL, NULL);
	for (unsigned i = 0; i < DUMPS; i++)
		haul_dump(rt, out);
	s.go = true;
	runtime_stop(rt);
	fclose(out);
}
END_TEST

/* On the alternate stack of a carrier's thread. */
static void waits_in_a_handler(int sig)
{
	s.step = 2;
	while (!s.go)
		;
}

static void *is_interrupted(void *arg)
{
	descend(3);
	s.step = 1;
	descend(16);
	while (!s.go)
		;
	return NULL;
}

START_TEST(a_dump_follows_nothing_below_another_handler)
{
	struct sigaction sa = {.sa_handler = waits_in_a_handler, .sa_flags = SA_ONSTACK}, before;
	FILE *out = fopen("/dev/null", "w");
	pid_t tid;

	start();
	sigaction(SIGUSR2, &sa, &before);
	spawn(1, is_interrupted, "interrupted");
	WAIT_UNTIL(s.step == 1);
	tid = (pid_t)hauli_u32_published_get(&haul_carrier(s.rt, 1)->run.tid);
	syscall(SYS_tgkill, getpid(), tid, SIGUSR2);
	WAIT_UNTIL(s.step == 2);
	haul_dump(s.rt, out);
	s.go = true;
	runtime_stop(s.rt);
	sigaction(SIGUSR2, &before, NULL);
	fclose(out);
}
END_TEST

static void signal_to_dump(void)
{
	start();
	ck_assert_int_eq(haul_dump_on_signal(SIGUSR1), 0);
	spawn(1, sleeps, "sleeper");
	WAIT_UNTIL(s.step == 1);
	/* The first dump may come before it sleeps. The parent ends this. */
	for (;;) {
		kill(getpid(), SIGUSR1);
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); /* for the dump */
	}
}

START_TEST(a_signal_dumps_all)
{
	struct child c = child_until(signal_to_dump, "sleeper 0x", "\n    ");

	ck_assert_msg(strstr(c.said, "haul: coroutines that have not ended:\n"), "%s", c.said);
}
END_TEST

static void crash(void *arg)
{
	const int refused[] = {-1, 0, SIGRTMAX + 1, SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE,
		SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGRTMAX - 2, SIGRTMAX - 3, 32};

	for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		ck_assert_int_eq(haul_dump_on_signal(refused[i]), -EINVAL);
	signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would end the program otherwise */
	raise(SIGSEGV);
}

START_TEST(a_fault_is_no_signal_for_a_dump)
{
	struct child c = child_run(crash, NULL);

	CHILD_DIED_BY(c, SIGSEGV);
	ck_assert_uint_eq(c.lines, 0);
}
END_TEST

static bool thread_sleeps(pid_t tid)
{
	char path[64], text[256] = "", *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	f = fopen(path, "r");
	if (f) {
		(void)!fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	end = strrchr(text, ')');
	return end && end[2] == 'S';
}

/* Sends one signal for a dump, and then the one that the first thread waits for. */
static void *send_both(void *arg)
{
	pid_t first = *(pid_t *)arg;

	while (!thread_sleeps(first))
		sched_yield();
	kill(getpid(), SIGUSR1);
	while (s.step == 0)
		sched_yield();
	kill(getpid(), SIGTERM);
	return NULL;
}

/* What the stdio of a dump calls: it has begun. */
static ssize_t notice_write(void *cookie, const char *text, size_t n)
{
	fprintf(cookie, "%.*s", (int)n, text);
	s.step = 1;
	return (ssize_t)n;
}

static void wait_beside_a_dump(void *arg)
{
	pid_t me = (pid_t)syscall(SYS_gettid);
	FILE *real = fdopen(STDERR_FILENO, "w");
	pthread_t other;
	sigset_t term;

	/* First, so that carriers block it as well. */
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &term, NULL);
	start();
	stderr = fopencookie(real, "w", (cookie_io_functions_t){.write = notice_write});
	setbuf(stderr, NULL);
	ck_assert_int_eq(haul_dump_on_signal(SIGUSR1), 0);
	pthread_create(&other, NULL, send_both, &me);
	if (sigtimedwait(&term, NULL, &(struct timespec){1000, 0}) != SIGTERM)
		_exit(errno);
	fflush(real);
}

START_TEST(a_dump_interrupts_no_wait_of_the_caller)
{
	struct child c = child_run(wait_beside_a_dump, NULL);

	CHILD_EXITED(c, 0);
	ck_assert_msg(strstr(c.said, "haul: coroutines that have not ended:\n"), "%s", c.said);
}
END_TEST

SUITE_MAIN("dump", {a_dump_tells_what_each_does, 1},
	{of_those_at_one_place_a_dump_shows_the_first, 1},
	{a_holder_that_is_waited_for_is_shown, 1}, {a_dump_tells_that_a_holder_has_ended, 1},
	{a_dump_survives_a_mutex_that_is_gone, 1},
	{a_dump_follows_no_stack_of_one_that_is_ready, 1},
	{a_dump_follows_no_stack_that_a_thief_uses, 1},
	{a_dump_follows_nothing_below_another_handler, 1}, {a_signal_dumps_all, 1},
	{a_fault_is_no_signal_for_a_dump, 1}, {a_dump_interrupts_no_wait_of_the_caller, 1})
