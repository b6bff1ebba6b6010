/* SPDX-License-Identifier: BSD-3-Clause */
/* A stack overflow ends the program with one line, whichever guard finds it; other faults go where
 * they went before. Each case runs in a child process. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "coro/overflow.h"
#include "coro_child.h"
#include "support/suite.h"

#define HEAD ((size_t)256)

static const enum hauli_guard guards[] = {
	HAULI_GUARD_BEST, HAULI_GUARD_MPROTECT, HAULI_GUARD_CANARY};
#define GUARDS ((int)(sizeof(guards) / sizeof(guards[0])))

struct head {
	struct hauli_stack stack;
	struct hauli_co co;
};

static struct hauli_stacks *arena;
static struct hauli_co main_co;
static const struct hauli_co *runs; /* NULL: main_co */

static const struct hauli_co *running(void)
{
	return runs;
}

static int *volatile nowhere = (int *)16;

/* Goes down the stack, frame by frame, to below this address. */
static __attribute__((noinline)) int dive(const char *below)
{
	volatile char frame[120];

	memset((char *)frame, 1, sizeof(frame));
	return (char *)frame > below ? dive(below) + frame[0] : frame[1];
}

static void dive_out(void *pass)
{
	struct hauli_co *co = pass;

	hauli_co_arrived(co);
	/* Stops inside the canary, so that the canary's case overwrites only the canary. */
	dive(hauli_stack_lo(co->stack) - 200);
	hauli_co_end(co, &main_co, NULL);
}

/* Frames larger than the stack, touched from their lower ends up: in the guard, and beyond it,
 * where only the compiler's stack probes find the overflow. */
static void leap_into_the_guard(void *pass)
{
	struct hauli_co *co = pass;
	volatile char frame[HAULI_ASAN || HAULI_TSAN ? 120000 : 60000]; /* larger stacks */

	hauli_co_arrived(co);
	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = 1;
	hauli_co_end(co, &main_co, NULL);
}

static __attribute__((noinline)) char leap(size_t n)
{
	volatile char frame[300000];

	__asm__ volatile("" : : "r"(frame)); /* else clang keeps only the used byte */
	frame[n] = 1;
	return frame[n];
}

static void leap_over_the_guard(void *pass)
{
	struct hauli_co *co = pass;

	hauli_co_arrived(co);
	leap(0);
	hauli_co_end(co, &main_co, NULL);
}

static void run(unsigned cls, const char *name, void (*entry)(void *))
{
	struct head *h;

	/* Not the lowest slot: some slot lies below it. */
	for (int i = 0; i < 20; i++)
		hauli_stack_get_shared(arena, cls);
	h = (struct head *)hauli_stack_get_shared(arena, cls);
	h->co.name = name;
	hauli_co_prepare(&h->co, &h->stack, h, entry);
	runs = &h->co;
	hauli_co_switch(&main_co, &h->co, &h->co);
	runs = NULL;
	hauli_stack_put_shared(arena, &h->stack, name);
}

static void start(enum hauli_guard guard)
{
	if (hauli_stacks_create(&arena, HEAD, guard) || hauli_overflow_install(arena, running))
		_exit(9);
	hauli_co_init_thread(&main_co);
	hauli_overflow_thread_init();
}

static void overflow(void *arg)
{
	start(*(const enum hauli_guard *)arg);
	run(1, "echo 10.0.0.7", dive_out);
}

static int signal_of(enum hauli_guard guard)
{
	return guard == HAULI_GUARD_CANARY ? SIGABRT : SIGSEGV;
}

START_TEST(overflow_names_the_coroutine)
{
	struct child c = child_run(overflow, (void *)&guards[_i]);

	CHILD_DIED_BY(c, signal_of(guards[_i]));
	ck_assert_uint_eq(c.lines, 1);
	ck_assert_str_eq(c.said,
		"haul: coroutine \"echo 10.0.0.7\" has run over its stack of 24 KiB: "
		"give it a larger one by haul_coro_opts.stack_size or --stack-size\n");
}
END_TEST

static void overflow_of_the_nameless(void *arg)
{
	start(HAULI_GUARD_BEST);
	run(7, NULL, dive_out);
}

START_TEST(overflow_without_a_name_says_the_size)
{
	struct child c = child_run(overflow_of_the_nameless, NULL);

	CHILD_DIED_BY(c, SIGSEGV);
	ck_assert_ptr_nonnull(strstr(c.said, "coroutine \"-\" has run over its stack of 2040 KiB"));
}
END_TEST

static void (*const leaps[])(void *) = {leap_into_the_guard, leap_over_the_guard};

static void large_frame(void *arg)
{
	start(HAULI_GUARD_BEST);
	run(1, "leaper", *(void (*const *)(void *))arg);
}

START_TEST(overflow_by_one_large_frame)
{
	struct child c = child_run(large_frame, (void *)&leaps[_i]);

	CHILD_DIED_BY(c, SIGSEGV);
	ck_assert_ptr_nonnull(
		strstr(c.said, "coroutine \"leaper\" has run over its stack of 24 KiB"));
}
END_TEST

static void overflow_on_a_trimmed_slot(void *arg)
{
	struct hauli_stack *stack[100];

	start(*(const enum hauli_guard *)arg);
	for (int i = 0; i < 100; i++)
		stack[i] = hauli_stack_get_shared(arena, 1);
	for (int i = 0; i < 100; i++)
		hauli_stack_put_shared(arena, stack[i], NULL);
	hauli_stacks_trim(arena);
	run(1, "trimmed", dive_out);
}

START_TEST(guards_outlive_a_trim)
{
	struct child c = child_run(overflow_on_a_trimmed_slot, (void *)&guards[_i]);

	CHILD_DIED_BY(c, signal_of(guards[_i]));
	ck_assert_ptr_nonnull(strstr(c.said, "coroutine \"trimmed\""));
}
END_TEST

/* More guards than the kernel has mappings for: the last slot has a canary, and it is checked. */
static void run_out_of_mappings(void *arg)
{
	start(HAULI_GUARD_MPROTECT);
	while (hauli_stacks_guard(arena) == HAULI_GUARD_MPROTECT)
		hauli_stack_get_shared(arena, 0);
	if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		_exit(8);
	for (int i = 0; i < HAULI_STACK_SET; i++)
		hauli_stack_get_shared(arena, 0);
	run(0, "last", dive_out);
}

START_TEST(notice_when_mappings_are_used_up)
{
	struct child c = child_run(run_out_of_mappings, NULL);

	CHILD_DIED_BY(c, SIGABRT);
	ck_assert_uint_eq(c.lines, 2);
	ck_assert_ptr_nonnull(strstr(c.said, "vm.max_map_count"));
	ck_assert_ptr_nonnull(strstr(c.said, "coroutine \"last\" has run over its stack of 8 KiB"));
}
END_TEST

/* 200 calls of 100 bytes on a stack of the default size. */
static __attribute__((noinline)) int nest(int depth)
{
	volatile char frame[60] = {0};

	frame[depth % 60] = 1;
	return depth ? nest(depth - 1) + frame[depth % 60] : 1;
}

static void nest_200(void *pass)
{
	struct hauli_co *co = pass;

	hauli_co_arrived(co);
	if (nest(200) != 201)
		_exit(7);
	hauli_co_end(co, &main_co, NULL);
}

static void two_hundred_calls(void *arg)
{
	start(*(const enum hauli_guard *)arg);
	run(1, "nested", nest_200);
}

START_TEST(two_hundred_calls_fit)
{
	struct child c = child_run(two_hundred_calls, (void *)&guards[_i]);

	CHILD_EXITED(c, 0);
	ck_assert_str_eq(c.said, "");
}
END_TEST

/* Faults that are not stack overflows. */

static void wild(void *pass)
{
	struct hauli_co *co = pass;

	hauli_co_arrived(co);
	*nowhere = 1;
	hauli_co_end(co, &main_co, NULL);
}

/* A far access hits another coroutine's guard. */
static void wild_into_a_guard(void *pass)
{
	struct hauli_co *co = pass;
	struct head *other = (struct head *)hauli_stack_get_shared(arena, 7);

	hauli_co_arrived(co);
	other->co.name = "innocent";
	*(volatile char *)(hauli_stack_lo(&other->stack) - 1) = 1;
	hauli_co_end(co, &main_co, NULL);
}

static void (*const wild_ones[])(void *) = {wild, wild_into_a_guard};

static void no_handler(void *arg)
{
	signal(SIGSEGV, SIG_DFL);
	start(HAULI_GUARD_BEST);
	run(1, "guilty", *(void (*const *)(void *))arg);
}

START_TEST(other_faults_end_as_before)
{
	struct child c = child_run(no_handler, (void *)&wild_ones[_i]);

	CHILD_DIED_BY(c, SIGSEGV);
	ck_assert_str_eq(c.said, "");
}
END_TEST

static void theirs_with_info(int sig, siginfo_t *info, void *uc)
{
	_exit(info->si_addr == (void *)16 && uc ? 42 : 43);
}

static void theirs(int sig)
{
	_exit(44);
}

static void handled_with_info(void *arg)
{
	sigaction(SIGSEGV,
		&(struct sigaction){
			.sa_sigaction = theirs_with_info, .sa_flags = SA_SIGINFO | SA_ONSTACK},
		NULL);
	start(HAULI_GUARD_BEST);
	run(1, "guilty", wild);
}

static void handled(void *arg)
{
	signal(SIGSEGV, theirs);
	start(HAULI_GUARD_BEST);
	run(1, "guilty", wild);
}

static void handled_after(void *arg)
{
	signal(SIGSEGV, theirs);
	start(HAULI_GUARD_BEST);
	hauli_overflow_remove(arena);
	hauli_overflow_thread_fini();
	*nowhere = 1;
}

START_TEST(other_faults_go_to_the_programs_handler)
{
	struct child c = child_run(handled_with_info, NULL);

	CHILD_EXITED(c, 42);
	c = child_run(handled, NULL);
	CHILD_EXITED(c, 44);
	c = child_run(handled_after, NULL);
	CHILD_EXITED(c, 44);
}
END_TEST

static void sent(void *arg)
{
	signal(SIGSEGV, arg);
	start(HAULI_GUARD_BEST);
	raise(SIGSEGV);
}

START_TEST(a_signal_that_was_sent_is_no_fault)
{
	struct child c = child_run(sent, (void *)SIG_DFL);

	CHILD_DIED_BY(c, SIGSEGV);
	c = child_run(sent, (void *)SIG_IGN);
	CHILD_EXITED(c, 0);
}
END_TEST

/* Two arenas: the second one stays watched after the first is freed; freeing both ends the
 * watch. */
static void two_arenas(void *arg)
{
	struct hauli_stacks *first;
	struct sigaction now;

	signal(SIGSEGV, SIG_DFL);
	start(HAULI_GUARD_BEST);
	first = arena;
	start(HAULI_GUARD_BEST);
	hauli_overflow_remove(first);
	hauli_stacks_destroy(first);
	if (arg) {
		run(1, "second", dive_out);
	} else {
		hauli_overflow_remove(arena);
		sigaction(SIGSEGV, NULL, &now);
		_exit(now.sa_handler == SIG_DFL ? 0 : 1);
	}
}

START_TEST(each_arena_is_watched)
{
	struct child c = child_run(two_arenas, &arena);

	CHILD_DIED_BY(c, SIGSEGV);
	ck_assert_ptr_nonnull(strstr(c.said, "coroutine \"second\""));
	c = child_run(two_arenas, NULL);
	CHILD_EXITED(c, 0);
}
END_TEST

START_TEST(no_more_arenas_than_can_be_watched)
{
	struct hauli_stacks *a[65];
	int rc = 0, n;

	for (n = 0; n < 65 && rc == 0; n++) {
		ck_assert_int_eq(hauli_stacks_create(&a[n], HEAD, HAULI_GUARD_BEST), 0);
		rc = hauli_overflow_install(a[n], running);
	}
	ck_assert_int_eq(n, 65);
	ck_assert_int_eq(rc, -ENOSPC);
	while (n--) {
		hauli_overflow_remove(a[n]);
		hauli_stacks_destroy(a[n]);
	}
}
END_TEST

SUITE_MAIN("coro_overflow", {overflow_names_the_coroutine, GUARDS},
	{overflow_without_a_name_says_the_size, 1}, {overflow_by_one_large_frame, 2},
	{guards_outlive_a_trim, GUARDS}, {notice_when_mappings_are_used_up, 1},
	{two_hundred_calls_fit, GUARDS}, {other_faults_end_as_before, 2},
	{other_faults_go_to_the_programs_handler, 1}, {a_signal_that_was_sent_is_no_fault, 1},
	{each_arena_is_watched, 1}, {no_more_arenas_than_can_be_watched, 1})
