/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the C library, replaced for the whole process by their names: the program has
 * them, so no library's own is found. On a thread that is not simulated each calls libc's.
 *
 * Objects of POSIX stay what they are: a mutex is taken by trylock, a semaphore by trywait, so
 * their states are libc's, and threads that are not simulated can use them, too. Only the waits
 * are simulated. libc takes all simulated threads for one: it does not see that two of them take
 * the same recursive mutex.
 *
 * Calls by which threads meet are steps, as atomic accesses are.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <haul/base.h>

#include "sim/fault.h"
#include "sim/fds/syscalls.h"
#include "sim/real.h"
#include "sim/world.h"

#define TIDS (1 << 24) /* numbers of simulated threads: above those of the kernel */
static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * HAUL_S + (uint64_t)t->tv_nsec;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / HAUL_S), .tv_nsec = (long)(ns % HAUL_S)};
}

uint64_t hauli_sim_real_ns(void)
{
	struct timespec t;

	HAULI_SIM_REAL(clock_gettime)(CLOCK_MONOTONIC, &t);
	return ns_of(&t);
}

static bool is_real_time(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

static uint64_t offset_of(clockid_t clock)
{
	return is_real_time(clock)
		? HAULI_SIM_EPOCH * HAUL_S + (uint64_t)hauli_sim_clock_step(false)
		: 0;
}

/* A time of a clock as one of the simulation; NULL: never. */
static uint64_t at(clockid_t clock, const struct timespec *t)
{
	uint64_t ns = t ? ns_of(t) : HAULI_NEVER, offset = offset_of(clock);

	return ns == HAULI_NEVER ? ns : ns > offset ? ns - offset : 0;
}

static uint64_t in(uint64_t ns)
{
	uint64_t now = hauli_sim_now();

	return ns < HAULI_NEVER - now ? now + ns : HAULI_NEVER;
}

HAULI_SIM_REPLACED int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!hauli_sim_is_on())
		return HAULI_SIM_REAL(clock_gettime)(clock, t);
	if (is_real_time(clock))
		(void)hauli_sim_clock_step(true);
	*t = timespec_of(hauli_ticks() + offset_of(clock));
	return 0;
}

HAULI_SIM_REPLACED time_t time(time_t *t)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (t)
		*t = now.tv_sec;
	return now.tv_sec;
}

HAULI_SIM_REPLACED int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	*t = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
	return 0;
}

HAULI_SIM_REPLACED int clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *t, struct timespec *left)
{
	if (!hauli_sim_is_on())
		return HAULI_SIM_REAL(clock_nanosleep)(clock, flags, t, left);
	(void)hauli_sim_wait(NULL, flags & TIMER_ABSTIME ? at(clock, t) : in(ns_of(t)));
	return 0;
}

HAULI_SIM_REPLACED int nanosleep(const struct timespec *t, struct timespec *left)
{
	if (!hauli_sim_is_on())
		return HAULI_SIM_REAL(nanosleep)(t, left);
	return clock_nanosleep(CLOCK_MONOTONIC, 0, t, left);
}

HAULI_SIM_REPLACED int usleep(useconds_t us)
{
	struct timespec t = timespec_of(us * HAUL_US);

	return nanosleep(&t, NULL);
}

HAULI_SIM_REPLACED unsigned sleep(unsigned s)
{
	struct timespec t = {.tv_sec = s};

	(void)nanosleep(&t, NULL);
	return 0;
}

HAULI_SIM_REPLACED int sched_yield(void)
{
	if (!hauli_sim_is_on())
		return HAULI_SIM_REAL(sched_yield)();
	hauli_sim_pause();
	return 0;
}

HAULI_SIM_REPLACED ssize_t getrandom(void *buf, size_t n, unsigned flags)
{
	unsigned char *to = buf;

	if (!hauli_sim_is_on())
		return HAULI_SIM_REAL(getrandom)(buf, n, flags);
	for (size_t i = 0; i < n; i++)
		to[i] = (unsigned char)(hauli_sim_random() >> 32);
	return (ssize_t)n;
}

HAULI_SIM_REPLACED int pthread_create(pthread_t *restrict id, const pthread_attr_t *restrict attr,
	void *(*fn)(void *), void *restrict arg)
{
	struct hauli_sim_thread *t;
	int err, state = PTHREAD_CREATE_JOINABLE;

	if (!hauli_sim_is_on())
		return HAULI_SIM_REAL(pthread_create)(id, attr, fn, arg);
	hauli_sim_step();
	if (hauli_sim_fails("pthread_create", &err))
		return err;
	t = hauli_sim_start(fn, arg);
	if (!t)
		return EAGAIN;
	if (attr)
		pthread_attr_getdetachstate(attr, &state);
	*id = (pthread_t)t;
	if (state == PTHREAD_CREATE_DETACHED)
		hauli_sim_detach(t);
	return 0;
}

HAULI_SIM_REPLACED int pthread_join(pthread_t id, void **result)
{
	void *r;

	if (!hauli_sim_is_on())
		return HAULI_SIM_REAL(pthread_join)(id, result);
	r = hauli_sim_join((struct hauli_sim_thread *)id);
	if (result)
		*result = r;
	return 0;
}

HAULI_SIM_REPLACED int pthread_detach(pthread_t id)
{
	if (!hauli_sim_is_on())
		return HAULI_SIM_REAL(pthread_detach)(id);
	hauli_sim_detach((struct hauli_sim_thread *)id);
	return 0;
}

/* What concerns the one real thread, which all simulated ones share. */
HAULI_SIM_REPLACED int pthread_setname_np(pthread_t id, const char *name)
{
	if (!hauli_sim_is_on())
		return HAULI_SIM_REAL(pthread_setname_np)(id, name);
	hauli_sim_name((struct hauli_sim_thread *)id, name);
	return 0;
}

HAULI_SIM_REPLACED pthread_t pthread_self(void)
{
	return hauli_sim_is_on() ? (pthread_t)hauli_sim_self() : HAULI_SIM_REAL(pthread_self)();
}

/* What libc is to be asked about instead of a simulated thread. */
static pthread_t real(pthread_t id)
{
	return hauli_sim_is_on() ? HAULI_SIM_REAL(pthread_self)() : id;
}

HAULI_SIM_REPLACED int pthread_getaffinity_np(pthread_t id, size_t n, cpu_set_t *cpus)
{
	return HAULI_SIM_REAL(pthread_getaffinity_np)(real(id), n, cpus);
}

HAULI_SIM_REPLACED int pthread_getattr_np(pthread_t id, pthread_attr_t *attr)
{
	int err = HAULI_SIM_REAL(pthread_getattr_np)(real(id), attr);
	size_t size;
	void *stack;

	if (!err && hauli_sim_is_on() &&
		(stack = hauli_sim_stack((struct hauli_sim_thread *)id, &size)))
		err = pthread_attr_setstack(attr, stack, size);
	return err;
}

HAULI_SIM_REPLACED int pthread_getcpuclockid(pthread_t id, clockid_t *clock)
{
	return HAULI_SIM_REAL(pthread_getcpuclockid)(real(id), clock);
}

HAULI_SIM_REPLACED int pthread_kill(pthread_t id, int sig)
{
	if (!hauli_sim_is_on())
		return HAULI_SIM_REAL(pthread_kill)(id, sig);
	/* Its memory may be gone, as that of a host's first thread when the host has returned. */
	if (!hauli_sim_is_here((struct hauli_sim_thread *)id))
		return ESRCH;
	if (sig != 0)
		(void)hauli_sim_signal(hauli_sim_id((struct hauli_sim_thread *)id), sig);
	return 0;
}

HAULI_SIM_REPLACED int pthread_setaffinity_np(pthread_t id, size_t n, const cpu_set_t *cpus)
{
	return hauli_sim_is_on() ? 0 : HAULI_SIM_REAL(pthread_setaffinity_np)(id, n, cpus);
}

HAULI_SIM_REPLACED int sched_setaffinity(pid_t id, size_t n, const cpu_set_t *cpus)
{
	return hauli_sim_is_on() ? 0 : HAULI_SIM_REAL(sched_setaffinity)(id, n, cpus);
}

HAULI_SIM_REPLACED int pthread_mutex_trylock(pthread_mutex_t *m)
{
	int err = HAULI_SIM_REAL(pthread_mutex_trylock)(m);

	if (!err && hauli_sim_is_on())
		hauli_sim_holds(1);
	return err;
}

static int lock(pthread_mutex_t *m, uint64_t until)
{
	int err;

	hauli_sim_step();
	while ((err = pthread_mutex_trylock(m)) == EBUSY)
		if (!hauli_sim_wait(m, until))
			return ETIMEDOUT;
	return err;
}

HAULI_SIM_REPLACED int pthread_mutex_lock(pthread_mutex_t *m)
{
	return hauli_sim_is_on() ? lock(m, HAULI_NEVER) : HAULI_SIM_REAL(pthread_mutex_lock)(m);
}

HAULI_SIM_REPLACED int pthread_mutex_timedlock(
	pthread_mutex_t *restrict m, const struct timespec *restrict until)
{
	return hauli_sim_is_on() ? lock(m, at(CLOCK_REALTIME, until))
				 : HAULI_SIM_REAL(pthread_mutex_timedlock)(m, until);
}

HAULI_SIM_REPLACED int pthread_mutex_unlock(pthread_mutex_t *m)
{
	int err = HAULI_SIM_REAL(pthread_mutex_unlock)(m);

	if (!hauli_sim_is_on())
		return err;
	hauli_sim_holds(-1);
	hauli_sim_wake(m, 1);
	hauli_sim_step();
	return err;
}

static int wait_cond(pthread_cond_t *c, pthread_mutex_t *m, uint64_t until)
{
	bool woken;

	/* No step in between: who signals from now on wakes this thread. */
	HAULI_SIM_REAL(pthread_mutex_unlock)(m);
	hauli_sim_wake(m, 1);
	woken = hauli_sim_wait(c, until);
	(void)lock(m, HAULI_NEVER);
	return woken ? 0 : ETIMEDOUT;
}

HAULI_SIM_REPLACED int pthread_cond_wait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m)
{
	return hauli_sim_is_on() ? wait_cond(c, m, HAULI_NEVER)
				 : HAULI_SIM_REAL(pthread_cond_wait)(c, m);
}

/* The bit of a condition variable that says which clock it has: glibc's. */
static clockid_t clock_of(const pthread_cond_t *c)
{
	return c->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

HAULI_SIM_REPLACED int pthread_cond_timedwait(pthread_cond_t *restrict c,
	pthread_mutex_t *restrict m, const struct timespec *restrict until)
{
	return hauli_sim_is_on() ? wait_cond(c, m, at(clock_of(c), until))
				 : HAULI_SIM_REAL(pthread_cond_timedwait)(c, m, until);
}

HAULI_SIM_REPLACED int pthread_cond_clockwait(
	pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until)
{
	return hauli_sim_is_on() ? wait_cond(c, m, at(clock, until))
				 : HAULI_SIM_REAL(pthread_cond_clockwait)(c, m, clock, until);
}

HAULI_SIM_REPLACED int pthread_cond_signal(pthread_cond_t *c)
{
	if (hauli_sim_is_on()) {
		hauli_sim_step();
		hauli_sim_wake(c, 1);
	}
	return HAULI_SIM_REAL(pthread_cond_signal)(c);
}

HAULI_SIM_REPLACED int pthread_cond_broadcast(pthread_cond_t *c)
{
	if (hauli_sim_is_on()) {
		hauli_sim_step();
		hauli_sim_wake(c, UINT32_MAX);
	}
	return HAULI_SIM_REAL(pthread_cond_broadcast)(c);
}

static int wait_sem(sem_t *s, uint64_t until)
{
	hauli_sim_step();
	while (sem_trywait(s) != 0) {
		if (hauli_sim_wait(s, until))
			continue;
		errno = ETIMEDOUT;
		return -1;
	}
	return 0;
}

HAULI_SIM_REPLACED int sem_wait(sem_t *s)
{
	return hauli_sim_is_on() ? wait_sem(s, HAULI_NEVER) : HAULI_SIM_REAL(sem_wait)(s);
}

HAULI_SIM_REPLACED int sem_timedwait(sem_t *restrict s, const struct timespec *restrict until)
{
	return hauli_sim_is_on() ? wait_sem(s, at(CLOCK_REALTIME, until))
				 : HAULI_SIM_REAL(sem_timedwait)(s, until);
}

HAULI_SIM_REPLACED int sem_post(sem_t *s)
{
	int rc = HAULI_SIM_REAL(sem_post)(s);

	if (!hauli_sim_is_on())
		return rc;
	hauli_sim_wake(s, 1);
	hauli_sim_step();
	return rc;
}

static long futex(const uint32_t *word, int op, uint32_t value, const struct timespec *t)
{
	int what = op & FUTEX_CMD_MASK;
	clockid_t clock = op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;

	hauli_sim_step();
	if (what == FUTEX_WAKE || what == FUTEX_WAKE_BITSET) {
		hauli_sim_wake(word, value);
		return 0;
	}
	if (*word != value) {
		errno = EAGAIN;
		return -1;
	}
	if (hauli_sim_wait(word, what == FUTEX_WAIT && t ? in(ns_of(t)) : at(clock, t)))
		return 0;
	errno = ETIMEDOUT;
	return -1;
}

HAULI_SIM_REPLACED pid_t gettid(void)
{
	return hauli_sim_is_on() ? TIDS + (pid_t)hauli_sim_id(hauli_sim_self())
				 : HAULI_SIM_REAL(gettid)();
}

/* Of futex(2) only what waits and wakes; a barrier among threads is one already. */
HAULI_SIM_REPLACED long syscall(long number, ...)
{
	va_list args;
	long a[6], result;

	va_start(args, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (hauli_sim_is_on() && number == SYS_futex)
		return futex((const uint32_t *)a[0], (int)a[1], (uint32_t)a[2],
			(const struct timespec *)a[3]);
	if (hauli_sim_is_on() && number == SYS_gettid)
		return gettid();
	if (hauli_sim_is_on() && number == SYS_tgkill && a[1] > TIDS) {
		if (hauli_sim_signal((unsigned)a[1] - TIDS, (int)a[2]))
			return 0;
		errno = ESRCH;
		return -1;
	}
	if (hauli_sim_is_on() && hauli_sim_fds_syscall(number, a, &result))
		return result;
	if (hauli_sim_is_on() && number == SYS_membarrier)
		return a[0] == MEMBARRIER_CMD_QUERY ? MEMBARRIER_CMD_PRIVATE_EXPEDITED |
				MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED
						    : 0;
	return HAULI_SIM_REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
