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
#include "sim/steps.h"
#include "sim/stuck.h"
#include "sim/thread.h"

#define STACK_BYTES (256 * 1024)
#define GUARD_BYTES 4096
#define BUCKETS 1024
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

struct queue {
	struct hauli_sim_thread *first, **end;
};

static struct {
	struct hauli_sim_thread *current, **ready, *over;
	size_t nb_ready, room;
	struct queue waits[BUCKETS];
	struct hauli_sim_heap timers;
	struct hauli_random random;
	struct hauli_exceptions *exceptions; /* the real thread's; NULL: no C++ */
	uint64_t now, reads, pauses, switches, hash, until;
	uint64_t seed, mark_at; /* the switch at which the next mark is due */
	unsigned steps, nb_threads, nb_ended;
	struct hauli_sim_thread control; /* who called haul_sim_run() */
	struct hauli_sim_thread *oldest, *newest;
	bool has_advanced; /* the clock, since checks (check.c) */
	enum haul_sim_end end;
	int (*fn)(void *arg);
	void *arg;
	int value;
} w;

static __thread bool is_on;
static struct hauli_sim_marks *marks; /* NULL: none */

uint64_t hauli_sim_steps_left = UINT64_MAX;

bool hauli_sim_is_on(void)
{
	return is_on;
}

void haul_sim_note(uint64_t fact)
{
	w.hash = (w.hash ^ fact) * UINT64_C(0x9e3779b97f4a7c15);
	w.hash ^= w.hash >> 29;
}

uint64_t hauli_sim_random(void)
{
	return hauli_random_next(&w.random);
}

struct hauli_sim_thread *hauli_sim_self(void)
{
	return w.current;
}

struct hauli_sim_thread *hauli_sim_oldest(void)
{
	return w.oldest;
}

uint64_t hauli_sim_now(void)
{
	return w.now;
}

static void draw_steps(void)
{
	hauli_sim_steps_left = 1 + hauli_random_below(&w.random, 2 * w.steps);
}

static bool add_ready(struct hauli_sim_thread *t)
{
	if (w.nb_ready == w.room) {
		size_t room = w.room ? 2 * w.room : 64;
		struct hauli_sim_thread **more = realloc(w.ready, room * sizeof(more[0]));

		if (!more)
			return false;
		w.ready = more;
		w.room = room;
	}
	w.ready[w.nb_ready++] = t;
	return true;
}

/* Without memory for its own lists a simulation cannot go on as it would with it. */
static void need(bool has_memory)
{
	if (!has_memory)
		abort();
}

static struct queue *bucket_of(const void *addr)
{
	return &w.waits[((uintptr_t)addr >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

_Static_assert(BUCKETS == 1 << (64 - 54), "the bits that bucket_of() takes");

/* It waits no more. */
static void rouse(struct hauli_sim_thread *t)
{
	struct queue *q = bucket_of(t->waits_for);
	struct hauli_sim_thread **at = &q->first;

	if (t->waits_for) {
		while (*at != t)
			at = &(*at)->next;
		*at = t->next;
		if (!*at)
			q->end = at;
		t->waits_for = NULL;
	}
	if (t->timer.place)
		hauli_sim_heap_remove(&w.timers, &t->timer);
	need(add_ready(t));
}

static void expire(void)
{
	struct hauli_sim_timer *first;

	while ((first = hauli_sim_heap_first(&w.timers)) && first->at <= w.now) {
		struct hauli_sim_thread *t = (struct hauli_sim_thread *)first;

		t->timed_out = true;
		rouse(t);
	}
}

static void pass(uint64_t ns)
{
	w.now += ns;
	w.reads = w.pauses = 0;
}

/* What the sanitizer has to know of the two stacks. */
static inline __attribute__((always_inline)) void leave(
	struct hauli_sim_thread *from, struct hauli_sim_thread *to)
{
#if HAULI_ASAN
	__sanitizer_start_switch_fiber(from->has_ended ? NULL : &from->fake, to->lo, to->size);
#endif
}

static void free_thread(struct hauli_sim_thread *t)
{
	*(t->older ? &t->older->newer : &w.oldest) = t->newer;
	*(t->newer ? &t->newer->older : &w.newest) = t->older;
	free(t);
}

static void free_over(void)
{
	struct hauli_sim_thread *over = w.over;

	w.over = NULL;
	if (!over)
		return;
	hauli_fiber_discard(over->stack, GUARD_BYTES + STACK_BYTES);
	munmap(over->stack, GUARD_BYTES + STACK_BYTES);
	over->stack = NULL;
	if (over->is_detached)
		free_thread(over);
}

/* came_from: who switched here, of whose stack the sanitizer now tells the bounds. */
static inline __attribute__((always_inline)) void arrive(
	struct hauli_sim_thread *self, struct hauli_sim_thread *came_from)
{
#if HAULI_ASAN
	__sanitizer_finish_switch_fiber(self->fake, &came_from->lo, &came_from->size);
#endif
	free_over();
}

static void mark(const struct hauli_sim_thread *to)
{
	struct hauli_sim_mark at = {w.switches, w.now - BEGIN, w.hash, to->id, ""};

	memcpy(at.name, to->name, sizeof(at.name));
	w.mark_at = hauli_sim_marks_add(marks, &at);
}

static void take_signal(struct hauli_sim_thread *me);

static void switch_to(struct hauli_sim_thread *to)
{
	struct hauli_sim_thread *from = w.current;

	if (from == to)
		return;
	from->carrier = hauli_self();
	from->err = errno;
	if (w.exceptions) {
		from->exceptions = *w.exceptions;
		*w.exceptions = to->exceptions;
	}
	w.current = to;
	w.switches++;
	haul_sim_note(to->id);
	haul_sim_note(w.now);
	if (w.switches == w.mark_at)
		mark(to);
	hauli_self_set(to->carrier);
	leave(from, to);
	arrive(from, hauli_switch(&from->ctx, &to->ctx, from));
	if (from->signal)
		take_signal(from);
	errno = from->err;
}

/* The handler runs here and now, and is no step. */
static void take_signal(struct hauli_sim_thread *me)
{
	struct hauli_sim_thread *signaller = me->signaller;
	uint64_t left = hauli_sim_steps_left;
	int sig = me->signal, err = me->err;

	me->signal = 0;
	hauli_sim_steps_left = UINT64_MAX;
	raise(sig);
	hauli_sim_steps_left = left;
	switch_to(signaller);
	me->err = err;
}

bool hauli_sim_signal(unsigned id, int sig)
{
	struct hauli_sim_thread *t = w.oldest;

	while (t && (t->id != id || t->has_ended))
		t = t->newer;
	if (!t)
		return false;
	if (t == w.current) {
		raise(sig);
		return true;
	}
	t->signal = sig;
	t->signaller = w.current;
	switch_to(t);
	return true;
}

unsigned hauli_sim_id(const struct hauli_sim_thread *t)
{
	return t->id;
}

void hauli_sim_finish(enum haul_sim_end end)
{
	w.end = end;
	switch_to(&w.control);
	__builtin_unreachable();
}

/* True if no thread will do anything any more but those in the background. */
static bool is_stuck(void)
{
	if (w.timers.n > NB_BACKGROUND_MAX)
		return false;
	for (size_t i = 1; i <= w.timers.n; i++)
		if (!w.timers.timers[i]->is_background)
			return false;
	return true;
}

/* Takes one of the threads that are ready, at the first time at which there is one. */
static struct hauli_sim_thread *pick(void)
{
	struct hauli_sim_thread *t;
	size_t i = 0;

	expire();
	while (w.nb_ready == 0) {
		struct hauli_sim_timer *first = hauli_sim_heap_first(&w.timers);

		if (is_stuck())
			hauli_sim_finish(HAUL_SIM_STUCK);
		if (first->at > w.until) {
			pass(w.until - w.now);
			hauli_sim_finish(HAUL_SIM_LIMIT);
		}
		pass(first->at - w.now);
		w.has_advanced = true;
		expire();
	}
	if (w.has_advanced && hauli_sim_has_checks && w.current != &w.control)
		return &w.control;
	if (w.nb_ready > 1)
		i = hauli_random_below(&w.random, (uint32_t)w.nb_ready);
	t = w.ready[i];
	w.ready[i] = w.ready[--w.nb_ready];
	return t;
}

void hauli_sim_yield(void)
{
	draw_steps();
	if (w.now > w.until)
		hauli_sim_finish(HAUL_SIM_LIMIT);
	need(add_ready(w.current));
	switch_to(pick());
}

bool hauli_sim_wait_in(const void *addr, uint64_t until, const char *in)
{
	struct hauli_sim_thread *me = w.current;
	struct queue *q = bucket_of(addr);

	need(me != &w.control);
	me->timed_out = false;
	me->waits_in = in;
	me->waits_since = w.now;
	me->waits_for = addr;
	if (addr) {
		me->next = NULL;
		if (!q->first)
			q->end = &q->first;
		*q->end = me;
		q->end = &me->next;
	}
	if (until != HAULI_NEVER) {
		until += hauli_sim_late_ns();
		need(hauli_sim_heap_add(&w.timers, &me->timer, until));
	}
	switch_to(pick());
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
		rouse(t);
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
	ns = hauli_sim_away_ns(w.current, w.now);
	if (ns > 0)
		(void)hauli_sim_wait_in(NULL, w.now + ns, "a fault");
	else
		hauli_sim_yield();
}

void hauli_sim_pause(void)
{
	if (!is_on)
		return;
	/* Once all that are ready may have looked. */
	if (w.pauses++ >= w.nb_ready)
		pass(PAUSE_NS);
	hauli_sim_yield();
}

uint64_t hauli_sim_ticks(void)
{
	if (!is_on)
		return hauli_sim_real_ns();
	w.now += ++w.reads > READS ? READ_NS : 1;
	return w.now;
}

static void body(void *came_from)
{
	struct hauli_sim_thread *me = w.current;

	arrive(me, came_from);
	if (me->signal)
		take_signal(me);
	me->result = me->fn(me->arg);
	me->has_ended = true;
	w.over = me;
	w.nb_ended++;
	hauli_sim_wake(me, UINT32_MAX);
	switch_to(pick());
	__builtin_unreachable();
}

struct hauli_sim_thread *hauli_sim_start(void *(*fn)(void *), void *arg)
{
	struct hauli_sim_thread *t = calloc(1, sizeof(*t));
	char *stack = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (!t || stack == MAP_FAILED || mprotect(stack, GUARD_BYTES, PROT_NONE) != 0 ||
		!add_ready(t)) {
		if (stack != MAP_FAILED)
			munmap(stack, GUARD_BYTES + STACK_BYTES);
		free(t);
		return NULL;
	}
	t->id = ++w.nb_threads;
	t->older = w.newest;
	*(w.newest ? &w.newest->newer : &w.oldest) = t;
	w.newest = t;
	t->fn = fn;
	t->arg = arg;
	t->stack = stack;
#if HAULI_ASAN
	t->lo = stack + GUARD_BYTES;
	t->size = STACK_BYTES;
#endif
	hauli_ctx_prepare(&t->ctx, stack + GUARD_BYTES + STACK_BYTES, body);
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

void hauli_sim_result(struct haul_sim_result *result)
{
	*result = (struct haul_sim_result){
		.end = w.end,
		.value = w.value,
		.hash = w.hash,
		.ns = w.now - BEGIN,
		.switches = w.switches,
		.threads = w.nb_threads,
		.left = w.nb_threads - w.nb_ended,
	};
}

uint64_t hauli_sim_passed(void)
{
	return w.now - BEGIN;
}

uint64_t hauli_sim_seed(void)
{
	return w.seed;
}

void hauli_sim_mark(struct hauli_sim_marks *m)
{
	marks = m;
	if (m && m->every == 0)
		m->from = m->every = 1;
}

static void *first(void *unused)
{
	struct hauli_sim_thread *me = w.current;

	w.value = w.fn(w.arg);
	me->has_ended = me->is_detached = true;
	w.over = me;
	w.nb_ended++;
	hauli_sim_finish(HAUL_SIM_RETURNED);
}

static void begin(const struct haul_sim_opts *opts)
{
	memset(&w, 0, sizeof(w));
	hauli_random_init(&w.random, opts->seed + 1);
	for (unsigned i = 0; i < 8; i++) /* small seeds differ in few bits */
		(void)hauli_random_next(&w.random);
	w.now = BEGIN;
	w.steps = opts->steps ? opts->steps : STEPS;
	w.until = w.now + (opts->limit_ns ? opts->limit_ns : LIMIT);
	w.current = &w.control;
	w.hash = opts->seed;
	w.seed = opts->seed;
	w.mark_at = marks ? marks->from : UINT64_MAX;
	hauli_sim_checks_begin();
	hauli_sim_delays_begin();
	w.exceptions = hauli_exceptions_here();
}

/* The invariants, on the thread of haul_sim_run(): at a time to which the clock has just gone, and
 * at the end. */
static void check(void)
{
	uint64_t left = hauli_sim_steps_left;

	w.has_advanced = false;
	if (w.end != RUNS && w.end != HAUL_SIM_RETURNED)
		return;
	hauli_sim_steps_left = UINT64_MAX;
	if (!hauli_sim_check())
		w.end = HAUL_SIM_FAILED;
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
	w.fn = fn;
	w.arg = arg;
	rc = hauli_sim_fds_begin();
	if (rc || !hauli_sim_start(first, NULL)) {
		free(faults.ranges);
		return rc ? rc : -ENOMEM;
	}
	hauli_sim_faults_begin(opts->seed, &faults);
	runs = is_on = true;
	draw_steps();
	for (w.end = RUNS; w.end == RUNS; check())
		switch_to(pick());
	hauli_sim_faults_end();
	hauli_sim_steps_left = UINT64_MAX;
	if (w.end == HAUL_SIM_STUCK || w.end == HAUL_SIM_LIMIT)
		hauli_sim_tell_stuck(w.end);
	runs = is_on = false;
	free(faults.ranges);
	hauli_sim_result(result);
	hauli_sim_fds_end();
	hauli_sim_heap_fini(&w.timers);
	free(w.ready);
	return 0;
}
