/* SPDX-License-Identifier: BSD-3-Clause */
/* Misuse of haul/sync.h: the process (a child) dies with one line that names the call. */
#include <errno.h>
#include <malloc.h>

#include "misuse.h"
#include "support/suite.h"

static struct haul_mutex mutex;
static struct haul_cond cond;
static struct haul_event event;
static struct haul_sem sem;
static struct haul_chan *ch;

static void lock(void)
{
	haul_mutex_lock(&mutex);
}

static void try_lock(void)
{
	(void)haul_mutex_lock_by(&mutex, 0);
}

static void unlock(void)
{
	haul_mutex_unlock(&mutex);
}

static void wait_for_cond(void)
{
	(void)haul_cond_wait(&cond, &mutex, HAUL_FOREVER);
}

static void wait_for_event(void)
{
	(void)haul_event_wait(&event, HAUL_FOREVER);
}

static void wait_for_unit(void)
{
	(void)haul_sem_wait(&sem, haul_in(HAUL_S));
}

static void receive(void)
{
	int value;

	haul_chan_create(&ch, sizeof(value), 1);
	(void)haul_chan_recv(ch, &value, HAUL_FOREVER);
}

static void send(void)
{
	int value = 1;

	haul_chan_create(&ch, sizeof(value), 1);
	(void)haul_chan_send(ch, &value, HAUL_FOREVER);
}

/* Arguments that are NULL. */

static void lock_none(void)
{
	haul_mutex_lock(NULL);
}

static void lock_none_by(void)
{
	(void)haul_mutex_lock_by(NULL, 0);
}

static void unlock_none(void)
{
	haul_mutex_unlock(NULL);
}

static void wait_for_no_cond(void)
{
	(void)haul_cond_wait(NULL, &mutex, 0);
}

static void wait_with_no_mutex(void)
{
	(void)haul_cond_wait(&cond, NULL, 0);
}

static void signal_none(void)
{
	haul_cond_signal(NULL);
}

static void broadcast_none(void)
{
	haul_cond_broadcast(NULL);
}

static void wait_for_no_event(void)
{
	(void)haul_event_wait(NULL, 0);
}

static void set_none(void)
{
	haul_event_set(NULL);
}

static void reset_none(void)
{
	haul_event_reset(NULL);
}

static void ask_none(void)
{
	(void)haul_event_is_set(NULL);
}

static void init_none(void)
{
	haul_sem_init(NULL, 1);
}

static void wait_for_no_sem(void)
{
	(void)haul_sem_wait(NULL, 0);
}

static void post_none(void)
{
	haul_sem_post(NULL);
}

static void send_to_none(void)
{
	(void)haul_chan_send(NULL, &mutex, 0);
}

static void receive_from_none(void)
{
	(void)haul_chan_recv(NULL, &mutex, 0);
}

static void close_none(void)
{
	haul_chan_close(NULL);
}

static void send_nothing(void)
{
	haul_chan_create(&ch, sizeof(int), 1);
	(void)haul_chan_send(ch, NULL, 0);
}

static void receive_nothing(void)
{
	haul_chan_create(&ch, sizeof(int), 1);
	(void)haul_chan_recv(ch, NULL, 0);
}

/* Objects in a state that the call does not allow. */

static void *receives(void *arg)
{
	int value;

	(void)haul_chan_recv(ch, &value, HAUL_FOREVER);
	return arg;
}

static void *sends(void *arg)
{
	int value = 1;

	(void)haul_chan_send(ch, &value, HAUL_FOREVER);
	return arg;
}

static void *selects(void *arg)
{
	int value;
	struct haul_case cases[] = {haul_case_recv(ch, &value)};

	(void)haul_select(cases, 1, HAUL_FOREVER);
	return arg;
}

/* Begins waits beside the caller: both stay on this carrier, or the mistake is a data race, too. */
static void let_another(haul_fn *waits)
{
	haul_pin();
	haul_spawn(NULL, waits, NULL, &(struct haul_coro_opts){.pinned = true});
	haul_yield();
}

static void destroy_while(haul_fn *waits)
{
	haul_chan_create(&ch, sizeof(int), 0);
	let_another(waits);
	haul_chan_destroy(ch);
}

static void destroy_while_one_receives(void)
{
	destroy_while(receives);
}

static void destroy_while_one_sends(void)
{
	destroy_while(sends);
}

static void destroy_while_one_selects(void)
{
	destroy_while(selects);
}

static void destroys_while_one_receives(void)
{
	on_carrier(0, destroy_while_one_receives);
}

static void destroys_while_one_sends(void)
{
	on_carrier(0, destroy_while_one_sends);
}

static void destroys_while_one_selects(void)
{
	on_carrier(0, destroy_while_one_selects);
}

/* A channel with room for a value, which has one, unless it is closed. */
static void destroy(unsigned count, bool full, bool closed)
{
	const int value = 1;

	mallopt(M_PERTURB, 0); /* which meson has set, and overwrites what is freed */
	haul_chan_create(&ch, sizeof(value), count);
	if (full)
		haul_chan_send(ch, &value, 0);
	if (closed)
		haul_chan_close(ch);
	haul_chan_destroy(ch);
}

static void *uses_destroyed(void *use)
{
	((haul_fn *)use)(NULL);
	return NULL;
}

static void use_destroyed(unsigned count, bool full, bool closed, haul_fn *use)
{
	destroy(count, full, closed);
	run_on(rt, 0, uses_destroyed, (void *)use);
}

static void sends_to_destroyed(void)
{
	use_destroyed(1, false, false, sends);
}

static void receives_from_destroyed(void)
{
	use_destroyed(1, true, false, receives);
}

static void receives_from_closed_and_destroyed(void)
{
	use_destroyed(0, false, true, receives);
}

static void selects_destroyed(void)
{
	use_destroyed(1, true, false, selects);
}

static void closes_destroyed(void)
{
	destroy(1000, true, false);
	haul_chan_close(ch);
}

static void destroys_destroyed(void)
{
	destroy(1, false, false);
	haul_chan_destroy(ch);
}

static void select_event(void)
{
	struct haul_case cases[] = {haul_case_event(&event)};

	(void)haul_select(cases, 1, HAUL_FOREVER);
}

static void try_to_select_mutex(void)
{
	struct haul_case cases[] = {haul_case_mutex(&mutex)};

	(void)haul_select(cases, 1, 0);
}

static void select_none(void)
{
	(void)haul_select(NULL, 1, HAUL_FOREVER);
}

static void select_too_many(void)
{
	static struct haul_case cases[HAUL_CASES_MAX + 1];

	(void)haul_select(cases, HAUL_CASES_MAX + 1, 0);
}

static void case_of_none(void)
{
	int value;

	(void)haul_case_recv(NULL, &value);
}

static void case_of_nothing(void)
{
	haul_chan_create(&ch, sizeof(int), 1);
	(void)haul_case_send(ch, NULL);
}

static void case_of_no_event(void)
{
	(void)haul_case_event(NULL);
}

static void case_of_no_sem(void)
{
	(void)haul_case_sem(NULL);
}

static void case_of_no_mutex(void)
{
	(void)haul_case_mutex(NULL);
}

static struct haul_case shared_case;

static void *selects_shared_case(void *arg)
{
	(void)haul_select(&shared_case, 1, HAUL_FOREVER);
	return arg;
}

static void select_twice(void)
{
	shared_case = haul_case_event(&event);
	let_another(selects_shared_case);
	selects_shared_case(NULL);
}

static void selects_twice(void)
{
	on_carrier(0, select_twice);
}

/* Waits in a handler that runs on its poller's stack. */

static void lock_in_a_handler(void)
{
	handle_by(lock);
}

static void try_lock_in_a_handler(void)
{
	handle_by(try_lock);
}

static void wait_for_cond_in_a_handler(void)
{
	handle_by(wait_for_cond);
}

static void wait_for_event_in_a_handler(void)
{
	handle_by(wait_for_event);
}

static void wait_for_unit_in_a_handler(void)
{
	handle_by(wait_for_unit);
}

static void receive_in_a_handler(void)
{
	handle_by(receive);
}

static void send_in_a_handler(void)
{
	handle_by(send);
}

static void select_event_in_a_handler(void)
{
	handle_by(select_event);
}

#define OUTSIDE "called outside a coroutine"
#define IS_NULL "is NULL"
#define IN_HANDLER "called in a burst handler"
#define IN_USE "coroutines wait in channel"
#define DESTROYED "was destroyed before"

static const struct misuse misuses[] = {
	{lock, "haul_mutex_lock", OUTSIDE},
	{try_lock, "haul_mutex_lock_by", OUTSIDE},
	{unlock, "haul_mutex_unlock", "is not locked"},
	{wait_for_cond, "haul_cond_wait", OUTSIDE},
	{wait_for_event, "haul_event_wait", OUTSIDE},
	{wait_for_unit, "haul_sem_wait", OUTSIDE},
	{receive, "haul_chan_recv", OUTSIDE},
	{send, "haul_chan_send", OUTSIDE},
	{select_event, "haul_select", OUTSIDE},
	{try_to_select_mutex, "haul_select", OUTSIDE},
	{lock_none, "haul_mutex_lock", IS_NULL},
	{lock_none_by, "haul_mutex_lock_by", IS_NULL},
	{unlock_none, "haul_mutex_unlock", IS_NULL},
	{wait_for_no_cond, "haul_cond_wait", IS_NULL},
	{wait_with_no_mutex, "haul_cond_wait", IS_NULL},
	{signal_none, "haul_cond_signal", IS_NULL},
	{broadcast_none, "haul_cond_broadcast", IS_NULL},
	{wait_for_no_event, "haul_event_wait", IS_NULL},
	{set_none, "haul_event_set", IS_NULL},
	{reset_none, "haul_event_reset", IS_NULL},
	{ask_none, "haul_event_is_set", IS_NULL},
	{init_none, "haul_sem_init", IS_NULL},
	{wait_for_no_sem, "haul_sem_wait", IS_NULL},
	{post_none, "haul_sem_post", IS_NULL},
	{send_to_none, "haul_chan_send", IS_NULL},
	{send_nothing, "haul_chan_send", IS_NULL},
	{receive_from_none, "haul_chan_recv", IS_NULL},
	{receive_nothing, "haul_chan_recv", IS_NULL},
	{close_none, "haul_chan_close", IS_NULL},
	{case_of_none, "haul_case_recv", IS_NULL},
	{case_of_nothing, "haul_case_send", IS_NULL},
	{case_of_no_event, "haul_case_event", IS_NULL},
	{case_of_no_sem, "haul_case_sem", IS_NULL},
	{case_of_no_mutex, "haul_case_mutex", IS_NULL},
	{select_none, "haul_select", "are NULL"},
	{select_too_many, "haul_select", "65 cases; there are at most 64"},
	{destroys_while_one_receives, "haul_chan_destroy", IN_USE},
	{destroys_while_one_sends, "haul_chan_destroy", IN_USE},
	{destroys_while_one_selects, "haul_chan_destroy", IN_USE},
	{sends_to_destroyed, "haul_chan_send", DESTROYED},
	{receives_from_destroyed, "haul_chan_recv", DESTROYED},
	{receives_from_closed_and_destroyed, "haul_chan_recv", DESTROYED},
	{selects_destroyed, "haul_select", DESTROYED},
	{closes_destroyed, "haul_chan_close", DESTROYED},
	{destroys_destroyed, "haul_chan_destroy", DESTROYED},
	{selects_twice, "haul_select", "case 0 is in use"},
	{lock_in_a_handler, "haul_mutex_lock", IN_HANDLER},
	{try_lock_in_a_handler, "haul_mutex_lock_by", IN_HANDLER},
	{wait_for_cond_in_a_handler, "haul_cond_wait", IN_HANDLER},
	{wait_for_event_in_a_handler, "haul_event_wait", IN_HANDLER},
	{wait_for_unit_in_a_handler, "haul_sem_wait", IN_HANDLER},
	{receive_in_a_handler, "haul_chan_recv", IN_HANDLER},
	{send_in_a_handler, "haul_chan_send", IN_HANDLER},
	{select_event_in_a_handler, "haul_select", IN_HANDLER},
};
#define MISUSES ((int)(sizeof(misuses) / sizeof(misuses[0])))

START_TEST(a_mistake_is_reported)
{
	/* A sanitizer finds it by itself. */
	if ((HAULI_ASAN || HAULI_TSAN) && strcmp(misuses[_i].mistake, DESTROYED) == 0)
		return;
	misuse_is_reported(&misuses[_i]);
}
END_TEST

/* With deadline 0 any thread may try. */
START_TEST(a_try_needs_no_coroutine)
{
	int value = 7;

	haul_sem_init(&sem, 1);
	ck_assert_int_eq(haul_sem_wait(&sem, 0), 0);
	ck_assert_int_eq(haul_sem_wait(&sem, 0), -EAGAIN);
	ck_assert_int_eq(haul_event_wait(&event, 0), -EAGAIN);
	ck_assert_int_eq(haul_chan_create(&ch, sizeof(value), 1), 0);
	ck_assert_int_eq(haul_chan_send(ch, &value, 0), 0);
	ck_assert_int_eq(haul_chan_send(ch, &value, 0), -EAGAIN);
	value = 0;
	ck_assert_int_eq(haul_chan_recv(ch, &value, 0), 0);
	ck_assert_int_eq(value, 7);
	haul_chan_destroy(ch);
}
END_TEST

SUITE_MAIN("sync_misuse", {a_mistake_is_reported, MISUSES}, {a_try_needs_no_coroutine, 1})
