/* SPDX-License-Identifier: BSD-3-Clause */
/* Coroutines of records that begin by a call, on the stack of the one before: who runs over it,
 * what a backtrace finds, and that valgrind finds nothing (coro_valgrind.sh). */
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/valgrind.h"
#include "coro/fiber.h"
#include "coro/trace.h"
#include "coro_child.h"
#include "records_throw.h"
#include "sched/glue.h"
#include "support/runtime.h"
#include "support/suite.h"

#define EACH 40 /* more than a batch */
#define KINDS 2
#define FRAMES 64

static struct {
	struct hauli_prototype kinds[KINDS];
	struct hauli_record records[KINDS * EACH];
	haul_fn *fns[KINDS];
	const char *names[KINDS];
	const struct haul_coro *slots[KINDS * EACH];
	atomic_uint ended, wrong, frames;
} t;

static unsigned number_of(const void *record)
{
	return (unsigned)((const struct hauli_record *)record - t.records);
}

static void drop(struct hauli_record *record)
{
	t.wrong++;
}

static uint8_t no_key(const void *arg)
{
	return 0;
}

/* Pushes EACH times one of each kind, all at once. */
static void *pushes(void *arg)
{
	struct haul_carrier *c = haul_carrier_self();
	void *at;

	hauli_glue_poller_begins(c, NULL, no_key);
	for (unsigned i = 0; i < KINDS; i++) {
		struct haul_coro_opts opts = {.name = t.names[i], .stack_size = 24 * 1024};

		ASSERT_EACH(hauli_glue_prototype_init(&t.kinds[i], c, t.fns[i], drop, &opts) == 0);
	}
	for (unsigned i = 0; i < KINDS * EACH; i++) {
		at = &t.records[i];
		hauli_glue_spawn_records(c, &t.kinds[i % KINDS], &at, 0, 1);
	}
	while (hauli_glue_go_on(c, true))
		;
	return NULL;
}

static void run_all(haul_fn *first, haul_fn *second)
{
	struct haul_plan_opts one = {.carriers = 1};
	struct haul_runtime *rt;
	struct haul_plan *plan;
	struct haul_coro *poller;

	ck_assert_int_eq(haul_plan_create(&plan, &one, NULL, 0), 0);
	/* The budget doubles in each round, however slow the machine is. */
	ck_assert_int_eq(
		haul_start(&rt,
			&(struct haul_runtime_opts){
				.plan = plan, .round_ns = HAUL_S, .poll_interval_ns = HAUL_S},
			NULL, 0),
		0);
	haul_plan_destroy(plan);
	t.fns[0] = first;
	t.fns[1] = second;
	t.names[0] = "the first";
	t.names[1] = "the second";
	t.ended = t.wrong = t.frames = 0;
	ck_assert_int_eq(haul_poller_register(haul_carrier(rt, 0), &poller, pushes, NULL, NULL), 0);
	WAIT_UNTIL(t.ended == KINDS * EACH);
	haul_cancel(poller);
	haul_join(poller, NULL, HAUL_FOREVER);
	runtime_stop(rt);
	ck_assert_uint_eq(t.wrong, 0);
}

static void *ends(void *arg)
{
	t.slots[number_of(arg)] = haul_self();
	t.wrong += haul_cancelled() ||
		strcmp(haul_coro_name(haul_self()), t.names[number_of(arg) % KINDS]) != 0;
	t.ended++;
	return NULL;
}

/* Rounds have had 1, 2, 4, 8, 16 and 32 slices, so this one is in a batch of 17. */
static bool is_last(const void *arg)
{
	return number_of(arg) == KINDS * EACH - 1;
}

/* Frame by frame, to below the stack's end. */
static __attribute__((noinline)) int dive(int depth)
{
	volatile char frame[120];
	int sum;

	memset((char *)frame, 1, sizeof(frame));
	sum = depth > 0 ? dive(depth - 1) : 0;
	asm volatile("" : : "r"(frame) : "memory"); /* else clang makes it a loop */
	return sum + frame[0];
}

static void *dives(void *arg)
{
	if (!is_last(arg))
		return ends(arg);
	if (haul_self() != t.slots[number_of(arg) - 1])
		_exit(7);
	dive(HAULI_ASAN || HAULI_TSAN ? 4000 : 1000);
	return NULL;
}

static void overflow(void *arg)
{
	run_all(ends, dives);
}

START_TEST(an_overflow_names_the_one_that_runs)
{
	struct child c;

	if (RUNNING_ON_VALGRIND)
		return; /* it says what it thinks of an overflow */
	c = child_run(overflow, NULL);
	CHILD_DIED_BY(c, SIGSEGV);
	ck_assert_msg(
		strstr(c.said, "coroutine \"the second\" has run over its stack of"), "%s", c.said);
}
END_TEST

/* The frames of each are those of its own call, and the end is found. */
static void *looks_back(void *arg)
{
	void *frames[FRAMES];
	unsigned n = (unsigned)backtrace(frames, FRAMES), was;

	was = atomic_exchange(&t.frames, n);
	t.wrong += n < 2 || n == FRAMES || (was && was != n);
	return ends(arg);
}

START_TEST(a_backtrace_ends_below_the_handler)
{
	run_all(looks_back, looks_back);
}
END_TEST

static void *waits(void *arg)
{
	volatile char used[4096];

	memset((char *)used, 1, sizeof(used));
	if (number_of(arg) % 3 == 0)
		haul_yield();
	else if (number_of(arg) % 3 == 1)
		haul_sleep(HAUL_US);
	return ends(arg);
}

START_TEST(some_wait_and_some_do_not)
{
	run_all(waits, ends);
}
END_TEST

#if TESTS_CXX
static void *catches(void *arg)
{
	t.wrong += !record_catches();
	return ends(arg);
}

START_TEST(an_exception_is_caught_in_its_handler)
{
	run_all(catches, catches);
}
END_TEST

static void *throws(void *arg)
{
	if (!is_last(arg))
		return ends(arg);
	record_throws();
	return NULL;
}

static void throw(void *arg)
{
	run_all(ends, throws);
}

START_TEST(an_exception_that_leaves_a_handler_ends_the_program)
{
	struct child c;

	if (RUNNING_ON_VALGRIND)
		return; /* it reports what std::terminate() leaves behind */
	c = child_run(throw, NULL);
	CHILD_DIED_BY(c, SIGABRT);
	ck_assert_msg(
		strstr(c.said, "terminate called") || strstr(c.said, "terminating"), "%s", c.said);
}
END_TEST

#if defined(__x86_64__) && !HAULI_ASAN && !HAULI_TSAN
static unsigned steps;

/* The CPU's trap flag: a SIGTRAP after each instruction. With a frame pointer, or the unwinder
 * would have to know of the changes of the stack pointer. */
static __attribute__((noinline)) void trap_each(bool on)
{
	asm volatile("" : : "r"(__builtin_frame_address(0)));
	asm volatile("leaq -128(%%rsp), %%rsp\n\t" /* the red zone */
		     "pushfq\n\t"
		     "andq $~0x100, (%%rsp)\n\t"
		     "orq %0, (%%rsp)\n\t"
		     "popfq\n\t"
		     "leaq 128(%%rsp), %%rsp"
		     :
		     : "r"(on ? UINT64_C(0x100) : 0)
		     : "memory", "cc");
}

static void trace_step(int sig, siginfo_t *info, void *uc)
{
	void *pcs[FRAMES];

	steps++;
	t.wrong += hauli_trace_interrupted(uc, pcs, FRAMES) == 0;
}

/* Calls record_catches() with an RBP that is no address. A throw puts this into its own frame
 * before it leaves, and the unwinder would take it for the frame of the function that throws. */
bool catches_without_base(void);
__asm__(".pushsection .text\n\t"
	".type catches_without_base, @function\n"
	"catches_without_base:\n\t"
	".cfi_startproc\n\t"
	"pushq %rbp\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	".cfi_offset rbp, -16\n\t"
	"movl $2, %ebp\n\t"
	"call record_catches@PLT\n\t"
	"popq %rbp\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	".cfi_restore rbp\n\t"
	"ret\n\t"
	".cfi_endproc\n\t"
	".popsection");

/* As by a dump. */
static void throw_step_by_step(void *arg)
{
	const struct sigaction sa = {.sa_sigaction = trace_step, .sa_flags = SA_SIGINFO};
	bool caught = record_catches(); /* the first throw takes much longer */

	hauli_trace_init();
	sigaction(SIGTRAP, &sa, NULL);
	trap_each(true);
	caught &= catches_without_base();
	trap_each(false);
	_exit(caught && t.wrong == 0 && steps > 1000 ? 0 : 1);
}

START_TEST(a_throw_may_be_interrupted_at_each_instruction)
{
	struct child c;

	if (RUNNING_ON_VALGRIND)
		return; /* it has no trap flag */
	c = child_run(throw_step_by_step, NULL);
	ck_assert_msg(
		WIFEXITED(c.status) && WEXITSTATUS(c.status) == 0, "%d: %s", c.status, c.said);
}
END_TEST
#define STEPS                                                  \
	,                                                      \
	{                                                      \
		a_throw_may_be_interrupted_at_each_instruction \
	}
#else
#define STEPS
#endif

#define MORE                                       \
	, {an_exception_is_caught_in_its_handler}, \
		{an_exception_that_leaves_a_handler_ends_the_program} STEPS
#else
#define MORE
#endif

SUITE_MAIN("records_stack", {an_overflow_names_the_one_that_runs},
	{a_backtrace_ends_below_the_handler}, {some_wait_and_some_do_not} MORE)
