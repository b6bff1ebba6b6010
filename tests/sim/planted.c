/* SPDX-License-Identifier: BSD-3-Clause */
/* Faulty programs: what planted.py expects that simulations find in them. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "started.h"

static struct haul_runtime *start(unsigned carriers)
{
	return started(carriers, (struct haul_runtime_opts){.stack_size = 0});
}

/* fn once on each carrier. */
static void run_on_each(haul_fn *fn)
{
	struct haul_runtime *rt = start(2);
	struct haul_coro *co[2];

	for (uintptr_t i = 0; i < 2; i++)
		while (haul_spawn_on(haul_carrier(rt, (unsigned)i), &co[i], fn, (void *)i, NULL))
			;
	for (unsigned i = 0; i < 2; i++)
		haul_join(co[i], NULL, HAUL_FOREVER);
	haul_stop(rt, HAUL_S);
}

/* A sale is forgotten if the other carrier sells between the read and the write. */
static struct {
	unsigned stock, sold;
	struct haul_mutex log;
} s;

static void *sell(void *arg)
{
	for (unsigned i = 0; i < 20; i++) {
		unsigned sold = s.sold;

		haul_mutex_lock(&s.log);
		s.stock++;
		haul_mutex_unlock(&s.log);
		s.sold = sold + 1;
	}
	return arg;
}

static int race(void)
{
	run_on_each(sell);
	return s.sold != 40;
}

/* The same, seen by an invariant. */
static const char *all_things(void *arg)
{
	return s.sold + s.stock == 21 ? NULL : "one is gone";
}

static int invariant(void)
{
	s.stock = 21;
	haul_sim_always(all_things, NULL);
	s.sold = 1;
	sleep(1); /* the clock goes on, and so the invariant is looked at */
	s.stock = 20;
	return 0;
}

/* The flag is looked at before the lock. */
static struct {
	bool is_set;
	pthread_mutex_t lock;
	pthread_cond_t cond;
} flag = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};

static void *set(void *arg)
{
	pthread_mutex_lock(&flag.lock);
	flag.is_set = true;
	pthread_cond_signal(&flag.cond);
	pthread_mutex_unlock(&flag.lock);
	return arg;
}

static int lost_wakeup(void)
{
	pthread_t thread;

	while (pthread_create(&thread, NULL, set, NULL) != 0)
		;
	pthread_setname_np(thread, "setter");
	if (!flag.is_set) {
		pthread_mutex_lock(&flag.lock);
		pthread_cond_wait(&flag.cond, &flag.lock);
		pthread_mutex_unlock(&flag.lock);
	}
	pthread_join(thread, NULL);
	return 0;
}

static struct haul_mutex locks[2];

static void *lock_both(void *arg)
{
	uintptr_t first = (uintptr_t)arg;

	for (unsigned i = 0; i < 20; i++) {
		haul_mutex_lock(&locks[first]);
		haul_mutex_lock(&locks[1 - first]);
		haul_mutex_unlock(&locks[1 - first]);
		haul_mutex_unlock(&locks[first]);
	}
	return NULL;
}

static int deadlock(void)
{
	run_on_each(lock_both);
	return 0;
}

/* A client that does not ask again, and a network that loses. */
static int no_retry(void)
{
	for (unsigned i = 0; i < 100; i++)
		if (HAUL_SOMETIMES("request lost") || HAUL_SOMETIMES("reply lost"))
			haul_sim_fail("request %u has no reply", i);
	return 0;
}

/* It takes two faults, of two names. */
static int two_faults(void)
{
	unsigned a = 0, b = 0;

	for (unsigned i = 0; i < 1000; i++) {
		a += HAUL_SOMETIMES("first");
		b += HAUL_SOMETIMES("second");
		usleep(1); /* simulated: no two faults have the same time */
	}
	assert(a < 2 || b < 1);
	return 0;
}

/* Promised once the faults are over; and kept. */
static int recovers(void)
{
	for (unsigned i = 0; i < 1000; i++)
		(void)HAUL_SOMETIMES("lost");
	haul_sim_faults_stop();
	for (unsigned i = 0; i < 1000; i++)
		if (HAUL_SOMETIMES("lost"))
			return 1;
	haul_sim_faults_start();
	return 0;
}

static __attribute__((noreturn)) int endless(void)
{
	signal(SIGALRM, SIG_IGN); /* a program may do with it what it likes */
	for (volatile unsigned i = 0;; i++)
		;
}

static __attribute__((noreturn)) int too_long(void)
{
	for (;;)
		usleep(1000); /* simulated */
}

static __attribute__((noreturn)) int leaves(void)
{
	printf("it goes\n");
	exit(3);
}

/* A time that does not come from the seed decides who runs. */
static void *sleep_by_the_clock(void *arg)
{
	struct timespec t;

	for (unsigned i = 0; i < 5000; i++) {
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
		/* Simulated. */
		nanosleep(&(struct timespec){.tv_nsec = i < 3000 ? 1000 : 1 + t.tv_nsec % 1000},
			NULL);
	}
	return NULL;
}

static int by_the_clock(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleep_by_the_clock, NULL) != 0)
		return 1;
	sleep_by_the_clock(NULL);
	return pthread_join(thread, NULL);
}

/* The same at each run of one process, and another one in the next. */
static int by_address(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, set, NULL) != 0)
		return 1;
	usleep(1 + ((uintptr_t)&flag >> 12) % 1000); /* simulated */
	return pthread_join(thread, NULL);
}

/* The number of a file is the same whatever a search holds meanwhile. */
static int by_descriptor(void)
{
	int pipes[2];
	int rc = pipe(pipes);

	haul_sim_note((uint64_t)pipes[0]);
	close(pipes[0]);
	close(pipes[1]);
	return rc;
}

/* Which of two objects has the lower address differs, and decides nothing. */
static struct haul_sem *either, *other;

static void *take_any(void *arg)
{
	for (unsigned i = 0; i < 50; i++) {
		struct haul_case cases[] = {haul_case_sem(either), haul_case_sem(other)};

		(void)haul_select(cases, 2, haul_in(HAUL_MS));
		haul_sem_post(i % 3 ? either : other);
	}
	return NULL;
}

static int by_order(void)
{
	static struct haul_sem two[2];
	bool second = (uintptr_t)two >> 12 & 1;

	either = &two[second];
	other = &two[!second];
	haul_sem_post(either);
	run_on_each(take_any);
	return 0;
}

/* A thread knows its own stack. */
static void *look_at_stack(void *arg)
{
	pthread_attr_t attr;
	size_t size;
	char here = 0;
	void *lo;

	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return arg;
	pthread_attr_getstack(&attr, &lo, &size);
	pthread_attr_destroy(&attr);
	return &here >= (char *)lo && &here < (char *)lo + size ? NULL : arg;
}

static int own_stack(void)
{
	pthread_t thread;
	void *failed;

	if (look_at_stack("the first thread") ||
		pthread_create(&thread, NULL, look_at_stack, "another one") != 0)
		return 1;
	pthread_join(thread, &failed);
	return failed != NULL;
}

/* Each thread has its own mask of signals, whatever others do to theirs meanwhile. */
static volatile sig_atomic_t handled;

static void handle(int sig)
{
	handled++;
}

static void *block_all(void *arg)
{
	sigset_t all, before;

	sigfillset(&all);
	for (unsigned i = 0; i < 20; i++) {
		pthread_sigmask(SIG_SETMASK, &all, &before);
		sched_yield();
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		sched_yield();
	}
	return arg;
}

static int own_mask(void)
{
	const struct sigaction sa = {.sa_handler = handle};
	pthread_t thread;
	sigset_t it;

	sigaction(SIGUSR1, &sa, NULL);
	if (pthread_create(&thread, NULL, block_all, NULL) != 0)
		return 1;
	block_all(NULL);
	pthread_join(thread, NULL);
	pthread_kill(pthread_self(), SIGUSR1);
	if (handled != 1)
		return 2;
	sigemptyset(&it);
	sigaddset(&it, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &it, NULL);
	pthread_kill(pthread_self(), SIGUSR1);
	if (handled != 1)
		return 3;
	pthread_sigmask(SIG_UNBLOCK, &it, NULL);
	return handled == 2 ? 0 : 4;
}

static int fine(void)
{
	printf("all is well\n");
	return 0;
}

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		{"race", race, "stall,slow,late,no-stack", 0},
		{"invariant", invariant, NULL, 0},
		{"lost-wakeup", lost_wakeup, NULL, 0},
		{"deadlock", deadlock, "stall,slow,late", 0},
		{"no-retry", no_retry, NULL, 0},
		{"two-faults", two_faults, NULL, 0},
		{"recovers", recovers, NULL, 0},
		{"endless", endless, NULL, 0},
		{"too-long", too_long, "late", HAUL_S},
		{"leaves", leaves, NULL, 0},
		{"by-the-clock", by_the_clock, "none", 0},
		{"by-address", by_address, "none", 0},
		{"by-descriptor", by_descriptor, "none", 0},
		{"by-order", by_order, "none", 0},
		{"own-mask", own_mask, "none", 0},
		{"own-stack", own_stack, "none", 0},
		{"fine", fine, NULL, 0},
		{NULL, NULL, NULL, 0},
	};

	return haul_sim_main(argc, argv, tests);
}
