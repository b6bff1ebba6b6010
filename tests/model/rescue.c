/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A carrier leaves a slice behind and gets back to its own thread, by the real asked.c, mail.c,
 * rescue.c, round.c, sleep.c and stray.c of lib/sched. The slice ends on the carrier's own thread,
 * or a spare thread takes the carrier; then the slice ends only when the carrier has been served.
 * At each time one thread serves the carrier, which touches its data, stood for by `queue`; the own
 * thread gets it back, without which it would not end; and nobody waits for ever.
 *
 * rescue_own.c: a spare thread serves the carrier already, and the own thread wants it back. Either
 * it is given, or it takes it by leaving the spare thread's slice behind.
 * rescue_look.c: two threads look at the carrier and ask for it, and get no answer.
 * rescue_asks.c: two slices, each of which the spare thread asks for, and gets.
 * rescue_stale.c: the message of an earlier wish is still under way.
 *
 * A slice is a call here, as in order.c. The end of a slice that was left behind abandons the calls
 * below serve(), as a switch to its context does. A signal comes when its thread looks for one.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "coro/coro.h"
#include "coro/interrupted.h"
#include "coro/own.h"
#include "explorer.h"
#include "sched/mail/mail.h"
#include "sched/run/rescue.h"
#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/state/traced.h"
#include "sched/steal/steal.h"
#include "sched/wait/order.h"
#include "sched/wait/suspend.h"

#ifndef HOGS /* rescue_asks.c */
#define HOGS 1
#endif
#ifndef ASKS /* rescue_asks.c */
#define ASKS 0
#endif
#ifndef WANTED /* rescue_own.c */
#define WANTED 0
#endif
#ifndef LOOKS_ON /* rescue_look.c */
#define LOOKS_ON 0
#endif
#ifndef STALE /* rescue_stale.c */
#define STALE 0
#endif

static uint64_t ticks(void);
static void *switched(struct hauli_co *from, struct hauli_co *to, void *pass);
static void look_later(void);
static const struct haul_coro *running(void);
static bool wait_given(struct hauli_completion *c, const struct timespec *until);
static int watch_lock(void);
static int watch_try(void);
static void watch_unlock(void);
static long send_signal(uint32_t tid);
#undef HAULI_TSAN /* the model's own code is no program that it may interrupt anywhere */
#define HAULI_TSAN 0
#define hauli_ticks ticks
#define hauli_running_on(c) running()
#define hauli_co_switch switched
#define hauli_co_prepare(co, stack, hi, entry) ((void)(entry))
#define nanosleep(time, left) ((void)(time), look_later()) /* no time */
#define pthread_mutex_lock(lock) watch_lock()
#define pthread_mutex_trylock(lock) watch_try()
#define pthread_mutex_unlock(lock) watch_unlock()
#define pthread_setname_np(thread, name) ((void)0)
#define sched_getaffinity(pid, size, set) (-1)
#define prctl(...) ((void)0)
#define gettid() ((pid_t)model_thread() + 1)
#define syscall(number, pid, tid, sig) send_signal((uint32_t)(tid))
#if ASKS
#define hauli_completion_wait_until(c, until) ((void)(until), hauli_completion_wait(c), true)
#endif
#include "sched/look/asked.c"
#undef hauli_completion_wait_until
#define hauli_completion_wait_until wait_given
#include "sched/run/rescue.c"
#undef hauli_completion_wait_until
#include "sched/run/round.c"
#undef syscall
#include "sched/run/stray.c"

/* Signals, and looks at what runs, order nothing. But where a question is asked once, and without
 * a time limit, it goes to the right thread, and is there when its signal comes. */
#define TOLD (ASKS ? memory_order_release : memory_order_relaxed)
#define SEEN (ASKS ? memory_order_acquire : memory_order_relaxed)

enum { OWN, SPARE, THREADS };

static struct {
	struct haul_carrier c;
	struct haul_runtime rt;
	struct hauli_rescue r;
	struct hauli_rescued rescued;
	struct hauli_rescuer threads[2];
	struct hauli_cluster cluster; /* its injector stays empty */
	struct haul_coro hogs[HOGS];
	struct hauli_stack stack; /* stands for that of each coroutine */
	struct hauli_trylock watched;
	_Atomic(struct haul_carrier *) self[THREADS]; /* of each thread */
	_Atomic(uint64_t) time[THREADS]; /* of each thread */
	_Atomic(uint64_t) signals[THREADS];
	_Atomic(struct haul_coro *) running;
	_Atomic(uint64_t) hogged, served; /* the first slice has begun; the carrier is served */
	uint64_t queue; /* not atomic: of who serves the carrier */
	uint64_t begun, ended; /* slices. Not atomic, too */
} m;

static unsigned hogs(void)
{
	return model_is_reduced() ? 1 : HOGS;
}

/* Where the slice that a thread has left behind ends. Equal in all runs at equal states. */
static void *below[THREADS][5];
static char own_code, own_calls, code[16], *const program = code + 8;
static ucontext_t interrupted;

/* What is a thread's own. */

static uint64_t ticks(void)
{
	return atomic_load_explicit(&m.time[model_thread()], memory_order_relaxed);
}

struct timespec hauli_monotonic_in(uint64_t ns)
{
	atomic_store_explicit(&m.time[model_thread()], ticks() + 1, memory_order_relaxed);
	return (struct timespec){0};
}

struct haul_carrier *hauli_self(void)
{
	return atomic_load_explicit(&m.self[model_thread()], memory_order_relaxed);
}

void hauli_self_set(struct haul_carrier *c)
{
	atomic_store_explicit(&m.self[model_thread()], c, memory_order_relaxed);
}

/* One of these waits ends by itself, in rescue_own.c. */
static bool wait_given(struct hauli_completion *c, const struct timespec *until)
{
	MODEL_ASSERT(!hauli_self()); /* it serves nothing */
	return hauli_completion_wait_until(c, WANTED && ticks() == 1 ? until : NULL);
}

/* The watch. */

static int watch_try(void)
{
	return hauli_trylock_take(&m.watched) ? 0 : EBUSY;
}

static int watch_lock(void)
{
	while (watch_try() != 0)
		model_await(&m.watched, sizeof(m.watched), false);
	return 0;
}

static void watch_unlock(void)
{
	hauli_trylock_release(&m.watched);
}

/* Looks again when the first slice has begun; then at the end. */
static void look_later(void)
{
	MODEL_ASSERT(!hauli_self());
	if (!atomic_load_explicit(&m.hogged, memory_order_relaxed))
		model_await(&m.hogged, sizeof(m.hogged), 1);
	else
		model_await(&m.r.ends, sizeof(m.r.ends), true);
}

/* Of the only carrier. A look from outside, which may come late. */
static const struct haul_coro *running(void)
{
	return atomic_load_explicit(&m.running, memory_order_relaxed);
}

/* Signals. */

static long send_signal(uint32_t tid)
{
	MODEL_ASSERT(tid > 0 && tid <= THREADS);
	atomic_fetch_add_explicit(&m.signals[tid - 1], 1, TOLD);
	return 0;
}

static void look_for_signal(void)
{
	siginfo_t info = {.si_code = SI_TKILL};

	if (atomic_load_explicit(&m.signals[model_thread()], SEEN))
		handle(HAULI_STRAY_SIGNAL, &info, &interrupted);
}

bool hauli_own_has(const void *pc)
{
	return pc == &own_code || pc == &own_calls;
}

bool hauli_own_calls_program(const void *pc)
{
	return pc == &own_calls;
}

bool hauli_trace_is_start(const void *pc)
{
	return pc == &own_calls;
}

unsigned hauli_trace_interrupted(const void *uc, void **pcs, unsigned most)
{
	pcs[0] = program;
	pcs[1] = &own_calls;
	return 2;
}

/* The coroutine that is left behind. Not atomic: its thread sees both. */

bool hauli_order_leave_behind(struct haul_carrier *c, struct haul_coro *co)
{
	atomic_store_explicit(&m.running, NULL, memory_order_relaxed);
	co->rank = 1;
	return true;
}

void hauli_stolen_mark(struct haul_coro *co)
{
	co->back = HAULI_BACK_END;
	hauli_u8_shared_set_bits(&co->flags, HAULI_FLAG_STOLEN);
}

/* The slice. */

static void handle_back(struct haul_carrier *c, struct hauli_msg *msg)
{
	struct haul_coro *co = HAULI_CONTAINER(msg, struct haul_coro, back_msg);

	MODEL_ASSERT(co->rank == 1 && !c->current);
	m.ended++;
}

static const struct hauli_msg_kind back = {.handle = handle_back};

/* A stand-in's, for one that has ended its slice: hauli_arrive(). */
void hauli_coro_left_slow(struct haul_carrier *c, struct haul_coro *co)
{
	MODEL_ASSERT(c->steal.stray && co->back == HAULI_BACK_END);
	hauli_mail_send(&m.c, &co->back_msg);
}

static void slice(struct haul_carrier *c, struct haul_coro *co)
{
	struct haul_carrier *s;

	m.queue++;
	m.begun++;
	atomic_store_explicit(&m.running, co, memory_order_relaxed);
	atomic_store_explicit(&m.hogged, m.begun, TOLD);
	if (STALE)
		send_wish(c); /* as if it had been sent before */
	if (ASKS)
		model_await(&m.signals[OWN], sizeof(m.signals[OWN]), m.begun);
	look_for_signal();
	s = hauli_self();
	if (s == c) {
		m.queue++;
		atomic_store_explicit(&m.running, NULL, memory_order_relaxed);
		m.ended++;
		return;
	}
	MODEL_ASSERT(s->steal.stray && s->current == co && co->rank == 1);
	if (!STALE) /* else it may end before the message is handled */
		model_await(&m.served, sizeof(m.served), (uint64_t)(co - m.hogs) + 1);
	s->current = NULL;
	hauli_ptr_published_set(&s->left, co);
	__builtin_longjmp(below[model_thread()], 1);
}

static __attribute__((noinline)) void *run_rounds(struct haul_carrier *c)
{
	if (__builtin_setjmp(below[model_thread()]))
		return hauli_self();
	MODEL_ASSERT(c->rescue->server == &m.threads[model_thread()]);
	c->rescue->rounds(c);
	return c;
}

static void *switched(struct hauli_co *from, struct hauli_co *to, void *pass)
{
	struct haul_carrier *c = pass;

	if (to == &c->run.loop)
		return run_rounds(c);
	while (to != &c->run.loop) {
		slice(c, c->current);
		to = hauli_next(c);
	}
	return c;
}

static void init_carrier(struct haul_carrier *c)
{
	c->cluster = &m.cluster;
	c->rescue = &m.rescued;
	c->stray_ask = &m.rescued.ask;
	c->locals_at = UINT32_MAX;
	c->run.round_ticks = 1;
	c->run.slices_per_batch = HAULI_SLICES_PER_BATCH;
	c->runq.lifo_at = UINT32_MAX / 2;
	c->timers.next_at = HAULI_NEVER;
	c->rt = &m.rt;
	hauli_inbox_init(&c->mail.inbox);
	hauli_detached_mail_init(&c->mail.detached);
	hauli_ring_init(&c->runq.ring);
	hauli_ring_set_lease(&c->runq.ring, 1);
	for (unsigned i = 0; i < HOGS; i++) {
		m.hogs[i].co.stack = &m.stack;
		m.hogs[i].back_msg.kind = &back;
		hauli_coro_set_state(&m.hogs[i], HAULI_CORO_READY);
		hauli_ptr_published_set(&m.hogs[i].home, c);
	}
	hauli_runq_push(&c->runq, hauli_entry_of_begun(&m.hogs[0]));
}

static void init(void)
{
	struct hauli_rescued *rescued = &m.rescued;

	init_carrier(&m.c);
	m.rt.carriers = &m.c;
	m.rt.nb_carriers = 1;
	hauli_u32_published_set(&m.c.run.tid, OWN + 1);
	if (LOOKS_ON)
		atomic_store_explicit(&m.running, &m.hogs[0], memory_order_relaxed);
	m.r.rt = &m.rt;
	m.r.after = 1;
	m.r.threads = m.threads;
	m.r.rescued = rescued;
	rescued->rounds = run_rescued;
	rescued->own = rescued->server = &m.threads[OWN];
	/* As if the first slice were known, and late. */
	rescued->popped = !LOOKS_ON;
	rescued->rounds_seen = !LOOKS_ON;
	for (unsigned i = 0; i < 2; i++) {
		m.threads[i].tid = i + 1;
		m.threads[i].rescue = &m.r;
		m.threads[i].stand_in.steal.stray = true;
		model_private(&m.threads[i].stand_in, sizeof(m.threads[i].stand_in), i);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		model_private(&m.self[i], sizeof(m.self[i]), i);
		model_private(&m.time[i], sizeof(m.time[i]), i);
	}
	model_constant(&m.cluster, sizeof(m.cluster));
}

/* Without a slice that looks for a signal. */
static void looks(void)
{
	enum life life = NOTHING;
	bool late;

	watch_lock();
	late = is_late(&m.r, &m.c, ticks(), &life);
	if (late)
		begin_to_ask(&m.c);
	watch_unlock();
	if (late)
		MODEL_ASSERT(!take(&m.r, &m.c));
}

static void own(void)
{
	if (LOOKS_ON) {
		looks();
		return;
	}
	if (WANTED)
		take_back(&m.threads[OWN], &m.c);
	hauli_round_main(&m.c);
	m.queue++;
	hauli_u32_published_set(&m.r.ends, true);
}

static void ask_for(uint32_t number)
{
	model_await(&m.hogged, sizeof(m.hogged), number);
	MODEL_ASSERT(atomic_load_explicit(&m.hogged, SEEN) == number);
	watch_lock();
	m.rescued.popped = number;
	begin_to_ask(&m.c);
	watch_unlock();
	if (take(&m.r, &m.c) && serve(&m.threads[SPARE], &m.c))
		give_back(&m.c);
}

static void spare_thread(void)
{
	if (LOOKS_ON) {
		looks();
		return;
	}
	if (WANTED && serve(&m.threads[SPARE], &m.c))
		give_back(&m.c);
	for (unsigned i = 1; ASKS && i <= hogs(); i++)
		ask_for(i);
	if (!ASKS && !(WANTED && model_is_reduced()))
		spare(&m.threads[SPARE]);
}

static void check(void)
{
	if (LOOKS_ON)
		return;
	MODEL_ASSERT(m.c.phase == HAULI_PHASE_FINISHED && m.ended == hogs());
	MODEL_ASSERT(m.rescued.server == m.rescued.own);
}

/* Per-thread state of a coroutine runner, thieves: there are none. */

void hauli_co_init_thread(struct hauli_co *co)
{
}

void hauli_co_fini_thread(struct hauli_co *co)
{
}

struct hauli_exceptions *hauli_exceptions_here(void)
{
	return NULL;
}

void hauli_overflow_thread_init(void)
{
}

void hauli_overflow_thread_fini(void)
{
}

void hauli_locals_release(struct haul_carrier *c)
{
}

int hauli_place_enter(const struct haul_place *place, unsigned id)
{
	return 0;
}

void hauli_steal_batch_begins(struct haul_carrier *c, uint64_t now)
{
}

/* Behind the close of the batch, also for one that was left behind. */
void hauli_steal_batch_ended(struct haul_carrier *c)
{
	struct hauli_ring *r = &c->runq.ring;

	m.queue++;
	MODEL_ASSERT((int32_t)(atomic_load_explicit(&r->limit, memory_order_relaxed) -
			     hauli_ring_head(r)) < 0);
}

/* There are no more messages. Only the own thread finds that it is time for the next slice, or for
 * the end. */
bool hauli_steal_idle(struct haul_carrier *c)
{
	m.queue++;
	if (m.ended == m.begun && model_thread() == OWN) {
		if (m.begun < hogs())
			hauli_runq_push(&c->runq, hauli_entry_of_begun(&m.hogs[m.begun]));
		else
			c->phase = HAULI_PHASE_FINISHED;
		return true;
	}
	atomic_store_explicit(&m.served, m.begun, memory_order_relaxed);
	return false;
}

void hauli_steal_set_idle(struct haul_carrier *c)
{
}

void hauli_steal_clear_idle(struct haul_carrier *c)
{
}

bool hauli_steal_may_stay(struct haul_carrier *c)
{
	return true;
}

#define NAME                                                     \
	(STALE                     ? "rescue, with a stale wish" \
			: WANTED   ? "rescue, of the rescuer"    \
			: LOOKS_ON ? "rescue, looks"             \
			: ASKS     ? "rescue, twice"             \
				   : "rescue")

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = NAME,
			.nb_threads = THREADS,
			.threads = {own, spare_thread},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check,
			.time_outs = 2});
}
