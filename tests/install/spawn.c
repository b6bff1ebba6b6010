/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's program: two carriers square numbers, the main thread sums them up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul/haul.h>

#define CARRIERS 2
#define COROUTINES 1000

struct square {
	struct haul_coro *co;
	struct haul_carrier *home;
	unsigned long n;
	bool strayed;
};

static void *square(void *arg)
{
	struct square *s = arg;

	s->strayed = haul_carrier_self() != s->home;
	haul_yield();
	s->strayed |= haul_carrier_self() != s->home;
	return (void *)(s->n * s->n);
}

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(-err));
	exit(1);
}

static void *same(void *arg)
{
	return arg;
}

/* Spawns all at once, from this thread, which is no carrier. */
static unsigned long sum_of_many(struct haul_runtime *rt)
{
	static struct haul_coro *cos[COROUTINES];
	static void *args[COROUTINES];
	unsigned long sum = 0;

	for (unsigned long i = 0; i < COROUTINES; i++)
		args[i] = (void *)i;
	must(haul_spawn_many(rt, cos, same, args, COROUTINES, NULL), "haul_spawn_many");
	for (unsigned i = 0; i < COROUTINES; i++) {
		void *result;

		must(haul_join(cos[i], &result, HAUL_FOREVER), "haul_join");
		sum += (unsigned long)result;
	}
	return sum;
}

int main(void)
{
	static struct square squares[COROUTINES];
	struct haul_plan_opts wish = {.carriers = CARRIERS};
	struct haul_plan *plan;
	struct haul_runtime_opts opts = {0};
	struct haul_runtime *rt;
	unsigned long sum = 0, strayed = 0;
	char err[256];

	must(haul_plan_create(&plan, &wish, err, sizeof(err)), "haul_plan_create");
	opts.plan = plan;
	must(haul_start(&rt, &opts, NULL, 0), "haul_start");
	haul_plan_destroy(plan);
	for (unsigned i = 0; i < COROUTINES; i++) {
		struct square *s = &squares[i];

		s->n = i;
		s->home = haul_carrier(rt, i % CARRIERS);
		must(haul_spawn_on(s->home, &s->co, square, s, NULL), "haul_spawn_on");
	}
	for (unsigned i = 0; i < COROUTINES; i++) {
		void *result;

		must(haul_join(squares[i].co, &result, HAUL_FOREVER), "haul_join");
		sum += (unsigned long)result;
		strayed += squares[i].strayed;
	}
	if (sum_of_many(rt) != COROUTINES * (COROUTINES - 1ul) / 2) {
		fprintf(stderr, "haul_spawn_many: the sum is wrong\n");
		return 1;
	}
	must(haul_stop(rt, HAUL_FOREVER), "haul_stop");
	printf("carriers %u sum %lu strayed %lu\n", CARRIERS, sum, strayed);
	return 0;
}
