/* SPDX-License-Identifier: BSD-3-Clause */
#include "coro_switch_cases.h"

#include <alloca.h>
#include <fenv.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

#include "coro/coro.h"
#include "coro/frozen.h"

#define ROUNDS 1000000
#define STACK (64 << 10)
#define N 12 /* more values than callee-saved registers, for integers and floats */

struct switch_case {
	const char *name;
	const char *(*run)(void);
};

static struct hauli_co main_co, co[3];
static struct hauli_stack own[3];
static char stacks[3][STACK] __attribute__((aligned(64)));

static void begin(unsigned i, void (*entry)(void *))
{
	own[i].bytes = STACK;
	hauli_co_prepare(&co[i], &own[i], stacks[i] + STACK, entry);
}

/* Hides the value from the compiler, which must then keep it in a register or on the stack. */
#define HIDE_INT(x) asm volatile("" : "+r"(x))
#if defined(__x86_64__)
#define HIDE_FP(x) asm volatile("" : "+x"(x))
#else
#define HIDE_FP(x) asm volatile("" : "+w"(x))
#endif

/*
 * Switches back and forth with N integers and N floating-point numbers alive, which step by
 * different amounts on each side. Not inlined, and unrolled on each stack.
 */
static __attribute__((noinline)) const char *keep_values(
	struct hauli_co *self, struct hauli_co *other, uint64_t step, long rounds)
{
	uint64_t a[N];
	double d[N];
	long double wide = (long double)step;

	for (int i = 0; i < N; i++) {
		a[i] = step * (uint64_t)(i + 1);
		d[i] = (double)step / (i + 1);
	}
	for (long n = 0; n < rounds; n++) {
#pragma GCC unroll 16
		for (int i = 0; i < N; i++) {
			HIDE_INT(a[i]);
			HIDE_FP(d[i]);
		}
		hauli_co_switch(self, other, NULL);
#pragma GCC unroll 16
		for (int i = 0; i < N; i++) {
			a[i] += step + (uint64_t)i;
			d[i] += 1.0;
		}
		wide += 1.0L;
	}
	for (int i = 0; i < N; i++) {
		if (a[i] != step * (uint64_t)(i + 1) + (uint64_t)rounds * (step + (uint64_t)i))
			return "an integer was lost";
		/* Only repeated addition gives the sum with the same million roundings. */
		volatile double want = (double)step / (i + 1);

		for (long n = 0; n < rounds; n++)
			want += 1.0;
		if (d[i] != want)
			return "a floating-point number was lost";
	}
	return wide == (long double)step + (long double)rounds ? NULL : "a long double was lost";
}

static const char *verdict;

static void keep_other(void *pass)
{
	hauli_co_arrived(&co[0]);
	verdict = keep_values(&co[0], &main_co, 7919, ROUNDS);
	hauli_co_end(&co[0], &main_co, NULL);
}

static const char *values_survive(void)
{
	const char *mine;

	verdict = "the other side did not end";
	begin(0, keep_other);
	mine = keep_values(&main_co, &co[0], 104729, ROUNDS);
	/* The other side still has one switch to return from. */
	hauli_co_switch(&main_co, &co[0], NULL);
	return mine ? mine : verdict;
}

#define FREEZES 1000

static void keep_frozen(void *pass)
{
	hauli_co_arrived(&co[0]);
	verdict = keep_values(&co[0], &main_co, 7919, FREEZES);
	hauli_co_end(&co[0], &main_co, NULL);
}

static uint64_t frozen[HAULI_FROZEN_MOST / sizeof(uint64_t) + 64];
static unsigned thaws;

static void thaw(void *pass, struct hauli_frozen *f)
{
	struct hauli_co *self = f->co;

	thaws++;
	hauli_frozen_restore(f);
	memset(frozen, 1, sizeof(frozen));
	hauli_frozen_go_on(self, pass);
}

/* The first slot is laid out as in the arena: its head is above the stack. */
static const char *frozen_values_survive(void)
{
	struct hauli_stack *head = (struct hauli_stack *)(stacks[0] + STACK - 64);
	struct hauli_frozen *f = (struct hauli_frozen *)frozen;
	struct hauli_frozen_at *at;
	static struct hauli_frozen_ats ats;

	verdict = "the other side did not end";
	thaws = 0;
	*head = (struct hauli_stack){.bytes = STACK - 64};
	hauli_co_prepare(&co[0], head, head, keep_frozen);
	for (unsigned n = 0; n < FREEZES; n++) {
		hauli_co_switch(&main_co, &co[0], NULL);
		if (hauli_frozen_size(&co[0], sizeof(*head)) == 0)
			return "too many live bytes";
		at = hauli_frozen_at(&ats, &co[0]);
		if (!at || ats.n != 1)
			return "it waits in one place";
		hauli_freeze(f, &co[0], sizeof(*head), at, thaw);
		if (!HAULI_ASAN && !HAULI_TSAN)
			memset(stacks[0], 0, STACK);
	}
	hauli_co_switch(&main_co, &co[0], NULL);
	hauli_co_fini(&(struct hauli_co){.stack = head});
	hauli_frozen_ats_fini(&ats);
	return thaws == FREEZES ? verdict : "it did not thaw each time";
}

static void add_one(void *pass)
{
	hauli_co_arrived(&co[0]);
	while (pass)
		pass = hauli_co_switch(&co[0], &main_co, (char *)pass + 1);
	hauli_co_end(&co[0], &main_co, &co[0]);
}

static const char *values_are_passed(void)
{
	static char bytes[100];

	begin(0, add_one);
	for (int i = 0; i < 99; i++) {
		if (hauli_co_switch(&main_co, &co[0], &bytes[i]) != &bytes[i + 1])
			return "a value came back changed";
	}
	return hauli_co_switch(&main_co, &co[0], NULL) == &co[0] ? NULL : "not the last value";
}

static unsigned turns[3];

/* Switches in a circle that does not pass through the main context. */
static void pass_on(void *pass)
{
	unsigned i = (unsigned)(uintptr_t)pass;
	struct hauli_co *next = &co[(i + 1) % 3];

	hauli_co_arrived(&co[i]);
	while (turns[i]++ < 1000)
		hauli_co_switch(&co[i], next, (void *)(uintptr_t)((i + 1) % 3));
	hauli_co_end(&co[i], &main_co, NULL);
}

static const char *direct_switches(void)
{
	memset(turns, 0, sizeof(turns));
	for (unsigned i = 0; i < 3; i++)
		begin(i, pass_on);
	for (unsigned i = 0; i < 3; i++)
		hauli_co_switch(&main_co, &co[i], (void *)(uintptr_t)i);
	for (unsigned i = 0; i < 3; i++) {
		if (turns[i] != 1001)
			return "turns were lost";
	}
	return NULL;
}

static uintptr_t entry_frame;
static char printed[32];

static void look_at_stack(void *pass)
{
	hauli_co_arrived(&co[0]);
	entry_frame = (uintptr_t)__builtin_frame_address(0);
	/* A variadic call with floating point faults if the stack is misaligned. */
	snprintf(printed, sizeof(printed), "%.2f", 0.25 + (double)(uintptr_t)pass);
	hauli_co_end(&co[0], &main_co, NULL);
}

static const char *stack_is_aligned(void)
{
	char want[32];

	own[0].bytes = STACK - 64;
	for (uintptr_t off = 0; off < 64; off++) {
		hauli_co_prepare(&co[0], &own[0], stacks[0] + STACK - off, look_at_stack);
		hauli_co_switch(&main_co, &co[0], (void *)off);
		if (entry_frame % 16)
			return "a frame off the 16 byte grid";
		snprintf(want, sizeof(want), "%u.25", (unsigned)off);
		if (strcmp(printed, want) != 0)
			return "a wrong number was printed";
	}
	return NULL;
}

/*
 * A frame of variable size is addressed by the frame pointer, and an over-aligned frame also by the
 * base pointer. Two coroutines run this code at a time.
 */
static __attribute__((noinline)) bool switch_with_dynamic_frame(struct hauli_co *self, size_t bytes)
{
	char fixed[64] __attribute__((aligned(64)));
	char fill = (char)(bytes + (self == &co[1]));
	char *p = alloca(bytes);
	bool same = true;

	memset(p, fill, bytes);
	memset(fixed, fill, sizeof(fixed));
	HIDE_INT(p);
	asm volatile("" : : "r"(fixed) : "memory");
	hauli_co_switch(self, &main_co, NULL);
	for (size_t i = 0; i < bytes; i++)
		same &= p[i] == fill;
	for (size_t i = 0; i < sizeof(fixed); i++)
		same &= fixed[i] == fill;
	return same;
}

static void dynamic_frames(void *pass)
{
	struct hauli_co *self = pass;

	hauli_co_arrived(self);
	for (size_t bytes = 1; bytes < 4000; bytes += 61) {
		if (!switch_with_dynamic_frame(self, bytes))
			verdict = "bytes of a dynamic frame changed";
	}
	hauli_co_end(self, &main_co, self);
}

static const char *dynamic_frames_survive(void)
{
	void *ended[2] = {NULL, NULL};

	verdict = NULL;
	begin(0, dynamic_frames);
	begin(1, dynamic_frames);
	while (!ended[0] && !ended[1]) {
		ended[0] = hauli_co_switch(&main_co, &co[0], &co[0]);
		ended[1] = hauli_co_switch(&main_co, &co[1], &co[1]);
	}
	return ended[0] == &co[0] && ended[1] == &co[1] ? verdict : "they did not end together";
}

static void round_up(void *pass)
{
	hauli_co_arrived(&co[0]);
	fesetround(FE_UPWARD);
	hauli_co_switch(&co[0], &main_co, NULL);
	fesetround(FE_TONEAREST);
	hauli_co_end(&co[0], &main_co, NULL);
}

/* The contract: control words belong to the thread, not to the coroutine. */
static const char *control_words_are_the_threads(void)
{
	int before = fegetround(), between;

	begin(0, round_up);
	hauli_co_switch(&main_co, &co[0], NULL);
	between = fegetround();
	hauli_co_switch(&main_co, &co[0], NULL);
	if (before != FE_TONEAREST || fegetround() != FE_TONEAREST)
		return "the rounding mode was not put back";
	return between == FE_UPWARD ? NULL : "a switch has changed the rounding mode";
}

struct trace {
	unsigned n;
	uintptr_t last;
};

static struct trace seen;

static _Unwind_Reason_Code count_frame(struct _Unwind_Context *context, void *arg)
{
	struct trace *t = arg;

	/* One more call, which finds no frame, marks the end. */
	if (_Unwind_GetIP(context) == 0)
		return _URC_NO_REASON;
	t->last = _Unwind_GetIP(context);
	return ++t->n < 100 ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

static __attribute__((noinline)) int unwind_from_depth(int depth)
{
	int n = depth ? unwind_from_depth(depth - 1) : (int)_Unwind_Backtrace(count_frame, &seen);

	HIDE_INT(n); /* no tail call */
	return n;
}

static void unwind(void *pass)
{
	hauli_co_arrived(&co[0]);
	unwind_from_depth(10);
	hauli_co_end(&co[0], &main_co, NULL);
}

static const char *unwinding_ends_at_the_start(void)
{
	uintptr_t start = (uintptr_t)hauli_coro_start;

	seen = (struct trace){.n = 0};
	begin(0, unwind);
	hauli_co_switch(&main_co, &co[0], NULL);
	/* Exactly eleven frames: unwind_from_depth(), unwind() and hauli_coro_start(). */
	if (seen.n != 13)
		return "not as many frames as there are";
	return seen.last > start && seen.last <= start + 16 ? NULL : "another end than the start";
}

static const struct switch_case cases[] = {
	{"values_survive", values_survive},
	{"frozen_values_survive", frozen_values_survive},
	{"values_are_passed", values_are_passed},
	{"direct_switches", direct_switches},
	{"stack_is_aligned", stack_is_aligned},
	{"dynamic_frames_survive", dynamic_frames_survive},
	{"unwinding_ends_at_the_start", unwinding_ends_at_the_start},
	{"control_words_are_the_threads", control_words_are_the_threads},
};

_Static_assert(sizeof(cases) / sizeof(cases[0]) == SWITCH_CASES, "the number in the header");

const char *switch_case_run(unsigned i, const char **name)
{
	const char *wrong;

	*name = cases[i].name;
	hauli_co_init_thread(&main_co);
	wrong = cases[i].run();
	hauli_co_fini_thread(&main_co);
	return wrong;
}
