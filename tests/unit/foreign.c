/* SPDX-License-Identifier: BSD-3-Clause */
/* Coroutines that keep their carrier waiting in the kernel get a line; none else does. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>

#include "coro/fiber.h"
#include "coro_child.h"
#include "sched/glue.h"
#include "sched/look/foreign.h"
#include "sched/look/snapshot.h"
#include "support/runtime.h"
#include "support/suite.h"

static struct {
	struct haul_runtime *rt;
	int ends[2];
	pthread_mutex_t lock;
	sem_t sem;
	atomic_bool go;
	_Atomic(const struct hauli_stack *) stack; /* of the coroutine that waits */
	atomic_int err;
	struct hauli_counter cycles;
} s;

static bool virtual_time;

static void start(enum haul_steal steal)
{
	struct haul_plan_opts two = {.carriers = 2};
	struct haul_plan *plan = NULL;
	char why[256];

	s = (__typeof__(s)){.lock = PTHREAD_MUTEX_INITIALIZER};
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, s.ends), 0);
	sem_init(&s.sem, 0, 0);
	ck_assert_int_eq(haul_plan_create(&plan, &two, why, sizeof(why)), 0);
	ck_assert_int_eq(
		haul_start(&s.rt,
			&(struct haul_runtime_opts){
				.plan = plan, .steal = steal, .virtual_time = virtual_time},
			NULL, 0),
		0);
	haul_plan_destroy(plan);
}

static uint64_t found(void)
{
	struct haul_carrier_stats stats;
	uint64_t n = 0;

	for (unsigned i = 0; i < 2; i++) {
		haul_carrier_get_stats(haul_carrier(s.rt, i), &stats);
		n += stats.foreign_waits;
	}
	return n;
}

/* Each waits until it is let go, and notes if its wait was ended by a signal. */

static void *sleeps_in_parts(void *arg)
{
	while (!s.go) /* the call under test */
		s.err |= nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	return NULL;
}

static void *reads(void *arg)
{
	char byte;

	s.err = read(s.ends[0], &byte, 1) != 1;
	return NULL;
}

static void *receives(void *arg)
{
	char byte;

	s.err = recv(s.ends[0], &byte, 1, 0) != 1;
	return NULL;
}

static void *polls(void *arg)
{
	struct pollfd fd = {.fd = s.ends[0], .events = POLLIN};

	s.err = poll(&fd, 1, -1) != 1;
	return NULL;
}

static void *locks(void *arg)
{
	s.err = pthread_mutex_lock(&s.lock);
	pthread_mutex_unlock(&s.lock);
	return NULL;
}

static void *waits_for_sem(void *arg)
{
	s.err = sem_wait(&s.sem);
	return NULL;
}

static const struct kind {
	haul_fn *fn;
	const char *says;
	bool virtual_time;
} kinds[] = {
	{sleeps_in_parts, "(clock_nanosleep), for "},
	{sleeps_in_parts, ": use haul_sleep(), at "},
	{reads, "(read), for "},
	{receives, "(recvfrom), for "},
	{polls, "poll), for "},
	{reads, "make the call by haul_offload()"},
	{locks, "(futex), for "},
	{waits_for_sem, ": use haul_mutex_lock() or another object of haul/sync.h, at "},
	{sleeps_in_parts, " waiting in the kernel (", true},
};

#define KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

static void let_go(void)
{
	s.go = true;
	if (write(s.ends[1], "x", 1) != 1)
		s.err = 1;
	sem_post(&s.sem);
}

static void wait_in_the_kernel(void *arg)
{
	const struct kind *kind = arg;
	struct haul_coro *co;

	virtual_time = kind->virtual_time;
	start(HAUL_STEAL_OFF);
	pthread_mutex_lock(&s.lock);
	haul_spawn_on(haul_carrier(s.rt, 1), &co, kind->fn, NULL,
		&(struct haul_coro_opts){.name = "newcomer"});
	WAIT_UNTIL(found() == 1);
	pthread_mutex_unlock(&s.lock);
	let_go();
	haul_join(co, NULL, HAUL_FOREVER);
	haul_stop(s.rt, HAUL_FOREVER);
	_exit(s.err);
}

START_TEST(a_wait_in_the_kernel_gets_a_line)
{
	struct child c = child_run(wait_in_the_kernel, (void *)&kinds[_i]);

	CHILD_EXITED(c, 0);
	ck_assert_msg(c.lines == 1 && strstr(c.said, "haul: coroutine \"newcomer\" 0x") == c.said &&
			strstr(c.said, " keeps carrier 1 waiting in the kernel (") &&
			strstr(c.said, kinds[_i].says) && !strstr(c.said, ", at ?") &&
			!strstr(c.said, "< 0x"),
		"%s", c.said);
	child_show(&c);
}
END_TEST

/* As those of drivers-glue, without a port. */
static void *polls_once(void *arg)
{
	struct haul_carrier *c = haul_carrier_self();

	hauli_glue_poller_begins(c, &s.cycles, NULL);
	reads(NULL);
	hauli_glue_poller_ends(c);
	return NULL;
}

static void wait_in_a_cycle(void *arg)
{
	struct haul_coro *poller;

	start(HAUL_STEAL_OFF);
	haul_poller_register(haul_carrier(s.rt, 1), &poller, polls_once, NULL, NULL);
	WAIT_UNTIL(found() == 1);
	let_go();
	haul_join(poller, NULL, HAUL_FOREVER);
	haul_stop(s.rt, HAUL_FOREVER);
	_exit(s.err);
}

START_TEST(so_does_one_in_a_cycle_of_a_poller)
{
	struct child c = child_run(wait_in_a_cycle, NULL);

	CHILD_EXITED(c, 0);
	ck_assert_msg(c.lines == 1 && strstr(c.said, "haul: poller \"") == c.said &&
			strstr(c.said, " keeps carrier 1 waiting in the kernel (read), for "),
		"%s", c.said);
}
END_TEST

/* Taken by a thief, or by none. */
START_TEST(so_does_a_stolen_one)
{
	struct haul_coro *co[8];

	start(HAUL_STEALING ? HAUL_STEAL_GLOBAL : HAUL_STEAL_OFF);
	for (int i = 0; i < 8; i++)
		haul_spawn_on(haul_carrier(s.rt, 0), &co[i], waits_for_sem, NULL, NULL);
	WAIT_UNTIL(found() >= (HAUL_STEALING ? 2 : 1));
	for (int i = 0; i < 8; i++)
		sem_post(&s.sem);
	for (int i = 0; i < 8; i++)
		haul_join(co[i], NULL, HAUL_FOREVER);
	ck_assert_int_eq(s.err, 0);
	runtime_stop(s.rt);
}
END_TEST

static uint64_t hogs_found(unsigned carrier)
{
	struct haul_carrier_stats stats;

	haul_carrier_get_stats(haul_carrier(s.rt, carrier), &stats);
	return stats.long_slices;
}

/* Computes until the watchdog has found it, which takes several looks. */
static void *hogs(void *arg)
{
	uint64_t before = hogs_found(0);

	while (hogs_found(0) == before)
		;
	return NULL;
}

/* Functions that call themselves, in a section: a compiler may reorder others. */
#define DEEP __attribute__((noinline, section("deep_calls")))
extern const char __start_deep_calls[], __stop_deep_calls[];

static DEEP void *descend(haul_fn *wait, int depth)
{
	char frame[64];

	memset(frame, depth, sizeof(frame));
	asm volatile("" : : "r"(frame) : "memory");
	if (depth == 0)
		return wait(NULL);
	return (char *)descend(wait, depth - 1) + frame[depth] - depth;
}

static void *reads_deep_below(void *arg)
{
	s.stack = haul_self()->co.stack;
	return descend(reads, 5);
}

/* Its frames are found by the frame pointer, which glibc's sem_wait() has saved. */
static DEEP void *descend_by_pointer(int depth)
{
	char *frame = __builtin_alloca(64 + (size_t)s.err);

	memset(frame, depth, 64);
	asm volatile("" : : "r"(frame) : "memory");
	if (depth == 0)
		return waits_for_sem(NULL);
	return (char *)descend_by_pointer(depth - 1) + frame[depth] - depth;
}

static void *waits_deep_below(void *arg)
{
	s.stack = haul_self()->co.stack;
	return descend_by_pointer(5);
}

static const struct deep {
	haul_fn *fn;
	const char *call;
} deep[] = {{reads_deep_below, "read"}, {waits_deep_below, "futex"}};

/* Sanitized functions keep frame pointers, so a stack may end at the caller of the call. */
#define WHOLE (!HAULI_ASAN && !HAULI_TSAN)

START_TEST(its_call_stack_is_that_of_the_coroutine)
{
	struct hauli_foreign f;
	void *pcs[HAULI_SHOT_DEPTH];
	unsigned n, inside = 0;
	struct haul_coro *co;
	uint32_t tid;

	start(HAUL_STEAL_OFF);
	haul_spawn_on(haul_carrier(s.rt, 1), &co, deep[_i].fn, NULL, NULL);
	WAIT_UNTIL(found() == 1);
	tid = hauli_u32_published_get(&haul_carrier(s.rt, 1)->run.tid);
	ck_assert(hauli_foreign_look(tid, &f));
	ck_assert_str_eq(hauli_foreign_name(&f), deep[_i].call);
	n = hauli_foreign_trace(tid, &f, s.stack, pcs, HAULI_SHOT_DEPTH);
	for (unsigned i = 0; i < n; i++)
		inside +=
			(char *)pcs[i] >= __start_deep_calls && (char *)pcs[i] < __stop_deep_calls;
	printf("# %u frames, %u inside\n", n, inside);
	ck_assert(inside == 6 || !WHOLE);
	run_on(s.rt, 0, hogs, NULL); /* the watchdog looks several times meanwhile */
	ck_assert_uint_eq(found(), 1);
	let_go();
	haul_join(co, NULL, HAUL_FOREVER);
	ck_assert(!hauli_foreign_still_waits(tid, &f));
	runtime_stop(s.rt);
}
END_TEST

static void *rests(void *arg)
{
	while (!s.go)
		haul_sleep(HAUL_MS); /* has a slice now and then */
	return NULL;
}

static void *spins(void *arg)
{
	while (!s.go)
		;
	return NULL;
}

#define SPINNERS 6

/* Threads that compute keep the carriers off their CPUs; one carrier sleeps most of the time. */
START_TEST(a_carrier_that_sleeps_or_is_preempted_gets_none)
{
	pthread_t spinners[SPINNERS];
	struct haul_coro *co;

	start(HAUL_STEAL_OFF);
	for (int i = 0; i < SPINNERS; i++)
		ck_assert_int_eq(pthread_create(&spinners[i], NULL, spins, NULL), 0);
	haul_spawn_on(haul_carrier(s.rt, 1), &co, rests, NULL, NULL);
	for (int i = 0; i < 8; i++)
		run_on(s.rt, 0, hogs, NULL);
	ck_assert_uint_eq(found(), 0);
	s.go = true;
	haul_join(co, NULL, HAUL_FOREVER);
	for (int i = 0; i < SPINNERS; i++)
		pthread_join(spinners[i], NULL);
	runtime_stop(s.rt);
}
END_TEST

START_TEST(a_thread_that_runs_waits_for_nothing)
{
	struct hauli_foreign f;

	ck_assert(!hauli_foreign_look((uint32_t)gettid(), &f));
	ck_assert(!hauli_foreign_look(UINT32_MAX, &f));
}
END_TEST

SUITE_MAIN("foreign", {a_wait_in_the_kernel_gets_a_line, KINDS},
	{so_does_one_in_a_cycle_of_a_poller, 1}, {so_does_a_stolen_one, 1},
	{its_call_stack_is_that_of_the_coroutine, 2},
	{a_carrier_that_sleeps_or_is_preempted_gets_none, 1},
	{a_thread_that_runs_waits_for_nothing, 1})
