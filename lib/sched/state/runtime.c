/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of the runtimes of the process, and the getters of a runtime. */
#include "sched/state/runtime.h"

#include <errno.h>
#include <stdlib.h>

#include "base/forks.h"
#include "sched/state/carrier.h"

/* All runtimes that are started and not stopped. */
static struct haul_runtime *runtimes; /* under the lock of the process */

/* The last thread that has stopped a runtime. Under the lock of the process. */
static pthread_t stopper;
static bool has_stopper;

/* hauli_forks at the last start of a runtime. Written by the only thread of a child of fork(). */
static unsigned forks_at_start;

/* The link to rt in the list, or the NULL link at its end. */
static struct haul_runtime **find(const struct haul_runtime *rt)
{
	struct haul_runtime **at = &runtimes;

	while (*at && *at != rt)
		at = &(*at)->next;
	return at;
}

void hauli_runtime_enlist(struct haul_runtime *rt)
{
	hauli_process_lock();
	rt->next = runtimes;
	runtimes = rt;
	hauli_process_unlock();
}

void hauli_runtime_delist(struct haul_runtime *rt)
{
	hauli_process_lock();
	*find(rt) = rt->next;
	stopper = pthread_self();
	has_stopper = true;
	hauli_process_unlock();
}

bool hauli_runtime_is_running(const struct haul_runtime *rt)
{
	bool found;

	hauli_process_lock();
	found = rt && *find(rt) == rt;
	hauli_process_unlock();
	return found;
}

int hauli_runtimes_join(const void *p, struct haul_runtime **rt)
{
	int err;

	hauli_process_lock();
	for (*rt = runtimes; *rt && !hauli_slab_has((*rt)->coros, p);)
		*rt = (*rt)->next;
	if (*rt)
		err = hauli_gate_enter(&(*rt)->joins) ? 0 : -ECANCELED;
	else
		err = has_stopper && !pthread_equal(stopper, pthread_self()) ? -ECANCELED : -ENOENT;
	hauli_process_unlock();
	return err;
}

void hauli_runtime_has_joined(struct haul_runtime *rt)
{
	hauli_gate_leave(&rt->joins);
}

void hauli_runtimes_for_each(void (*fn)(struct haul_runtime *rt))
{
	hauli_process_lock();
	for (struct haul_runtime *rt = runtimes; rt; rt = rt->next)
		fn(rt);
	hauli_process_unlock();
}

bool hauli_runtimes_are_copies(void)
{
	return hauli_forks != forks_at_start;
}

void hauli_runtimes_forget_copies(void)
{
	if (!hauli_runtimes_are_copies())
		return;
	forks_at_start = hauli_forks;
	runtimes = NULL; /* the runtimes of the parent have no threads here */
}

void hauli_runtime_hold(struct haul_runtime *rt)
{
	pthread_mutex_lock(&rt->lock);
	rt->holders++;
	pthread_mutex_unlock(&rt->lock);
}

void hauli_runtime_let_go(struct haul_runtime *rt)
{
	pthread_mutex_lock(&rt->lock);
	rt->holders--;
	pthread_mutex_unlock(&rt->lock);
}

bool hauli_runtime_is_held(struct haul_runtime *rt)
{
	bool held;

	pthread_mutex_lock(&rt->lock);
	held = rt->holders > 0;
	pthread_mutex_unlock(&rt->lock);
	return held;
}

#define NO_RUNTIME "the runtime is NULL; give what haul_start() has given"

size_t haul_trim(struct haul_runtime *rt)
{
	HAUL_MISUSE_IF(!rt, NO_RUNTIME);
	return hauli_stacks_trim(rt->stacks);
}

unsigned haul_carriers(const struct haul_runtime *rt)
{
	HAUL_MISUSE_IF(!rt, NO_RUNTIME);
	return rt->nb_carriers;
}

struct haul_carrier *haul_carrier(struct haul_runtime *rt, unsigned i)
{
	HAUL_MISUSE_IF(!rt, NO_RUNTIME);
	return i < rt->nb_carriers ? &rt->carriers[i] : NULL;
}

void hauli_runtime_is_woken(const struct haul_coro *co)
{
	struct haul_carrier *home = hauli_coro_home(co);

	if (home)
		hauli_u8_shared_set_bits(&home->rt->woken_from_outside, 1);
}
