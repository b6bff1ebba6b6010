/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of the process that run what would block a carrier. They are no carriers, and know
 * nothing of coroutines. There is one pool for all runtimes; it has no thread before the first job,
 * and none after the last runtime's stop.
 */
#ifndef HAULI_POOL_POOL_H
#define HAULI_POOL_POOL_H

#include <haul/offload.h>
#include <haul/topo.h>

#include "pool/queue.h"

/*
 * A runtime starts: no worker runs on the CPUs of its carriers if there are others. Returns 0 or
 * -ENOMEM. release: it has stopped, and has no jobs; ends all workers if it was the last. Not on a
 * carrier.
 */
struct hauli_pool_user;
int hauli_pool_hold(struct hauli_pool_user **user, const struct haul_place *places, unsigned n);
void hauli_pool_release(struct hauli_pool_user *user);

/*
 * Any thread, while a runtime is held. May start the first worker, which takes some 50 us. Returns
 * HAULI_JOB_GIVEN or HAULI_JOB_QUEUED; or -ENOBUFS, -EAGAIN as hauli_pool_put(); -ENOMEM: there is
 * no thread, and none could be started; -EPERM: in a child of fork().
 */
int hauli_pool_submit(struct hauli_job *job, bool at_once);

/* The submitter of a queued job, once. False: end() will be called, or was. */
bool hauli_pool_take_back(struct hauli_job *job);

/* True if no worker runs a job; *threads: how many there are. Any thread. */
bool hauli_pool_is_at_rest(unsigned *threads);

/* haul_offload_set() and haul_offload_get_stats(). */
int hauli_pool_set(const struct haul_offload_opts *opts);
void hauli_pool_get_stats(struct haul_offload_stats *st);

#endif
