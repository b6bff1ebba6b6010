/* SPDX-License-Identifier: BSD-3-Clause */
/* What does it cost to resume a coroutine that yields back? */
#include <errno.h>
#include <stdlib.h>

#include "coro/coro.h"
#include "harness/harness.h"
#include "peers/fcontext.h"

#define STACK (64 * 1024)

/* Three call shapes: the switch in the loop itself, three calls below it as within a library, and
 * with inexact arithmetic on one side. */
enum shape { SHALLOW, DEEP, FLOAT };

static enum shape shape;

#define DEEPER static __attribute__((noinline))

/* Prevents a tail call, so that the frame exists. */
#define KEEP_FRAME() asm volatile("" : : : "memory")

/* Raises the sticky "inexact" flag; the other side leaves it clear. */
static void compute(void)
{
	double third = 1, three = 3;

	PERF_HIDE(third);
	third /= three;
	PERF_HIDE(third);
}

/* haul */
static struct hauli_co haul_main, haul_co;
static struct hauli_stack haul_own = {.bytes = STACK};
static char *haul_stack;

DEEPER void haul_resume_3(void)
{
	hauli_co_switch(&haul_main, &haul_co, NULL);
	KEEP_FRAME();
}

DEEPER void haul_resume_2(void)
{
	haul_resume_3();
	KEEP_FRAME();
}

DEEPER void haul_resume_1(void)
{
	haul_resume_2();
	KEEP_FRAME();
}

DEEPER void haul_yield_3(void)
{
	hauli_co_switch(&haul_co, &haul_main, NULL);
	KEEP_FRAME();
}

DEEPER void haul_yield_2(void)
{
	haul_yield_3();
	KEEP_FRAME();
}

DEEPER void haul_yield_1(void)
{
	haul_yield_2();
	KEEP_FRAME();
}

static void haul_body(void *pass)
{
	hauli_co_arrived(&haul_co);
	for (;;) {
		while (shape == DEEP)
			haul_yield_1();
		while (shape == SHALLOW)
			hauli_co_switch(&haul_co, &haul_main, NULL);
		while (shape == FLOAT) {
			compute();
			hauli_co_switch(&haul_co, &haul_main, NULL);
		}
	}
}

static int haul_setup(uint64_t param)
{
	shape = (enum shape)param;
	haul_stack = aligned_alloc(64, STACK);
	if (!haul_stack)
		return -ENOMEM;
	hauli_co_init_thread(&haul_main);
	hauli_co_prepare(&haul_co, &haul_own, haul_stack + STACK, haul_body);
	return 0;
}

static uint64_t haul_run(uint64_t n)
{
	uint64_t start = perf_now();

	if (shape == DEEP)
		for (uint64_t i = 0; i < n; i++)
			haul_resume_1();
	else
		for (uint64_t i = 0; i < n; i++)
			hauli_co_switch(&haul_main, &haul_co, NULL);
	return perf_now() - start;
}

static void haul_teardown(void)
{
	hauli_co_fini_thread(&haul_main);
	free(haul_stack);
}

/* boost.context */
#ifdef PERF_BOOST
static void *boost_main, *boost_co;
static char *boost_stack;

DEEPER void boost_resume_3(void)
{
	boost_co = jump_fcontext(boost_co, NULL).from;
	KEEP_FRAME();
}

DEEPER void boost_resume_2(void)
{
	boost_resume_3();
	KEEP_FRAME();
}

DEEPER void boost_resume_1(void)
{
	boost_resume_2();
	KEEP_FRAME();
}

DEEPER void boost_yield_3(void)
{
	boost_main = jump_fcontext(boost_main, NULL).from;
	KEEP_FRAME();
}

DEEPER void boost_yield_2(void)
{
	boost_yield_3();
	KEEP_FRAME();
}

DEEPER void boost_yield_1(void)
{
	boost_yield_2();
	KEEP_FRAME();
}

static void boost_body(struct fcontext_transfer t)
{
	boost_main = t.from;
	for (;;) {
		while (shape == DEEP)
			boost_yield_1();
		while (shape == SHALLOW)
			boost_main = jump_fcontext(boost_main, NULL).from;
		while (shape == FLOAT) {
			compute();
			boost_main = jump_fcontext(boost_main, NULL).from;
		}
	}
}

static int boost_setup(uint64_t param)
{
	shape = (enum shape)param;
	boost_stack = aligned_alloc(64, STACK);
	if (!boost_stack)
		return -ENOMEM;
	boost_co = make_fcontext(boost_stack + STACK, STACK, boost_body);
	return 0;
}

static uint64_t boost_run(uint64_t n)
{
	uint64_t start = perf_now();

	if (shape == DEEP)
		for (uint64_t i = 0; i < n; i++)
			boost_resume_1();
	else
		for (uint64_t i = 0; i < n; i++)
			boost_co = jump_fcontext(boost_co, NULL).from;
	return perf_now() - start;
}

static void boost_teardown(void)
{
	free(boost_stack);
}

#define BOOST                                                           \
	{                                                               \
		"boost.context", boost_setup, boost_run, boost_teardown \
	}
#else
#define BOOST PERF_ABSENT("boost.context")
#endif

#define CASE(given_name, given_shape, what)                                      \
	{                                                                        \
		.name = given_name, .question = "resume and yield back" what,    \
		.param = given_shape,                                            \
		.sides = {{"haul", haul_setup, haul_run, haul_teardown}, BOOST}, \
	}

static const struct perf_case cases[] = {
	CASE("switch", SHALLOW, ""),
	CASE("switch-deep", DEEP, ", each three calls down"),
	CASE("switch-float", FLOAT, ", with a division on one side"),
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
