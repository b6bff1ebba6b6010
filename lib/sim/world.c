/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of a simulation are coroutines of one thread, each with a stack of its own, on
 * which haul's carriers run as on that of a real one. A thread that waits switches to the next
 * one itself; if none is ready, it moves the clock first. So there is no loop that runs in
 * between, and a simulation in which nothing happens costs nothing, however long.
 *
 * Each choice (who goes on, when the next switch comes, how late a sleep ends) draws from one
 * random generator, and the order in which they come follows from the choices before, so the
 * seed is all that a run depends on. Threads have numbers in the order of their start. Addresses
 * of memory play no part: the waiters for an address are found by it, and stand in the order in
 * which they came.
 */
#include "sim/world.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <haul-sim/sim.h>

#include "base/assert.h"
#include "base/random.h"
#include "coro/fiber.h"
#include "sched/state/self.h"
#include "sim/check.h"
#include "sim/delay.h"
#include "sim/fault.h"
#include "sim/fds/table.h"
#include "sim/heap.h"
#include "sim/marks.h"
#include "sim/real.h"

#include "sim/state.h"
#include "sim/steps.h"
#include "sim/stuck.h"
#include "sim/thread.h"

#define STEPS 64
#define BEGIN (1000 * HAUL_S) /* of the clock: no time is 0, nor before 0 */
#define LIMIT (UINT64_C(10) * 365 * 24 * 3600 * HAUL_S)
/* No two reads of the clock give the same time, as those of a real one do not; and a loop that
 * waits for a time without a pause has to see it come. */
#define READS 256
#define READ_NS 16
#define PAUSE_NS 100
#define RUNS ((enum haul_sim_end) - 1)
#define NB_BACKGROUND_MAX 64

struct hauli_sim_world hauli_world;

static __thread bool is_on;
static struct hauli_sim_marks *marks; /* NULL: none */

uint64_t hauli_sim_steps_left = UINT64_MAX;

static __thread struct {
	unsigned depth;
	uint64_t steps_left; /* as before */
} unseen;

bool hauli_sim_is_on(void)
{
	return is_on;
}

void haul_sim_note(uint64_t fact)
{
	hauli_world.hash = (hauli_world.hash ^ fact) * UINT64_C(0x9e3779b97f4a7c15);
	hauli_world.hash ^= hauli_world.hash >> 29;
}

uint64_t hauli_sim_random(void)
{
	return hauli_random_next(&hauli_world.random);
}

struct hauli_sim_thread *hauli_sim_self(void)
{
	return hauli_world.current;
}

struct hauli_sim_thread *hauli_sim_oldest(void)
{
	return hauli_world.oldest;
}

uint64_t hauli_sim_now(void)
{
	return hauli_world.now;
}

static void draw_steps(void)
{
	hauli_sim_steps_left = 1 + hauli_random_below(&hauli_world.random, 2 * hauli_world.steps);
}

bool hauli_sim_add_ready(struct hauli_sim_thread *t)
{
	if (hauli_world.nb_ready == hauli_world.room) {
		size_t room = hauli_world.room ? 2 * hauli_world.room : 64;
		struct hauli_sim_thread **more = realloc(hauli_world.ready, room * sizeof(more[0]));

		if (!more)
			return false;
		hauli_world.ready = more;
		hauli_world.room = room;
	}
	hauli_world.ready[hauli_world.nb_ready++] = t;
	return true;
}

void hauli_sim_need(bool has_memory)
{
	if (!has_memory)
		abort();
}

static struct hauli_sim_queue *bucket_of(const void *addr)
{
	return &hauli_world.waits[((uintptr_t)addr >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

_Static_assert(HAULI_SIM_BUCKETS == 1 << (64 - 54), "the bits that bucket_of() takes");

/* It waits no more. */
void hauli_sim_rouse_thread(struct hauli_sim_thread *t)
{
	struct hauli_sim_queue *q = bucket_of(t->waits_for);
	struct hauli_sim_thread **at = &q->first;

	if (t->waits_for) {
		while (*at != t)
			at = &(*at)->next;
		*at = t->next;
		if (!*at)
			q->end = at;
		t->waits_for = NULL;
	}
	hauli_sim_cancel(&t->timer);
	if (t->rests)
		hauli_sim_hosts_rest_ends(&hauli_world.hosts, t);
	hauli_sim_need(hauli_sim_add_ready(t));
}

static void time_out(struct hauli_sim_timer *timer)
{
	struct hauli_sim_thread *t = (struct hauli_sim_thread *)timer;

	t->timed_out = true;
	hauli_sim_rouse_thread(t);
}

static void expire(void)
{
	struct hauli_sim_timer *first;
	uint64_t left = hauli_sim_steps_left;

	hauli_sim_steps_left = UINT64_MAX; /* what fires is no thread that could be kept waiting */
	while ((first = hauli_sim_heap_first(&hauli_world.timers)) &&
		first->at <= hauli_world.now) {
		hauli_sim_cancel(first);
		first->fire(first);
	}
	hauli_sim_steps_left = left;
}

void hauli_sim_at(struct hauli_sim_timer *t, uint64_t at)
{
	hauli_sim_need(hauli_sim_heap_add(&hauli_world.timers, t, at));
}

void hauli_sim_cancel(struct hauli_sim_timer *t)
{
	if (t->place)
		hauli_sim_heap_remove(&hauli_world.timers, t);
}

static void pass(uint64_t ns)
{
	hauli_world.now += ns;
	hauli_world.reads = hauli_world.pauses = 0;
}

/* What the sanitizer has to know of the two stacks. */
static inline __attribute__((always_inline)) void leave(
	struct hauli_sim_thread *from, struct hauli_sim_thread *to)
{
#if HAULI_ASAN
	__sanitizer_start_switch_fiber(from->has_ended ? NULL : &from->fake, to->lo, to->size);
#endif
}

/* came_from: who switched here, of whose stack the sanitizer now tells the bounds. */
void hauli_sim_arrive(struct hauli_sim_thread *self, struct hauli_sim_thread *came_from)
{
#if HAULI_ASAN
	__sanitizer_finish_switch_fiber(self->fake, &came_from->lo, &came_from->size);
#endif
	hauli_sim_free_over();
}

static void mark(const struct hauli_sim_thread *to)
{
	struct hauli_sim_mark at = {
		hauli_world.switches, hauli_world.now - BEGIN, hauli_world.hash, to->id, ""};

	memcpy(at.name, to->name, sizeof(at.name));
	hauli_world.mark_at = hauli_sim_marks_add(marks, &at);
}

void hauli_sim_rouse(unsigned host)
{
	struct hauli_sim_host *h = &hauli_world.hosts.all[host];

	h->acts++;
	while (h->resting)
		hauli_sim_rouse_thread(h->resting);
}

/* After something that one of them has done. */
static void rouse_those_of(unsigned host)
{
	hauli_sim_rouse(host);
	for (unsigned i = 1; host == 0 && i < hauli_world.hosts.n; i++)
		hauli_sim_rouse(i);
}

void hauli_sim_switch_to(struct hauli_sim_thread *to)
{
	struct hauli_sim_thread *from = hauli_world.current;

	if (from == to)
		return;
	from->carrier = hauli_self();
	from->err = errno;
	if (hauli_world.exceptions) {
		from->exceptions = *hauli_world.exceptions;
		*hauli_world.exceptions = to->exceptions;
	}
	hauli_world.current = to;
	hauli_world.switches++;
	haul_sim_note(to->id);
	haul_sim_note(hauli_world.now);
	if (hauli_world.switches == hauli_world.mark_at)
		mark(to);
	hauli_self_set(to->carrier);
	leave(from, to);
	hauli_sim_arrive(from, hauli_switch(&from->ctx, &to->ctx, from));
	if (from->signal)
		hauli_sim_take_signal(from);
	errno = from->err;
}

void hauli_sim_finish(enum haul_sim_end end)
{
	hauli_world.end = end;
	hauli_sim_switch_to(&hauli_world.control);
	__builtin_unreachable();
}

/* True if no thread will do anything any more but those in the background. */
static bool is_stuck(void)
{
	if (hauli_world.timers.n > NB_BACKGROUND_MAX)
		return false;
	for (size_t i = 1; i <= hauli_world.timers.n; i++)
		if (!hauli_world.timers.timers[i]->is_background)
			return false;
	return true;
}

/* Takes one of the threads that are ready, at the first time at which there is one. */
static struct hauli_sim_thread *pick(void)
{
	struct hauli_sim_thread *t;
	size_t i = 0;

	expire();
	while (hauli_world.nb_ready == 0) {
		struct hauli_sim_timer *first = hauli_sim_heap_first(&hauli_world.timers);

		if (is_stuck())
			hauli_sim_finish(HAUL_SIM_STUCK);
		if (first->at > hauli_world.until) {
			pass(hauli_world.until - hauli_world.now);
			hauli_sim_finish(HAUL_SIM_LIMIT);
		}
		pass(first->at - hauli_world.now);
		hauli_world.has_advanced = true;
		expire();
	}
	if (hauli_world.has_advanced && hauli_sim_has_checks &&
		hauli_world.current != &hauli_world.control)
		return &hauli_world.control;
	if (hauli_world.nb_ready > 1)
		i = hauli_random_below(&hauli_world.random, (uint32_t)hauli_world.nb_ready);
	t = hauli_world.ready[i];
	hauli_world.ready[i] = hauli_world.ready[--hauli_world.nb_ready];
	return t;
}

/* Somebody else runs. */
void hauli_sim_give_way(void)
{
	if (!hauli_world.current->rests && !hauli_world.current->looks)
		rouse_those_of(hauli_world.current->host);
	hauli_sim_switch_to(pick());
}

void hauli_sim_yield(void)
{
	draw_steps();
	if (hauli_world.now > hauli_world.until)
		hauli_sim_finish(HAUL_SIM_LIMIT);
	hauli_sim_need(hauli_sim_add_ready(hauli_world.current));
	hauli_sim_give_way();
}

bool hauli_sim_wait_in(const void *addr, uint64_t until, const char *in)
{
	struct hauli_sim_thread *me = hauli_world.current;
	struct hauli_sim_queue *q = bucket_of(addr);

	hauli_sim_need(me != &hauli_world.control);
	me->timed_out = me->looks = false;
	me->waits_in = in;
	me->waits_since = hauli_world.now;
	me->waits_for = addr;
	if (addr) {
		me->next = NULL;
		if (!q->first)
			q->end = &q->first;
		*q->end = me;
		q->end = &me->next;
	}
	if (until != HAULI_NEVER) {
		me->timer.fire = time_out;
		hauli_sim_at(&me->timer, until + hauli_sim_late_ns());
	}
	hauli_sim_give_way();
	draw_steps();
	me->waits_in = NULL;
	return !me->timed_out;
}

void hauli_sim_wake(const void *addr, unsigned n)
{
	struct hauli_sim_thread *next = bucket_of(addr)->first;

	for (struct hauli_sim_thread *t; (t = next) && n > 0;) {
		next = t->next;
		if (t->waits_for != addr)
			continue;
		hauli_sim_rouse_thread(t);
		n--;
	}
}

void hauli_sim_switch(void)
{
	uint64_t ns;

	if (!is_on) {
		hauli_sim_steps_left = UINT64_MAX;
		return;
	}
	ns = hauli_sim_away_ns(hauli_world.current, hauli_world.now);
	if (ns > 0)
		(void)hauli_sim_wait_in(NULL, hauli_world.now + ns, "a fault");
	else
		hauli_sim_yield();
}

void hauli_sim_pause(void)
{
	if (!is_on)
		return;
	hauli_world.current->looks = false;
	/* Once all that are ready may have looked. */
	if (hauli_world.pauses++ >= hauli_world.nb_ready)
		pass(PAUSE_NS);
	hauli_sim_yield();
}

void **hauli_sim_pool(void)
{
	static void *of_process;

	return is_on ? &hauli_world.hosts.all[hauli_world.current->host].pool : &of_process;
}

void hauli_sim_rest(uint64_t until, int has_acted)
{
	struct hauli_sim_thread *me = hauli_world.current;

	if (!is_on)
		return;
	if (has_acted) {
		hauli_sim_pause(); /* those that it concerns look first */
	} else if (me->seen == hauli_world.hosts.all[me->host].acts && until > hauli_world.now) {
		hauli_sim_hosts_rest(&hauli_world.hosts, me);
		(void)hauli_sim_wait(NULL, until);
	}
	me->seen = hauli_world.hosts.all[me->host].acts;
	me->looks = true;
}

void hauli_sim_unseen_begin(void)
{
	if (unseen.depth++ > 0)
		return;
	unseen.steps_left = hauli_sim_steps_left;
	hauli_sim_steps_left = UINT64_MAX;
}

void hauli_sim_unseen_end(void)
{
	if (--unseen.depth == 0)
		hauli_sim_steps_left = unseen.steps_left;
}

uint64_t hauli_sim_ticks(void)
{
	if (!is_on)
		return hauli_sim_real_ns();
	if (unseen.depth > 0)
		return hauli_world.now;
	hauli_world.now += ++hauli_world.reads > READS ? READ_NS : 1;
	return hauli_world.now;
}

void hauli_sim_result(struct haul_sim_result *result)
{
	*result = (struct haul_sim_result){
		.end = hauli_world.end,
		.value = hauli_world.value,
		.hash = hauli_world.hash,
		.ns = hauli_world.now - BEGIN,
		.switches = hauli_world.switches,
		.threads = hauli_world.nb_threads,
		.left = hauli_world.nb_threads - hauli_world.nb_ended,
	};
}

uint64_t hauli_sim_passed(void)
{
	return hauli_world.now - BEGIN;
}

uint64_t hauli_sim_seed(void)
{
	return hauli_world.seed;
}

void hauli_sim_mark(struct hauli_sim_marks *m)
{
	marks = m;
	if (m && m->every == 0)
		m->from = m->every = 1;
}

static void *first(void *unused)
{
	struct hauli_sim_thread *me = hauli_world.current;

	hauli_world.value = hauli_world.fn(hauli_world.arg);
	me->has_ended = me->is_detached = true;
	hauli_world.over = me;
	hauli_world.nb_ended++;
	hauli_sim_finish(HAUL_SIM_RETURNED);
}

static void begin(const struct haul_sim_opts *opts)
{
	memset(&hauli_world, 0, sizeof(hauli_world));
	hauli_random_init(&hauli_world.random, opts->seed + 1);
	for (unsigned i = 0; i < 8; i++) /* small seeds differ in few bits */
		(void)hauli_random_next(&hauli_world.random);
	hauli_world.now = BEGIN;
	hauli_world.steps = opts->steps ? opts->steps : STEPS;
	hauli_world.until = hauli_world.now + (opts->limit_ns ? opts->limit_ns : LIMIT);
	hauli_world.current = &hauli_world.control;
	(void)hauli_sim_host_new("");
	hauli_world.hash = opts->seed;
	hauli_world.seed = opts->seed;
	hauli_world.mark_at = marks ? marks->from : UINT64_MAX;
	hauli_sim_checks_begin();
	hauli_sim_delays_begin();
	hauli_world.exceptions = hauli_exceptions_here();
}

/* The invariants, on the thread of haul_sim_run(): at a time to which the clock has just gone, and
 * at the end. */
static void check(void)
{
	uint64_t left = hauli_sim_steps_left;

	hauli_world.has_advanced = false;
	if (hauli_world.end != RUNS && hauli_world.end != HAUL_SIM_RETURNED)
		return;
	hauli_sim_steps_left = UINT64_MAX;
	if (!hauli_sim_check())
		hauli_world.end = HAUL_SIM_FAILED;
	hauli_sim_steps_left = left;
}

int haul_sim_run(const struct haul_sim_opts *opts, int (*fn)(void *arg), void *arg,
	struct haul_sim_result *result)
{
	static bool runs;
	struct hauli_sim_fault_set faults;
	int rc;

	HAUL_MISUSE_IF(!opts || !fn || !result, "the options, the function or the result is NULL");
	if (runs)
		return -EBUSY;
	rc = hauli_sim_faults_parse(&faults, opts->faults ? opts->faults : "none", NULL, 0);
	if (rc)
		return rc;
	begin(opts);
	hauli_world.fn = fn;
	hauli_world.arg = arg;
	rc = hauli_sim_fds_begin();
	if (rc || !hauli_sim_start(first, NULL)) {
		free(faults.ranges);
		return rc ? rc : -ENOMEM;
	}
	hauli_sim_faults_begin(opts->seed, &faults);
	runs = is_on = true;
	draw_steps();
	for (hauli_world.end = RUNS; hauli_world.end == RUNS; check())
		hauli_sim_switch_to(pick());
	hauli_sim_faults_end();
	hauli_sim_steps_left = UINT64_MAX;
	hauli_sim_result(result);
	if (hauli_world.end == HAUL_SIM_STUCK || hauli_world.end == HAUL_SIM_LIMIT)
		hauli_sim_tell_stuck();
	runs = is_on = false;
	free(faults.ranges);
	hauli_sim_fds_end();
	hauli_sim_heap_fini(&hauli_world.timers);
	free(hauli_world.ready);
	free(hauli_world.hosts.all);
	return 0;
}
