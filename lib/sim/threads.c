/* SPDX-License-Identifier: BSD-3-Clause */
/* The begin and the end of simulated threads, signals to them, and hosts that are killed. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "coro/fiber.h"
#include "sim/fds/table.h"
#include "sim/state.h"
#include "sim/steps.h"
#include "sim/world.h"

static void unmap_stack(struct hauli_sim_thread *t)
{
	hauli_fiber_discard(t->stack, HAULI_SIM_GUARD_BYTES + HAULI_SIM_STACK_BYTES);
	munmap(t->stack, HAULI_SIM_GUARD_BYTES + HAULI_SIM_STACK_BYTES);
	t->stack = NULL;
}

static void free_thread(struct hauli_sim_thread *t)
{
	*(t->older ? &t->older->newer : &hauli_world.oldest) = t->newer;
	*(t->newer ? &t->newer->older : &hauli_world.newest) = t->older;
	free(t);
}

void hauli_sim_free_over(void)
{
	struct hauli_sim_thread *over = hauli_world.over;

	hauli_world.over = NULL;
	if (!over)
		return;
	unmap_stack(over);
	if (over->is_detached)
		free_thread(over);
}

/* The handler runs here and now, and is no step. */
void hauli_sim_take_signal(struct hauli_sim_thread *me)
{
	struct hauli_sim_thread *signaller = me->signaller;
	uint64_t left = hauli_sim_steps_left;
	int sig = me->signal, err = me->err;

	me->signal = 0;
	hauli_sim_steps_left = UINT64_MAX;
	raise(sig);
	hauli_sim_steps_left = left;
	hauli_sim_switch_to(signaller);
	me->err = err;
}

bool hauli_sim_signal(unsigned id, int sig)
{
	struct hauli_sim_thread *t = hauli_world.oldest;

	while (t && (t->id != id || t->has_ended))
		t = t->newer;
	if (!t)
		return false;
	if (sig < 64 && t->blocked >> sig & 1) {
		t->pending |= UINT64_C(1) << sig;
		return true;
	}
	if (t == hauli_world.current) {
		raise(sig);
		return true;
	}
	t->signal = sig;
	t->signaller = hauli_world.current;
	hauli_sim_switch_to(t);
	return true;
}

unsigned hauli_sim_id(const struct hauli_sim_thread *t)
{
	return t->id;
}

bool hauli_sim_is_here(const struct hauli_sim_thread *t)
{
	const struct hauli_sim_thread *at = hauli_world.hosts.all[hauli_sim_host()].threads;

	while (at && at != t)
		at = at->next_of_host;
	return at;
}

void *hauli_sim_stack(const struct hauli_sim_thread *t, size_t *size)
{
	*size = HAULI_SIM_STACK_BYTES;
	return t->stack ? (char *)t->stack + HAULI_SIM_GUARD_BYTES : NULL;
}

static void body(void *came_from)
{
	struct hauli_sim_thread *me = hauli_world.current;

	hauli_sim_arrive(me, came_from);
	if (me->signal)
		hauli_sim_take_signal(me);
	me->result = me->fn(me->arg);
	me->has_ended = true;
	hauli_sim_hosts_leave(me);
	hauli_world.over = me;
	hauli_world.nb_ended++;
	hauli_sim_wake(me, UINT32_MAX);
	hauli_sim_give_way();
	__builtin_unreachable();
}

unsigned hauli_sim_host(void)
{
	return hauli_world.current->host;
}

const char *hauli_sim_host_name(unsigned host)
{
	return hauli_world.hosts.all[host].name;
}

unsigned hauli_sim_host_new(const char *name)
{
	unsigned host = hauli_sim_hosts_add(&hauli_world.hosts, name);

	hauli_sim_need(host != UINT_MAX);
	return host;
}

void hauli_sim_host_forget(unsigned host)
{
	hauli_sim_hosts_remove(&hauli_world.hosts, host);
}

void hauli_sim_holds(int more)
{
	hauli_world.current->holds += more;
}

static void take_out_of_ready(struct hauli_sim_thread *t)
{
	for (size_t i = 0; i < hauli_world.nb_ready; i++) {
		if (hauli_world.ready[i] != t)
			continue;
		hauli_world.ready[i] = hauli_world.ready[--hauli_world.nb_ready];
		return;
	}
}

bool hauli_sim_kill(unsigned host)
{
	struct hauli_sim_thread *t;

	for (t = hauli_world.hosts.all[host].threads; t; t = t->next_of_host)
		if (t->holds > 0)
			return false;
	hauli_sim_fds_kill(host);
	while ((t = hauli_world.hosts.all[host].threads)) {
		if (t->waits_for || t->timer.place || t->rests)
			hauli_sim_rouse_thread(t);
		take_out_of_ready(t);
		hauli_sim_hosts_leave(t);
		hauli_world.nb_ended++;
		unmap_stack(t);
		free_thread(t);
	}
	return true;
}

struct hauli_sim_thread *hauli_sim_start(void *(*fn)(void *), void *arg)
{
	return hauli_sim_start_on(hauli_world.current->host, fn, arg);
}

struct hauli_sim_thread *hauli_sim_start_on(unsigned host, void *(*fn)(void *), void *arg)
{
	struct hauli_sim_thread *t = calloc(1, sizeof(*t));
	char *stack =
		mmap(NULL, HAULI_SIM_GUARD_BYTES + HAULI_SIM_STACK_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (!t || stack == MAP_FAILED || mprotect(stack, HAULI_SIM_GUARD_BYTES, PROT_NONE) != 0 ||
		!hauli_sim_add_ready(t)) {
		if (stack != MAP_FAILED)
			munmap(stack, HAULI_SIM_GUARD_BYTES + HAULI_SIM_STACK_BYTES);
		free(t);
		return NULL;
	}
	t->id = ++hauli_world.nb_threads;
	hauli_sim_hosts_join(&hauli_world.hosts, t, host);
	t->older = hauli_world.newest;
	*(hauli_world.newest ? &hauli_world.newest->newer : &hauli_world.oldest) = t;
	hauli_world.newest = t;
	t->fn = fn;
	t->arg = arg;
	t->blocked = hauli_world.current->blocked;
	t->stack = stack;
#if HAULI_ASAN
	t->lo = stack + HAULI_SIM_GUARD_BYTES;
	t->size = HAULI_SIM_STACK_BYTES;
#endif
	hauli_ctx_prepare(&t->ctx, stack + HAULI_SIM_GUARD_BYTES + HAULI_SIM_STACK_BYTES, body);
	return t;
}

void *hauli_sim_join(struct hauli_sim_thread *t)
{
	void *result;

	while (!t->has_ended)
		(void)hauli_sim_wait(t, HAULI_NEVER);
	result = t->result;
	free_thread(t); /* its stack is gone: somebody has run since */
	return result;
}

void hauli_sim_detach(struct hauli_sim_thread *t)
{
	t->is_detached = true;
	if (t->has_ended)
		free_thread(t);
}
