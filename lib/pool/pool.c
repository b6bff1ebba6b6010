/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pool of the process: how its threads begin and end, and where they run. What they do is in
 * queue.c.
 *
 * A thread of the pool is created by a carrier, or by another thread of the pool. What it would
 * inherit from a carrier it does not: the CPU, a real-time policy, open signals, exact timers. It
 * begins on its own CPUs: on the carrier's it might not run for long.
 *
 * A thread that ends joins the one that has ended before it; the last runtime's stop joins the last
 * one. So no thread is still ending when that stop returns, and none is left over meanwhile.
 *
 * fork() copies no thread of the pool: in the child the pool is made anew by the first start of a
 * runtime, and jobs are refused before. Its lock may be taken in the copy, by a thread that is not
 * there: it is not looked at.
 */
#include "pool/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/assert.h"
#include "base/forks.h"
#include "base/simulated.h"
#include "topo/free_cpus.h"

#define DEFAULT_THREADS 64
#define DEFAULT_QUEUE 1024
#define DEFAULT_IDLE_NS (10 * HAUL_S)
#define TIMER_SLACK_NS 50000UL /* Linux's default */

struct hauli_pool_user {
	unsigned n;
	unsigned cpus[]; /* with carriers */
};

struct process {
	struct hauli_pool pool;
	/* under the pool's lock */
	struct hauli_free_cpus cpus;
	pthread_t ended; /* to be joined */
	bool has_ended;

	/* under the lock of the process */
	unsigned runtimes;
	uint16_t carriers[HAULI_CPUS_MOST];
	struct hauli_completion all_ended; /* set by the last thread if the pool is closed */
};

#if HAULI_SIM
/* In a simulation each host has its own: its threads and its memory go with the host. */
static struct process *of_host(void)
{
	void **at = hauli_sim_pool();

	if (!*at)
		*at = calloc(1, sizeof(struct process));
	HAUL_BUG_ON(!*at);
	return *at;
}
#define own (*of_host())
#else
static struct process own;
#endif

/* hauli_forks when the pool was made. Written under the lock of the process, when no other thread
 * uses the pool. */
static unsigned forks_at_begin;

static bool is_copy(void)
{
	return hauli_forks != forks_at_begin;
}

static void apply_opts(const struct haul_offload_opts *opts)
{
	own.pool.most_threads = opts->threads ? opts->threads : DEFAULT_THREADS;
	own.pool.most_queued = opts->queue ? opts->queue : DEFAULT_QUEUE;
	own.pool.idle_ns = opts->idle_ns ? opts->idle_ns : DEFAULT_IDLE_NS;
}

/* Under the lock of the process. The child of a fork() keeps the limits. */
static void begin(void)
{
	static const struct haul_offload_opts defaults;
	struct hauli_pool old = own.pool;

	if (is_copy()) {
		memset(&own, 0, sizeof(own));
		own.pool.most_threads = old.most_threads;
		own.pool.most_queued = old.most_queued;
		own.pool.idle_ns = old.idle_ns;
		forks_at_begin = hauli_forks;
	}
	if (own.pool.most_threads == 0)
		apply_opts(&defaults);
}

static struct hauli_free_cpus current_cpus(void)
{
	struct hauli_free_cpus cpus;

	hauli_pool_lock(&own.pool);
	cpus = own.cpus;
	hauli_pool_unlock(&own.pool);
	return cpus;
}

static int start_thread(struct hauli_job *first);

static void start_reserve(void)
{
	if (start_thread(NULL))
		(void)hauli_pool_not_started(&own.pool, true);
}

static void move(void)
{
	struct hauli_free_cpus cpus = current_cpus();

	hauli_free_cpus_bind(&cpus);
}

/* The calling thread of the pool ends. */
static void leave(void)
{
	pthread_t before;
	bool joins, last;

	hauli_pool_lock(&own.pool);
	before = own.ended;
	joins = own.has_ended;
	own.ended = pthread_self();
	own.has_ended = true;
	last = --own.pool.born == 0 && own.pool.closed;
	hauli_pool_unlock(&own.pool);
	if (joins)
		pthread_join(before, NULL);
	if (last)
		hauli_completion_set(&own.all_ended);
}

static void *work(void *first)
{
	struct hauli_worker w;

	pthread_setname_np(pthread_self(), "offload");
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
	hauli_worker_begin(&own.pool, &w, first);
	while (hauli_worker_next(&own.pool, &w)) {
		if (w.starts)
			start_reserve();
		if (w.moves)
			move();
		hauli_worker_run(&own.pool, &w);
	}
	leave();
	return NULL;
}

static bool is_real_time(void)
{
	int policy = sched_getscheduler(0);

	return policy == SCHED_FIFO || policy == SCHED_RR;
}

/* A refusal leaves attr as it is. */
static void set_apart(pthread_attr_t *attr)
{
	struct hauli_free_cpus cpus = current_cpus();

	(void)hauli_free_cpus_attr(&cpus, attr);
	if (is_real_time()) {
		pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
		pthread_attr_setschedpolicy(attr, SCHED_OTHER);
	}
}

/* All but those of faults, which must reach their handler. */
static void block_signals(sigset_t *before)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
	sigset_t most;

	sigfillset(&most);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&most, faults[i]);
	pthread_sigmask(SIG_SETMASK, &most, before);
}

/* Returns 0 or an error of pthread_create(). */
static int start_thread(struct hauli_job *first)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t before;
	int err;

	block_signals(&before);
	pthread_attr_init(&attr);
	set_apart(&attr);
	err = pthread_create(&thread, &attr, work, first);
	pthread_attr_destroy(&attr);
	if (err && err != EAGAIN) /* in some containers it may not be bound to CPUs */
		err = pthread_create(&thread, NULL, work, first);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

static void fail_orphans(void)
{
	struct hauli_job *job;

	while ((job = hauli_pool_take_orphan(&own.pool)) != NULL)
		job->end(job, -ENOMEM);
}

static int submit_to_others(struct hauli_job *job, bool at_once)
{
	if (!hauli_pool_not_started(&own.pool, false))
		return hauli_pool_put(&own.pool, job, at_once, false);
	fail_orphans();
	return -ENOMEM;
}

int hauli_pool_submit(struct hauli_job *job, bool at_once)
{
	int how;

	if (is_copy())
		return -EPERM;
	how = hauli_pool_put(&own.pool, job, at_once, true);
	if (how != HAULI_JOB_STARTS)
		return how;
	return start_thread(job) == 0 ? HAULI_JOB_GIVEN : submit_to_others(job, at_once);
}

bool hauli_pool_take_back(struct hauli_job *job)
{
	return hauli_pool_withdraw(&own.pool, job);
}

bool hauli_pool_is_at_rest(unsigned *threads)
{
	*threads = 0;
	return is_copy() || hauli_pool_rests(&own.pool, threads);
}

/* Under the lock of the process. If the CPUs cannot be found, workers stay where they are. */
static void find_cpus(void)
{
	struct hauli_free_cpus cpus;

	if (hauli_free_cpus_find(&cpus, own.carriers) != 0)
		return;
	hauli_pool_lock(&own.pool);
	own.cpus = cpus;
	own.pool.version++;
	hauli_pool_unlock(&own.pool);
}

static void count(const struct hauli_pool_user *user, int by)
{
	for (unsigned i = 0; i < user->n; i++)
		own.carriers[user->cpus[i]] += (uint16_t)by;
}

int hauli_pool_hold(struct hauli_pool_user **user, const struct haul_place *places, unsigned n)
{
	struct hauli_pool_user *u = calloc(1, sizeof(*u) + n * sizeof(u->cpus[0]));

	if (!u)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++)
		if (places[i].cpu >= 0 && places[i].cpu < HAULI_CPUS_MOST && !places[i].elsewhere)
			u->cpus[u->n++] = (unsigned)places[i].cpu;
	hauli_process_lock();
	begin();
	own.runtimes++;
	count(u, 1);
	find_cpus();
	hauli_process_unlock();
	*user = u;
	return 0;
}

/* Under the lock of the process: ends all threads. There are no jobs. */
static void close_pool(void)
{
	struct hauli_worker *idle;
	bool gone;

	hauli_completion_init(&own.all_ended);
	hauli_pool_lock(&own.pool);
	own.pool.closed = true;
	idle = hauli_pool_retire(&own.pool, 0);
	gone = own.pool.born == 0;
	hauli_pool_unlock(&own.pool);
	hauli_pool_wake(idle);
	if (!gone)
		hauli_completion_wait(&own.all_ended);
	if (own.has_ended)
		pthread_join(own.ended, NULL);
	own.has_ended = false;
	own.pool.closed = false;
}

void hauli_pool_release(struct hauli_pool_user *user)
{
	hauli_process_lock();
	count(user, -1);
	if (--own.runtimes == 0)
		close_pool();
	else
		find_cpus();
	hauli_process_unlock();
	free(user);
}

int hauli_pool_set(const struct haul_offload_opts *opts)
{
	struct hauli_worker *idle;

	if (opts->threads > HAUL_OFFLOAD_THREADS_MAX)
		return -EINVAL;
	hauli_process_lock();
	begin();
	hauli_pool_lock(&own.pool);
	apply_opts(opts);
	idle = hauli_pool_retire(&own.pool, own.pool.most_threads);
	hauli_pool_unlock(&own.pool);
	hauli_process_unlock();
	hauli_pool_wake(idle);
	return 0;
}

void hauli_pool_get_stats(struct haul_offload_stats *st)
{
	*st = (struct haul_offload_stats){.threads = 0};
	if (is_copy())
		return;
	hauli_pool_lock(&own.pool);
	*st = (struct haul_offload_stats){
		.threads = own.pool.threads,
		.queued = own.pool.queued,
		.running = own.pool.running,
		.done = own.pool.done,
		.refused = own.pool.refused,
		.withdrawn = own.pool.withdrawn,
		.queue_ns_max = own.pool.longest_ns,
	};
	hauli_pool_unlock(&own.pool);
}
