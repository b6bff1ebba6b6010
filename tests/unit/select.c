/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_select(): which case is done, what the others leave behind, and who is served when. */
#include <errno.h>
#include <stdatomic.h>

#include <haul/scope.h>

#include "support/runtime.h"
#include "support/suite.h"

#define MANY 300 /* more than are served at once */
#define SHORT (2 * HAUL_MS)

static struct shared {
	struct haul_mutex mutex;
	struct haul_event event;
	struct haul_sem sem, other;
	struct haul_chan *ch, *ch2;
	int order[MANY], n; /* of one carrier */
	int result[MANY], err[MANY]; /* by member */
	atomic_int waiting;
} s;

/* Runs a coroutine that returns what is wrong, or NULL. */
static void check(haul_fn *fn, unsigned carriers)
{
	struct haul_runtime *rt = runtime_start(carriers);

	memset(&s, 0, sizeof(s));
	ck_assert_pstr_eq(run_on(rt, 0, fn, rt), NULL);
	runtime_stop(rt);
}

/* Spawns n members on the running carrier, and lets them begin. */
static void spawn_members(struct haul_coro **cos, int n, haul_fn *fn)
{
	s.waiting = s.n = 0;
	for (int i = 0; i < n; i++)
		haul_spawn(
			&cos[i], fn, (void *)(intptr_t)i, &(struct haul_coro_opts){.pinned = true});
	WAIT_UNTIL(s.waiting == n);
}

static void join_all(struct haul_coro **cos, int n)
{
	for (int i = 0; i < n; i++)
		haul_join(cos[i], NULL, HAUL_FOREVER);
}

/* A member's select, noted. */
static int note(void *number, struct haul_case *cases, unsigned n, uint64_t deadline)
{
	int i = (int)(intptr_t)number, k;

	s.waiting++;
	k = haul_select(cases, n, deadline);
	s.result[i] = k;
	s.err[i] = k < 0 ? 0 : cases[k].err;
	s.order[s.n++] = i;
	return k;
}

static void *tries(void *arg)
{
	int in = 5, out = 0;
	struct haul_case cases[6];

	EXPECT(haul_chan_create(&s.ch, sizeof(int), 1) == 0);
	EXPECT(haul_chan_create(&s.ch2, sizeof(int), 1) == 0);
	EXPECT(haul_chan_send(s.ch2, &in, 0) == 0); /* is full */
	haul_mutex_lock(&s.mutex);
	cases[0] = haul_case_recv(s.ch, &out);
	cases[1] = haul_case_send(s.ch2, &in);
	cases[2] = haul_case_event(&s.event);
	cases[3] = haul_case_sem(&s.sem);
	cases[4] = (struct haul_case){0};
	EXPECT(haul_select(cases, 5, 0) == -EAGAIN);
	EXPECT(haul_select(cases, 5, haul_in(SHORT)) == -ETIMEDOUT);
	in = 6;
	EXPECT(haul_chan_send(s.ch, &in, 0) == 0); /* the list of receivers is empty again */
	EXPECT(haul_select(cases, 5, 0) == 0 && cases[0].err == 0 && out == 6);
	EXPECT(haul_chan_recv(s.ch2, &out, 0) == 0 && out == 5);
	EXPECT(haul_select(cases, 5, HAUL_FOREVER) == 1 && cases[1].err == 0);
	EXPECT(haul_chan_recv(s.ch2, &out, 0) == 0 && out == 6);
	EXPECT(haul_chan_send(s.ch2, &in, 0) == 0);
	haul_event_set(&s.event);
	EXPECT(haul_select(cases, 5, HAUL_FOREVER) == 2);
	haul_event_reset(&s.event);
	haul_sem_post(&s.sem);
	EXPECT(haul_select(cases, 5, HAUL_FOREVER) == 3);
	EXPECT(haul_sem_wait(&s.sem, 0) == -EAGAIN); /* it has taken the unit */
	haul_mutex_unlock(&s.mutex);
	cases[5] = haul_case_mutex(&s.mutex);
	EXPECT(haul_select(cases, 6, HAUL_FOREVER) == 5);
	haul_mutex_unlock(&s.mutex);
	haul_chan_close(s.ch);
	EXPECT(haul_select(cases, 5, HAUL_FOREVER) == 0 && cases[0].err == -EPIPE);
	haul_chan_close(s.ch2);
	cases[0] = (struct haul_case){0};
	EXPECT(haul_select(cases, 5, HAUL_FOREVER) == 1 && cases[1].err == -EPIPE);
	EXPECT(haul_select(NULL, 0, 0) == -EAGAIN);
	EXPECT(haul_select(NULL, 0, haul_in(SHORT)) == -ETIMEDOUT);
	haul_chan_destroy(s.ch);
	haul_chan_destroy(s.ch2);
	return NULL;
}

START_TEST(a_case_that_can_be_done_is_done)
{
	check(tries, 1);
}
END_TEST

/* Each of those that can be done gets its turn. */
static void *chooses(void *arg)
{
	struct haul_case cases[3];
	int done[3] = {0};

	haul_sem_init(&s.sem, 10000);
	haul_sem_init(&s.other, 10000);
	haul_event_set(&s.event);
	cases[0] = haul_case_sem(&s.sem);
	cases[1] = haul_case_event(&s.event);
	cases[2] = haul_case_sem(&s.other);
	for (int i = 0; i < 3000; i++)
		done[haul_select(cases, 3, HAUL_FOREVER)]++;
	for (int i = 0; i < 3; i++)
		EXPECT(done[i] > 500);
	return NULL;
}

START_TEST(the_choice_is_random)
{
	check(chooses, 1);
}
END_TEST

static void *waits_for_any(void *arg)
{
	int value = -1;
	struct haul_case cases[] = {
		haul_case_recv(s.ch, &value),
		haul_case_event(&s.event),
		haul_case_sem(&s.sem),
		haul_case_mutex(&s.mutex),
	};
	int k = note(arg, cases, 4, HAUL_FOREVER);

	if (k == 0 && cases[0].err == 0)
		s.err[(intptr_t)arg] = value;
	if (k == 3) {
		(void)haul_event_wait(&s.event, HAUL_FOREVER);
		haul_mutex_unlock(&s.mutex);
	}
	return NULL;
}

/* Each object serves the oldest one, and only it. */
static void *serves(void *arg)
{
	struct haul_coro *cos[6];
	int value = 7;

	EXPECT(haul_chan_create(&s.ch, sizeof(int), 1) == 0);
	haul_mutex_lock(&s.mutex);
	spawn_members(cos, 6, waits_for_any);
	haul_cancel(cos[1]);
	haul_join(cos[1], NULL, HAUL_FOREVER);
	EXPECT(s.n == 1 && s.result[1] == -ECANCELED);
	haul_sem_post(&s.sem);
	EXPECT(haul_chan_send(s.ch, &value, 0) == 0); /* to the next: the first has its claim */
	haul_mutex_unlock(&s.mutex);
	WAIT_UNTIL(s.n == 4);
	haul_join(cos[0], NULL, HAUL_FOREVER);
	EXPECT(s.result[0] == 2 && s.result[2] == 0 && s.err[2] == 7 && s.result[3] == 3);
	haul_yield();
	EXPECT(s.n == 4);
	haul_event_set(&s.event); /* all that still wait */
	join_all(cos + 2, 4);
	EXPECT(s.result[4] == 1 && s.result[5] == 1);
	EXPECT(haul_sem_wait(&s.sem, 0) == -EAGAIN);
	EXPECT(haul_chan_recv(s.ch, &value, 0) == -EAGAIN);
	EXPECT(haul_mutex_lock_by(&s.mutex, 0) == 0);
	haul_mutex_unlock(&s.mutex);
	haul_chan_destroy(s.ch); /* nobody is in a list */
	return NULL;
}

START_TEST(each_object_serves_the_oldest)
{
	check(serves, 1);
}
END_TEST

/* A crowd of which some have been served by others: their waiters are still in the lists. */
static void *serves_crowds(void *arg)
{
	static struct haul_coro *cos[MANY];
	int served[5] = {0}, units = 0;

	EXPECT(haul_chan_create(&s.ch, sizeof(int), 1) == 0);
	haul_mutex_lock(&s.mutex);
	spawn_members(cos, MANY, waits_for_any);
	for (int i = 0; i < MANY / 2; i++)
		haul_sem_post(&s.sem);
	haul_chan_close(s.ch);
	join_all(cos, MANY);
	for (int i = 0; i < MANY; i++) {
		served[s.result[i]]++;
		EXPECT(s.result[i] == 2 || s.err[i] == -EPIPE);
	}
	EXPECT(served[2] == MANY / 2 && served[0] == MANY / 2);
	haul_chan_destroy(s.ch);
	EXPECT(haul_chan_create(&s.ch, sizeof(int), 1) == 0);
	spawn_members(cos, MANY, waits_for_any);
	haul_event_set(&s.event);
	for (int i = 0; i < MANY; i++)
		haul_sem_post(&s.sem); /* some are not reached by the event yet */
	join_all(cos, MANY);
	while (haul_sem_wait(&s.sem, 0) == 0)
		units++;
	for (int i = 0; i < MANY; i++)
		units += s.result[i] == 2;
	EXPECT(units == MANY);
	haul_mutex_unlock(&s.mutex);
	haul_chan_destroy(s.ch);
	return NULL;
}

START_TEST(crowds_are_served_past_those_that_others_served)
{
	check(serves_crowds, 1);
}
END_TEST

/* Both send and receive, in selects, by a channel that holds nothing: no value passes to its own
 * sender. */
#define EXCHANGES 1000
struct partner {
	int number;
	int64_t sent, received;
};

static void *exchanges(void *arg)
{
	struct partner *p = arg;
	int in, out = p->number;

	for (int i = 0; i < EXCHANGES; i++) {
		struct haul_case cases[] = {
			haul_case_recv(s.ch, &in),
			haul_case_send(s.ch, &out),
			haul_case_recv(s.ch2, &in),
		};

		switch (haul_select(cases, 3, HAUL_FOREVER)) {
		case 0:
			if (in == p->number)
				return "it has received its own value";
			p->received++;
			break;
		case 1:
			p->sent++;
			break;
		case 2:
			return cases[2].err == -EPIPE ? NULL : "a value from nowhere";
		default:
			return "an error";
		}
	}
	haul_chan_close(s.ch2); /* the others may be without a partner */
	return NULL;
}

static void *partners_meet(void *arg)
{
	struct haul_runtime *rt = arg;
	struct partner p[4] = {{.number = 0}, {.number = 1}, {.number = 2}, {.number = 3}};
	unsigned carriers = haul_carriers(rt);
	struct haul_coro *cos[4];
	int64_t sum = 0;
	void *wrong;

	EXPECT(haul_chan_create(&s.ch, sizeof(int), 0) == 0);
	EXPECT(haul_chan_create(&s.ch2, sizeof(int), 0) == 0);
	for (unsigned i = 0; i < 4; i++)
		EXPECT(haul_spawn_on(haul_carrier(rt, i % carriers), &cos[i], exchanges, &p[i],
			       NULL) == 0);
	for (int i = 0; i < 4; i++) {
		haul_join(cos[i], &wrong, HAUL_FOREVER);
		if (wrong)
			return wrong;
		sum += p[i].sent - p[i].received;
	}
	EXPECT(sum == 0);
	haul_chan_destroy(s.ch);
	haul_chan_destroy(s.ch2);
	return NULL;
}

START_TEST(selects_serve_each_other)
{
	check(partners_meet, 1);
	check(partners_meet, 3);
}
END_TEST

/* The most cases, of few objects and of many, in either order. */
static void *posts(void *arg)
{
	haul_sem_post(arg);
	return NULL;
}

static void *takes_many_cases(void *arg)
{
	static struct haul_sem sems[HAUL_CASES_MAX];
	struct haul_case cases[HAUL_CASES_MAX];
	int k;

	for (int turn = 0; turn < HAUL_CASES_MAX; turn++) {
		for (int i = 0; i < HAUL_CASES_MAX; i++)
			cases[i] = haul_case_sem(&sems[turn % 2 ? i / 16 : HAUL_CASES_MAX - 1 - i]);
		EXPECT(haul_select(cases, HAUL_CASES_MAX, haul_in(1)) == -ETIMEDOUT);
		haul_spawn(NULL, posts, &sems[turn % 2 ? turn / 16 : turn], NULL);
		k = haul_select(cases, HAUL_CASES_MAX, HAUL_FOREVER);
		EXPECT(turn % 2 ? k / 16 == turn / 16 : k == HAUL_CASES_MAX - 1 - turn);
	}
	for (int i = 0; i < HAUL_CASES_MAX; i++)
		EXPECT(haul_sem_wait(&sems[i], 0) == -EAGAIN);
	return NULL;
}

START_TEST(there_may_be_many_cases)
{
	check(takes_many_cases, 1);
}
END_TEST

/* Any thread may try. */
START_TEST(a_thread_may_try)
{
	struct haul_case cases[2];

	memset(&s, 0, sizeof(s));
	haul_sem_init(&s.sem, 1);
	cases[0] = haul_case_event(&s.event);
	cases[1] = haul_case_sem(&s.sem);
	ck_assert_int_eq(haul_select(cases, 2, 0), 1);
	ck_assert_int_eq(haul_select(cases, 2, 0), -EAGAIN);
}
END_TEST

static void *waits_cancelled(void *arg)
{
	struct haul_case cases[] = {haul_case_sem(&s.sem)};

	haul_sem_post(&s.sem);
	haul_cancel(haul_self());
	EXPECT(haul_select(cases, 1, HAUL_FOREVER) == -ECANCELED);
	EXPECT(haul_select(cases, 1, 0) == 0);
	return NULL;
}

START_TEST(a_cancelled_coroutine_only_tries)
{
	check(waits_cancelled, 1);
}
END_TEST

static void *selects_in_a_scope(void *arg)
{
	struct haul_case cases[] = {haul_case_sem(&s.sem), haul_case_event(&s.event)};
	int err;

	{
		HAUL_SCOPE(scope, haul_in(SHORT), HAUL_SCOPE_ALL);
		EXPECT(haul_select(cases, 2, HAUL_FOREVER) == -ETIMEDOUT);
	}
	haul_cancel(haul_self());
	{
		HAUL_SHIELD(haul_in(SHORT));
		err = haul_select(cases, 2, HAUL_FOREVER);
		EXPECT(err == -ETIMEDOUT || err == -ECANCELED); /* it began late */
	}
	EXPECT(haul_select(cases, 2, HAUL_FOREVER) == -ECANCELED);
	haul_sem_post(&s.sem);
	EXPECT(haul_select(cases, 2, 0) == 0);
	return NULL;
}

START_TEST(scopes_and_shields_bound_a_select)
{
	check(selects_in_a_scope, 1);
}
END_TEST

SUITE_MAIN("select", {a_case_that_can_be_done_is_done, 1}, {the_choice_is_random, 1},
	{each_object_serves_the_oldest, 1}, {crowds_are_served_past_those_that_others_served, 1},
	{selects_serve_each_other, 1}, {there_may_be_many_cases, 1}, {a_thread_may_try, 1},
	{a_cancelled_coroutine_only_tries, 1}, {scopes_and_shields_bound_a_select, 1})
