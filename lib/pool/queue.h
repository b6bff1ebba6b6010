/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of the pool: jobs that wait for a worker, workers that wait for a job (queue.c). */
#ifndef HAULI_POOL_QUEUE_H
#define HAULI_POOL_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "conc/completion.h"
#include "conc/lockword.h"

/* Lies in the memory of its submitter, until end() begins or it was withdrawn. */
struct hauli_job {
	void (*run)(struct hauli_job *job); /* by a worker */
	/* The last step; the submitter is told. err: 0, or why run() was not called. */
	void (*end)(struct hauli_job *job, int err);
	struct hauli_job *next, *prev; /* in the queue */
	uint64_t since; /* ns: when it entered the queue */
	bool taken; /* out of the queue, by a worker */
};

/* Lies on the stack of its thread. */
struct hauli_worker {
	/* Under the lock; while it is idle, by others. */
	struct hauli_worker *below; /* in the stack of idle workers */
	bool idle; /* in the stack */
	struct hauli_completion go; /* it was taken out of the stack */
	struct hauli_job *job; /* to run; NULL: it is idle, or ends */
	bool starts; /* is to start a reserve before it runs the job */
	bool moves; /* the CPUs are others */
	uint32_t version; /* of the CPUs where it runs */

	bool waits; /* it has entered the stack, and not waited yet. The worker */
};

struct hauli_pool {
	struct hauli_lockword lock; /* of all fields */
	struct hauli_worker *idle; /* a stack: those at the bottom end by and by */
	struct hauli_job *first, *last; /* the queue; empty while a worker is idle */
	uint32_t version; /* of the CPUs for workers */
	unsigned threads; /* that are to stay: started, or about to be */
	unsigned born; /* those, and those that have not quite ended */
	bool starting; /* a reserve is on its way */
	bool closed; /* the last runtime stops */
	unsigned most_threads, most_queued;
	uint64_t idle_ns;
	unsigned queued, running;
	uint64_t done, refused, withdrawn, longest_ns;
};

enum {
	HAULI_JOB_GIVEN, /* to an idle worker */
	HAULI_JOB_QUEUED,
	HAULI_JOB_STARTS, /* the caller is to start a worker for it */
};

/*
 * Any thread. at_once: the job is not to be queued. may_start: false after a thread could not be
 * started. Returns one of the above; -ENOBUFS: the queue is full; -EAGAIN: it would be queued;
 * -ENOMEM: there is no thread.
 */
int hauli_pool_put(struct hauli_pool *p, struct hauli_job *job, bool at_once, bool may_start);

/* The submitter. Takes its job out of the queue. False: a worker has it, so end() will be called,
 * or was. */
bool hauli_pool_withdraw(struct hauli_pool *p, struct hauli_job *job);

/*
 * A worker, as `threads` and `born` count from the decision to start it:
 *	hauli_worker_begin(&w, its job or NULL);
 *	while (hauli_worker_next(&w)) {
 *		w.starts, w.moves ...
 *		hauli_worker_run(&w);
 *	}
 */
void hauli_worker_begin(struct hauli_pool *p, struct hauli_worker *w, struct hauli_job *job);
bool hauli_worker_next(struct hauli_pool *p, struct hauli_worker *w);
void hauli_worker_run(struct hauli_pool *p, struct hauli_worker *w);

/* A worker that was to start could not be. reserve: one without a job. True: it was the last one,
 * so the jobs in the queue are to be failed: hauli_pool_take_orphan() returns one by one. */
bool hauli_pool_not_started(struct hauli_pool *p, bool reserve);
struct hauli_job *hauli_pool_take_orphan(struct hauli_pool *p);

/* True if no worker runs a job or is being started; *born: their number. */
bool hauli_pool_rests(struct hauli_pool *p, unsigned *born);

void hauli_pool_lock(struct hauli_pool *p);
void hauli_pool_unlock(struct hauli_pool *p);

/* Under the lock: has idle workers end, while there are more than that. */
struct hauli_worker *hauli_pool_retire(struct hauli_pool *p, unsigned most);
/* Without the lock: wakes them. */
void hauli_pool_wake(struct hauli_worker *first);

#endif
