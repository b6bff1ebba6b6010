/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A carrier is not its thread. When a slice lasts too long, a spare thread takes the carrier, with
 * its run queue, timers, inbox and poller, and serves it; the carrier's own thread keeps the
 * coroutine (stray.c). When the slice has ended, the own thread wants its carrier back, and the
 * server gives it at the end of a round.
 *
 * Of the spare threads one watches, the holder of the lock, and the others wait for the lock. The
 * one that finds a long slice gives up the watch and becomes the rescuer itself: no thread has to
 * be woken first (the leader and followers of Schmidt et al., PLoP 2000). It serves until the
 * carrier is given back; or until its own slice there lasts too long, when another spare thread
 * takes the carrier from it in the same way. Then its coroutine is what it keeps.
 *
 * Rounds run on a stack of their own, and the thread's own stack waits in serve(). So a coroutine
 * that was left behind has where to switch when its slice ends: to serve(), which stands in its
 * stand-in's place of the loop. The frames of the rounds that it was called in are abandoned then:
 * hauli_stray_taken() has done what they would have.
 *
 * Exactly one thread serves a carrier. It passes from
 *	the server to the rescuer   in the signal's handler (stray.c);
 *	the server to its own thread, which waits for that: completion `given`. By then the own
 *	    thread's coroutine has ended its slice, so it serves nothing;
 *	the server to its own thread as its rescuer: that watches its carrier while it waits.
 * A carrier that has finished is given to its own thread, too, which ends. It cannot finish before
 * the coroutine that was left behind: that one has not ended, or its message is in the inbox.
 *
 * No wish is lost: the own thread sets `wanted`, adds a request (conc/requests.h), and sends the
 * message if none is under way. The server takes the request when the message comes: either it sees
 * `wanted` then, or the own thread sends anew. A server that sees it amid a round sends the message
 * once more, to itself, so that neither the loop nor the poller sleeps before the round is over.
 *
 * The watching thread looks four times in the longest slice while it finds coroutines that run,
 * once while some have run since the last look, and more rarely while none has. It tells slices
 * apart by the counts of rounds and pops.
 *
 * Models: tests/model/rescue.c (a slice that is left behind, and the way back), rescue_own.c (the
 * own thread as the rescuer), rescue_stale.c (the message of an earlier wish is under way),
 * rescue_asks.c (all that once more).
 */
#include "sched/run/rescue.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/simulated.h"
#include "coro/overflow.h"
#include "sched/mail/mail.h"
#include "sched/run/split.h"
#include "sched/state/exceptions.h"
#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/state/traced.h"
#include "topo/pin.h"

#define LOOKS 4 /* in the longest slice */
#define RAREST (2 * HAUL_MS) /* between two looks while no coroutines run */
#define SHORTEST (10 * HAUL_US) /* between two looks */
#define STACK_CLASS 4 /* of the rounds: 248 KiB, of which pages are used that are touched */

/* A thread that can serve carriers: one for each carrier, and the spare ones. */
struct hauli_rescuer {
	/* Stands in for a carrier while the thread runs a coroutine that was left behind; the loop
	 * of its rounds is serve(). */
	struct haul_carrier stand_in;
	struct hauli_rescue *rescue;
	struct hauli_stack *stack; /* of rounds */
	struct hauli_exceptions *exceptions;
	struct hauli_completion taken; /* another thread has the carrier of this one */
	struct hauli_completion given; /* the carrier is given back to its own thread */
	uint32_t tid;
	pthread_t thread; /* of a spare one */
};

struct hauli_rescue {
	struct haul_runtime *rt;
	uint64_t after, nap; /* ticks, ns */
	pthread_mutex_t watch; /* held by the thread that watches */
	struct hauli_u32_published ends;
	struct hauli_rescued *rescued; /* of each carrier */
	unsigned nb_threads, nb_started;
	struct hauli_rescuer *threads; /* by carrier, and then the spare ones */
};

bool hauli_rescue_is_over(const struct haul_carrier *c)
{
	return c->phase == HAULI_PHASE_FINISHED || hauli_u32_published_get(&c->rescue->wanted);
}

static void begin(struct hauli_rescuer *t)
{
	prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
	t->tid = (uint32_t)gettid();
	t->exceptions = hauli_exceptions_here();
	t->stand_in.exceptions = t->exceptions;
	t->stand_in.careful = t->exceptions;
	hauli_co_init_thread(&t->stand_in.run.loop);
	hauli_overflow_thread_init();
}

static void end(struct hauli_rescuer *t)
{
	hauli_overflow_thread_fini();
	hauli_co_fini_thread(&t->stand_in.run.loop);
}

static void rounds(void *pass)
{
	struct haul_carrier *c = pass;

	hauli_co_began(&c->run.loop);
	c->rescue->rounds(c);
	hauli_co_end(&c->run.loop, &c->rescue->server->stand_in.run.loop, c);
}

/* The caller owns c: runs its rounds. True: they are over, and the caller still owns c. False:
 * another thread has it, and the coroutine that was left behind here has ended its slice. */
static bool serve(struct hauli_rescuer *t, struct haul_carrier *c)
{
	struct haul_carrier *at;

	c->rescue->server = t;
	c->rescue->ask.stand_in = &t->stand_in;
	c->rescue->ask.taken = &t->taken;
	c->exceptions = t->exceptions;
	c->careful = c->exceptions || c->timeline;
	hauli_u32_published_set(&c->run.tid, t->tid);
	hauli_traced_thread(c, t->tid);
	hauli_co_prepare(&c->run.loop, t->stack, t->stack, rounds);
	hauli_self_set(c);
	at = hauli_co_switch(&t->stand_in.run.loop, &c->run.loop, c);
	if (at == c) {
		hauli_self_set(NULL);
		return true;
	}
	hauli_stray_ended(at);
	hauli_u64_shared_add(&t->rescue->rt->strays, UINT64_MAX);
	return false;
}

static const struct hauli_msg_kind wish_msg;

/* The own thread, and the server on its behalf. */
static void send_wish(struct haul_carrier *c)
{
	struct hauli_rescued *r = c->rescue;

	if (!hauli_requests_add(&r->wish, true))
		return; /* the message is under way */
	r->msg.kind = &wish_msg;
	hauli_mail_send(c, &r->msg);
}

/* The round goes on, and would sleep in the end, or in the poller: but not with mail. */
static void handle_wish(struct haul_carrier *c, struct hauli_msg *msg)
{
	(void)hauli_requests_take(&c->rescue->wish);
	if (hauli_rescue_is_over(c))
		send_wish(c);
}

static const struct hauli_msg_kind wish_msg = {.handle = handle_wish};

/* Watching. */

/* What coroutines have done since the last look. */
enum life { NOTHING, HAVE_RUN, RUN };

/* True if c's slice has lasted too long. *life becomes that of c if it is more. */
static bool is_late(struct hauli_rescue *r, struct haul_carrier *c, uint64_t now, enum life *life)
{
	struct hauli_rescued *seen = c->rescue;
	const struct haul_coro *co = hauli_running_on(c);
	uint64_t n = hauli_counter_read(&c->counts.rounds);
	uint32_t popped = hauli_ring_popped(&c->runq.ring);

	if (hauli_u32_published_get(&seen->asks))
		return false;
	if (!co || hauli_coro_is_poller(co)) {
		if (popped != seen->popped && *life == NOTHING)
			*life = HAVE_RUN;
		seen->popped = popped;
		return false;
	}
	*life = RUN;
	if (popped != seen->popped || n != seen->rounds_seen) {
		seen->popped = popped;
		seen->rounds_seen = n;
		seen->ask_at = now + r->after;
		return false;
	}
	return (int64_t)(now - seen->ask_at) >= 0;
}

/* Under the lock. */
static void begin_to_ask(struct haul_carrier *c)
{
	hauli_u32_published_set(&c->rescue->asks, true);
	c->rescue->ask.popped = c->rescue->popped;
}

static struct haul_carrier *find_late(struct hauli_rescue *r, enum life *life)
{
	struct haul_carrier *late = NULL;

	*life = NOTHING;
	for (unsigned i = 0; i < r->rt->nb_carriers && !late; i++) {
		struct haul_carrier *c = &r->rt->carriers[i];

		if (hauli_u32_published_get(&c->run.tid) && is_late(r, c, hauli_ticks(), life))
			late = c;
	}
	return late;
}

/* The time to the next look, in ns, after one that was `nap` long. */
static uint64_t next_nap(const struct hauli_rescue *r, uint64_t nap, enum life life)
{
	uint64_t most = life == RUN ? r->nap : life == HAVE_RUN ? LOOKS * r->nap : RAREST;

	nap *= 2;
	return nap < most ? nap : most;
}

/* Waits for the lock, and then for a late carrier. NULL: the runtime ends. */
static struct haul_carrier *watch(struct hauli_rescue *r)
{
	struct haul_carrier *late = NULL;
	uint64_t nap = r->nap;
	enum life life;

	pthread_mutex_lock(&r->watch);
	while (!hauli_u32_published_get(&r->ends) && !(late = find_late(r, &life))) {
		struct timespec t = {.tv_nsec = (long)nap};

		nanosleep(&t, NULL);
		nap = next_nap(r, nap, life);
	}
	if (late)
		begin_to_ask(late);
	pthread_mutex_unlock(&r->watch);
	return late;
}

/* While the thread that runs the coroutine waits in the handler. */
static void note_left(
	struct hauli_left *left, const struct haul_carrier *c, const struct hauli_stray_ask *ask)
{
	pthread_mutex_lock(&left->lock);
	if (left->n++ == 0) {
		left->co = ask->co;
		left->carrier = c->id;
		left->nb_pcs = ask->nb_pcs < HAULI_LEFT_DEPTH ? ask->nb_pcs : HAULI_LEFT_DEPTH;
		memcpy(left->pcs, ask->pcs, left->nb_pcs * sizeof(left->pcs[0]));
		snprintf(left->name, sizeof(left->name), "%s", ask->co->co.name);
	}
	pthread_mutex_unlock(&left->lock);
}

/* True: the caller owns c. */
static bool take(struct hauli_rescue *r, struct haul_carrier *c)
{
	struct hauli_rescued *seen = c->rescue;
	bool left = hauli_stray_ask(c, &seen->ask);

	if (left) {
		hauli_u64_shared_add(&r->rt->strays, 1);
		hauli_self_set(c);
		hauli_counter_add(&c->counts.rescues, 1);
		note_left(&r->rt->left, c, &seen->ask);
		hauli_stray_taken(c, &seen->ask);
	} else {
		hauli_counter_add(&c->counts.rescues_refused, 1);
	}
	seen->ask_at = hauli_ticks() + r->after;
	hauli_u32_published_set(&seen->asks, false);
	return left;
}

static bool is_given(struct hauli_rescuer *t)
{
	struct timespec until = hauli_monotonic_in(t->rescue->nap);

	if (!hauli_completion_wait_until(&t->given, &until))
		return false;
	hauli_completion_init(&t->given);
	return true;
}

/* The slice in which c's server is may be long, too. */
static bool is_rescued_by_own(struct hauli_rescuer *t, struct haul_carrier *c)
{
	struct hauli_rescue *r = t->rescue;
	enum life life = NOTHING;
	bool late = false;

	if (pthread_mutex_trylock(&r->watch) != 0)
		return false;
	if (is_late(r, c, hauli_ticks(), &life)) {
		begin_to_ask(c);
		late = true;
	}
	pthread_mutex_unlock(&r->watch);
	if (!late || !take(r, c))
		return false;
	hauli_u32_published_set(&c->rescue->wanted, false);
	return true;
}

/* The own thread of c, which another one serves: waits until it has c back. */
static void take_back(struct hauli_rescuer *t, struct haul_carrier *c)
{
	hauli_u32_published_set(&c->rescue->wanted, true);
	send_wish(c);
	while (!is_given(t) && !is_rescued_by_own(t, c))
		;
}

static void give_back(struct haul_carrier *c)
{
	struct hauli_rescued *r = c->rescue;

	hauli_u32_published_set(&r->wanted, false);
	hauli_completion_set(&r->own->given);
}

void hauli_rescue_run(struct haul_carrier *c, void (*fn)(struct haul_carrier *c))
{
	struct hauli_rescuer *t = c->rescue->own;

	c->rescue->rounds = fn;
	begin(t);
	while (!serve(t, c))
		take_back(t, c);
	end(t);
	hauli_self_set(c);
}

/* The CPUs of the process on which no carrier is; all of them if there are no others. A kernel that
 * sees no cache that two CPUs share does not move a thread that wakes up beside a busy one. */
static void enter_spare_cpus(const struct haul_runtime *rt)
{
	const struct haul_place anywhere = {.cpu = -1, .core = -1, .node = -1};
	cpu_set_t cpus;

	(void)hauli_place_enter(&anywhere, 0);
	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		return;
	for (unsigned i = 0; i < rt->nb_carriers; i++)
		if (rt->carriers[i].place.cpu >= 0)
			CPU_CLR((size_t)rt->carriers[i].place.cpu, &cpus);
	if (CPU_COUNT(&cpus) > 0)
		(void)sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void *spare(void *arg)
{
	struct hauli_rescuer *t = arg;
	struct hauli_rescue *r = t->rescue;
	struct haul_carrier *c;

	enter_spare_cpus(r->rt);
	pthread_setname_np(pthread_self(), "haul-rescue");
	begin(t);
	while ((c = watch(r)))
		if (take(r, c) && serve(t, c))
			give_back(c);
	end(t);
	return NULL;
}

/* Begin and end. */

void hauli_rescue_fini(struct haul_runtime *rt)
{
	struct hauli_rescue *r = rt->rescue;

	if (!r)
		return;
	hauli_u32_published_set(&r->ends, true);
	while (r->nb_started > 0)
		pthread_join(r->threads[rt->nb_carriers + --r->nb_started].thread, NULL);
	for (unsigned i = 0; i < rt->nb_carriers; i++) {
		rt->carriers[i].rescue = NULL;
		rt->carriers[i].stray_ask = NULL;
	}
	while (r->nb_threads > 0) {
		struct hauli_rescuer *t = &r->threads[--r->nb_threads];

		hauli_stack_put_shared(rt->stacks, t->stack, "-");
		hauli_carrier_fini(&t->stand_in);
	}
	pthread_mutex_destroy(&r->watch);
	free(r->threads);
	free(r->rescued);
	free(r);
	rt->rescue = NULL;
	rt->rescuers = 0;
}

static int thread_init(struct hauli_rescue *r, const struct haul_runtime_opts *opts)
{
	struct haul_runtime *rt = r->rt;
	unsigned id = rt->nb_carriers + r->nb_threads;
	struct hauli_rescuer *t = &r->threads[r->nb_threads];
	int err;

	err = hauli_carrier_init(
		&t->stand_in, rt, rt->coros, rt->stacks, id, &rt->carriers[0].place, opts);
	if (err)
		return err;
	t->stack = hauli_stack_get_shared(rt->stacks, STACK_CLASS);
	if (!t->stack) {
		hauli_carrier_fini(&t->stand_in);
		return -ENOMEM;
	}
	t->rescue = r;
	hauli_completion_init(&t->given);
	t->stand_in.steal.stray = true;
	t->stand_in.runq.shared = true;
	t->stand_in.marks = rt->marks;
	t->stand_in.spawn.path = t->stand_in.wait.path = HAULI_PATH_SLOW;
	t->stand_in.spawn.prototype = rt->carriers[0].spawn.prototype;
	r->nb_threads++;
	return 0;
}

static int spare_start(struct hauli_rescue *r)
{
	struct hauli_rescuer *t = &r->threads[r->rt->nb_carriers + r->nb_started];
	int err = pthread_create(&t->thread, NULL, spare, t);

	r->nb_started += !err;
	return -err;
}

int hauli_rescue_init(struct haul_runtime *rt, const struct haul_runtime_opts *opts)
{
	unsigned spares = opts->rescuers ? opts->rescuers : rt->nb_carriers;
	unsigned n = rt->nb_carriers + spares;
	struct hauli_rescue *r;
	int err;

	if (HAULI_SIM || opts->rescue_after_ns == 0)
		return 0;
	err = hauli_stray_init();
	if (err)
		return err;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	rt->rescue = r;
	r->rt = rt;
	pthread_mutex_init(&r->watch, NULL);
	r->after = hauli_ticks_from_ns(opts->rescue_after_ns);
	r->nap = opts->rescue_after_ns / LOOKS;
	if (r->nap < SHORTEST)
		r->nap = SHORTEST;
	if (r->nap > RAREST)
		r->nap = RAREST;
	r->rescued = calloc(rt->nb_carriers, sizeof(r->rescued[0]));
	r->threads = aligned_alloc(HAULI_CACHE_LINE, n * sizeof(r->threads[0]));
	err = r->rescued && r->threads ? 0 : -ENOMEM;
	while (!err && r->nb_threads < n)
		err = thread_init(r, opts);
	for (unsigned i = 0; !err && i < rt->nb_carriers; i++) {
		r->rescued[i].own = r->rescued[i].server = &r->threads[i];
		rt->carriers[i].rescue = &r->rescued[i];
		rt->carriers[i].stray_ask = &r->rescued[i].ask;
		hauli_split_slices(&rt->carriers[i]);
	}
	while (!err && r->nb_started < spares)
		err = spare_start(r);
	rt->rescuers = r->nb_started;
	if (err)
		hauli_rescue_fini(rt);
	return err;
}
