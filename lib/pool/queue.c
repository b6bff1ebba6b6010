/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: each job that was put is run once, and then ended once; or it is withdrawn and never
 * run; or, if there is no thread at all, it is ended with an error. A job waits only while all
 * threads that may exist run others, or are being started.
 *
 * A job in the queue is a node in its submitter's memory, under the lock. So two can want it at a
 * time, a worker and its submitter, whose deadline has passed:
 *
 *	worker                              submitter
 *	lock: takes the first job,          lock: taken?
 *	    marks it taken                      no: takes it out of the queue, and may free it
 *	unlock                                  yes: waits for its end
 *	run(job)                            unlock
 *	end(job)
 *
 *	The lock decides, and end() is the worker's last access: the submitter that it wakes may
 *	    free the job. It is called without the lock, as it wakes a carrier: a system call.
 *
 * An idle worker waits for a completion of its own. Whoever takes it out of the stack of idle
 * workers, under the lock, gives it a job or says that it is to end, and then sets the completion:
 *
 *	put                                 worker
 *	lock: takes it out of the stack;    lock: the queue is empty: enters the stack
 *	    its job                         unlock
 *	unlock                              waits; the time is over
 *	sets the completion                 lock: still in the stack?
 *	                                        yes: leaves it, and ends
 *	                                        no: waits for the completion, which is under way
 *
 *	So no job is given to a worker that has ended, and the queue is empty while a worker is
 *	    idle: a worker that enters the stack has looked at the queue under the same lock.
 *	A worker that has entered the stack reads nothing that put() writes before the completion
 *	    is set, even if it was taken out meanwhile: else it would go on, and the set would meet
 *	    its next wait, or a thread that has ended.
 *
 * A worker enters the stack before it ends its job: a submitter that was told finds it there.
 *
 * The worker that gets a job when no other one is idle starts another, a reserve, before it runs
 * the job, up to the limit; so carriers do not start threads, except the first. `starting` is set
 * in the step that gives the job.
 *
 * Model: tests/model/offload.c. Stress: tests/stress/offload.c.
 */
#include "pool/queue.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"

void hauli_pool_lock(struct hauli_pool *p)
{
	(void)hauli_lockword_lock(&p->lock);
}

void hauli_pool_unlock(struct hauli_pool *p)
{
	hauli_lockword_unlock(&p->lock, 0);
}

/* Real time, also where haul_now()'s is virtual. */
static uint64_t now_ns(void)
{
	struct timespec now = hauli_monotonic_in(0);

	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void leave_queue(struct hauli_pool *p, struct hauli_job *job)
{
	uint64_t ns = now_ns() - job->since;

	*(job->prev ? &job->prev->next : &p->first) = job->next;
	*(job->next ? &job->next->prev : &p->last) = job->prev;
	p->queued--;
	if (ns > p->longest_ns)
		p->longest_ns = ns;
}

static void enter_queue(struct hauli_pool *p, struct hauli_job *job)
{
	job->taken = false;
	job->since = now_ns();
	job->next = NULL;
	job->prev = p->last;
	*(p->last ? &p->last->next : &p->first) = job;
	p->last = job;
	p->queued++;
}

static struct hauli_job *take_first(struct hauli_pool *p)
{
	struct hauli_job *job = p->first;

	if (job) {
		leave_queue(p, job);
		job->taken = true;
	}
	return job;
}

static bool is_below_limit(const struct hauli_pool *p)
{
	return p->threads < p->most_threads;
}

static void count_start(struct hauli_pool *p)
{
	p->threads++;
	p->born++;
}

/* The worker, which is not idle, is to run job, which counts as running. */
static void give(struct hauli_pool *p, struct hauli_worker *w, struct hauli_job *job)
{
	w->job = job;
	w->starts = !p->idle && !p->starting && is_below_limit(p);
	if (w->starts) {
		count_start(p);
		p->starting = true;
	}
	w->moves = w->version != p->version;
	w->version = p->version;
}

static struct hauli_worker *pop_idle(struct hauli_pool *p)
{
	struct hauli_worker *w = p->idle;

	if (w) {
		p->idle = w->below;
		w->idle = false;
	}
	return w;
}

/* The worker has no job: takes one, ends, or is idle. */
static void go_on(struct hauli_pool *p, struct hauli_worker *w)
{
	struct hauli_job *job = p->threads > p->most_threads ? NULL : take_first(p);

	w->job = NULL;
	if (job) {
		p->running++;
		give(p, w, job);
	} else if (p->closed || p->threads > p->most_threads) {
		p->threads--;
	} else {
		hauli_completion_init(&w->go);
		w->waits = w->idle = true;
		w->below = p->idle;
		p->idle = w;
	}
}

int hauli_pool_put(struct hauli_pool *p, struct hauli_job *job, bool at_once, bool may_start)
{
	struct hauli_worker *w;
	int how;

	hauli_pool_lock(p);
	w = pop_idle(p);
	if (w) {
		p->running++;
		give(p, w, job);
		how = HAULI_JOB_GIVEN;
	} else if (may_start && is_below_limit(p) && (at_once || !p->starting)) {
		p->running++;
		count_start(p);
		how = HAULI_JOB_STARTS;
	} else if (p->threads == 0) {
		how = -ENOMEM;
	} else if (at_once) {
		how = -EAGAIN;
	} else if (p->queued >= p->most_queued) {
		p->refused++;
		how = -ENOBUFS;
	} else {
		enter_queue(p, job);
		how = HAULI_JOB_QUEUED;
	}
	hauli_pool_unlock(p);
	if (w)
		hauli_completion_set(&w->go);
	return how;
}

bool hauli_pool_withdraw(struct hauli_pool *p, struct hauli_job *job)
{
	bool there;

	hauli_pool_lock(p);
	there = !job->taken;
	if (there) {
		leave_queue(p, job);
		p->withdrawn++;
	}
	hauli_pool_unlock(p);
	return there;
}

void hauli_worker_begin(struct hauli_pool *p, struct hauli_worker *w, struct hauli_job *job)
{
	*w = (struct hauli_worker){.job = NULL};
	hauli_pool_lock(p);
	w->version = p->version - 1; /* it may have been created with older ones */
	if (job) {
		give(p, w, job);
	} else {
		p->starting = false;
		go_on(p, w);
	}
	hauli_pool_unlock(p);
}

void hauli_worker_run(struct hauli_pool *p, struct hauli_worker *w)
{
	struct hauli_job *job = w->job;

	job->run(job);
	hauli_pool_lock(p);
	p->running--;
	p->done++;
	go_on(p, w);
	hauli_pool_unlock(p);
	job->end(job, 0);
}

/* The worker has waited for idle_ns. True: it ends. The last idle one stays. */
static bool gives_up(struct hauli_pool *p, struct hauli_worker *w, bool *idle)
{
	struct hauli_worker **at = &p->idle;
	bool ends;

	hauli_pool_lock(p);
	*idle = w->idle;
	ends = w->idle && (p->idle != w || w->below);
	if (ends) {
		while (*at != w)
			at = &(*at)->below;
		*at = w->below;
		w->idle = false;
		p->threads--;
	}
	hauli_pool_unlock(p);
	return ends;
}

static bool wait_for(struct hauli_worker *w, uint64_t ns)
{
	struct timespec until = hauli_monotonic_in(ns);

	return hauli_completion_wait_until(&w->go, ns == UINT64_MAX ? NULL : &until);
}

static uint64_t idle_ns(struct hauli_pool *p)
{
	uint64_t ns;

	hauli_pool_lock(p);
	ns = p->idle_ns;
	hauli_pool_unlock(p);
	return ns;
}

/* False: it ends. */
static bool wait_until_taken_out(struct hauli_pool *p, struct hauli_worker *w)
{
	bool idle = true;

	while (!wait_for(w, idle ? idle_ns(p) : UINT64_MAX))
		if (gives_up(p, w, &idle))
			return false;
	w->waits = false;
	return true;
}

bool hauli_worker_next(struct hauli_pool *p, struct hauli_worker *w)
{
	if (w->waits && !wait_until_taken_out(p, w))
		return false;
	return w->job != NULL;
}

bool hauli_pool_rests(struct hauli_pool *p, unsigned *born)
{
	bool rests;

	hauli_pool_lock(p);
	rests = p->running == 0 && p->queued == 0 && !p->starting;
	*born = p->born;
	hauli_pool_unlock(p);
	return rests;
}

bool hauli_pool_not_started(struct hauli_pool *p, bool reserve)
{
	bool last;

	hauli_pool_lock(p);
	if (reserve)
		p->starting = false;
	else
		p->running--;
	p->threads--;
	p->born--;
	last = p->threads == 0;
	hauli_pool_unlock(p);
	return last;
}

struct hauli_job *hauli_pool_take_orphan(struct hauli_pool *p)
{
	struct hauli_job *job;

	hauli_pool_lock(p);
	job = p->threads == 0 ? take_first(p) : NULL;
	hauli_pool_unlock(p);
	return job;
}

struct hauli_worker *hauli_pool_retire(struct hauli_pool *p, unsigned most)
{
	struct hauli_worker *first = NULL, *w;

	while (p->threads > most && (w = pop_idle(p)) != NULL) {
		p->threads--; /* it has no job: it ends */
		w->below = first;
		first = w;
	}
	return first;
}

void hauli_pool_wake(struct hauli_worker *first)
{
	while (first) {
		struct hauli_worker *w = first;

		first = w->below;
		hauli_completion_set(&w->go);
	}
}
