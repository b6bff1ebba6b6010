/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads on their CPUs: names and masks. */
#include <pthread.h>
#include <sched.h>

#include "support/suite.h"
#include "topo/pin.h"
#include "unit/topo.h"

struct visit {
	struct haul_place place;
	unsigned id;
	int first_pin; /* CPU of the thread before the visit; -1: not pinned */
	int result;
	cpu_set_t mask;
	char name[HAULI_THREAD_NAME];
};

static void *visit(void *arg)
{
	struct visit *v = arg;
	cpu_set_t mask;

	if (v->first_pin >= 0) {
		CPU_ZERO(&mask);
		CPU_SET(v->first_pin, &mask);
		pthread_setaffinity_np(pthread_self(), sizeof(mask), &mask);
	}
	v->result = hauli_place_enter(&v->place, v->id);
	pthread_getaffinity_np(pthread_self(), sizeof(v->mask), &v->mask);
	pthread_getname_np(pthread_self(), v->name, sizeof(v->name));
	return NULL;
}

static void run(struct visit *v)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, visit, v), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

static int some_cpu(void)
{
	struct haul_plan *plan = plan_of((struct haul_plan_opts){0});
	int cpu = plan->places[plan->carriers - 1].cpu;

	haul_plan_destroy(plan);
	return cpu;
}

START_TEST(pinned)
{
	int cpu = some_cpu();
	struct visit v = {.place = {.cpu = cpu, .cluster = 1}, .id = 3, .first_pin = -1};
	char name[HAULI_THREAD_NAME];

	run(&v);
	ck_assert_int_eq(v.result, 0);
	ck_assert_int_eq(CPU_COUNT(&v.mask), 1);
	ck_assert(CPU_ISSET(cpu, &v.mask));
	snprintf(name, sizeof(name), "haul3.c1.p%d", cpu);
	ck_assert_str_eq(v.name, name);
}
END_TEST

/* A floating carrier may use all CPUs of the process, whatever the mask of the thread that started
 * it. */
static void check_floats(struct haul_place place, const char *name)
{
	struct visit v = {.place = place, .id = 7, .first_pin = some_cpu()};
	cpu_set_t own;

	pthread_getaffinity_np(pthread_self(), sizeof(own), &own);
	run(&v);
	ck_assert_int_eq(v.result, 0);
	ck_assert(CPU_EQUAL(&v.mask, &own));
	ck_assert_str_eq(v.name, name);
}

START_TEST(floating)
{
	check_floats((struct haul_place){.cpu = -1, .cluster = 2}, "haul7.c2");
}
END_TEST

START_TEST(elsewhere)
{
	check_floats((struct haul_place){.cpu = 0, .elsewhere = true}, "haul7.c0.p0");
}
END_TEST

START_TEST(no_such_cpu)
{
	struct visit v = {.place = {.cpu = 8000}, .first_pin = -1};
	cpu_set_t own;

	pthread_getaffinity_np(pthread_self(), sizeof(own), &own);
	run(&v);
	ck_assert_int_eq(v.result, -EINVAL);
	ck_assert(CPU_EQUAL(&v.mask, &own));
}
END_TEST

START_TEST(names_fit)
{
	static const struct {
		unsigned id, cluster;
		int cpu;
		const char *name;
	} cases[] = {
		{0, 0, 0, "haul0.c0.p0"},
		{31, 3, 127, "haul31.c3.p127"},
		{255, 31, 5, "haul255.c31.p5"},
		{255, 31, 23, "haul255.c31.p23"},
		{255, 31, 255, "h255.c31.p255"},
		{1023, 31, 1023, "h1023.c31.p1023"},
		{1023, 127, 1023, "h1023.c127.p102"},
		{255, 31, -1, "haul255.c31"},
	};
	char name[HAULI_THREAD_NAME];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct haul_place place = {.cpu = cases[i].cpu, .cluster = cases[i].cluster};

		hauli_place_name(name, &place, cases[i].id);
		ck_assert_str_eq(name, cases[i].name);
	}
}
END_TEST

SUITE_MAIN("topo_pin", {pinned, 1}, {floating, 1}, {elsewhere, 1}, {no_such_cpu, 1}, {names_fit, 1})
