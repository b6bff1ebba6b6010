/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors as cases of haul_select(): what others take or close meanwhile, and what is left. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>

#include "fd_bed.h"

static void *send_late(void *arg)
{
	haul_sleep(LATE);
	EXPECT(write(pair[1], "hello", 5) == 5);
	return NULL;
}

/* The case that is returned has made its system call. */
static void *wait_for_input(void *arg)
{
	struct haul_coro *sender;
	char buf[8];
	struct haul_case cases[] = {
		haul_case_fd(pair[0], POLLIN),
		haul_case_fd_read(pair[0], buf, sizeof(buf)),
	};

	EXPECT(haul_spawn(&sender, send_late, NULL, NULL) == 0);
	EXPECT(haul_select(cases, 1, HAUL_FOREVER) == 0 && cases[0].err == POLLIN);
	EXPECT(haul_join(sender, NULL, HAUL_FOREVER) == 0);
	EXPECT(read(pair[0], buf, sizeof(buf)) == 5);
	EXPECT(haul_spawn(&sender, send_late, NULL, NULL) == 0);
	EXPECT(haul_select(cases + 1, 1, HAUL_FOREVER) == 0 && cases[1].err == 5);
	EXPECT(haul_join(sender, NULL, HAUL_FOREVER) == 0);
	return NULL;
}

START_TEST(what_arrives_later_is_read)
{
	start(_i);
	run_one(wait_for_input);
	stop();
}
END_TEST

#define BYTES 2000
static atomic_uint taken; /* thieves run some of them */

static void *take_by_select(void *arg)
{
	char c;

	while (taken < BYTES) {
		struct haul_case cs = haul_case_fd_read(pair[0], &c, 1);
		int i = haul_select(&cs, 1, haul_in(HAUL_MS));

		EXPECT(i == -ETIMEDOUT || (i == 0 && cs.err == 1));
		taken += i == 0;
	}
	return NULL;
}

static void *take_and_send(void *arg)
{
	unsigned sent = 0;
	char c;

	while (taken < BYTES) {
		if (sent < BYTES && write(pair[1], "x", 1) == 1)
			sent++;
		haul_yield();
		if (sent % 2 && haul_fd_recv(pair[0], &c, 1, 0, 0) == 1)
			taken++;
	}
	return NULL;
}

/* A coroutine that is woken may find nothing any more, and waits again. */
static void *take_from_others(void *arg)
{
	struct haul_coro *co[4];
	void *wrong;

	taken = 0;
	for (int i = 0; i < 4; i++)
		EXPECT(haul_spawn(&co[i], i ? take_by_select : take_and_send, NULL, NULL) == 0);
	for (int i = 0; i < 4; i++)
		EXPECT(haul_join(co[i], &wrong, HAUL_FOREVER) == 0 && !wrong);
	return NULL;
}

START_TEST(what_another_takes_is_not_returned)
{
	start(_i);
	run_one(take_from_others);
	stop();
}
END_TEST

#define NUMBER 101 /* that no other thread gets by opening something */

static void *select_until_closed(void *arg)
{
	char buf[8];
	struct haul_case cs = haul_case_fd_read(NUMBER, buf, sizeof(buf));

	EXPECT(haul_select(&cs, 1, HAUL_FOREVER) == 0 && cs.err == -EBADF);
	return NULL;
}

/* The number is another file's, with input, before the select runs. */
static void *use_number_again(void *arg)
{
	struct haul_coro *co;
	void *wrong;

	haul_pin();
	EXPECT(dup3(pair[0], NUMBER, O_CLOEXEC) == NUMBER);
	EXPECT(haul_spawn(&co, select_until_closed, NULL, NULL) == 0);
	haul_sleep(LATE); /* it waits by then, most likely; the result is the same */
	EXPECT(haul_fd_close(NUMBER) == 0);
	EXPECT(write(pair[1], "x", 1) == 1);
	EXPECT(dup3(pair[0], NUMBER, O_CLOEXEC) == NUMBER);
	EXPECT(haul_join(co, &wrong, HAUL_FOREVER) == 0 && !wrong);
	EXPECT(haul_fd_close(NUMBER) == 0);
	return NULL;
}

START_TEST(a_close_is_told_though_the_number_is_in_use)
{
	start(_i);
	run_one(use_number_again);
	stop();
}
END_TEST

/* After a select none of its polls holds a file. */
static void *close_after_selects(void *arg)
{
	static struct haul_event event;
	char buf[8];
	struct haul_case cases[] = {
		haul_case_fd_read(pair[0], buf, sizeof(buf)),
		haul_case_event(&event),
	};

	EXPECT(haul_select(cases, 1, haul_in(LATE)) == -ETIMEDOUT);
	haul_event_reset(&event);
	haul_event_set(&event);
	EXPECT(haul_select(cases, 2, HAUL_FOREVER) == 1);
	EXPECT(close(pair[0]) == 0);
	haul_sleep(LATE); /* the kernel is told */
	EXPECT(haul_fd_wait(pair[1], POLLIN, 0) == (POLLIN | POLLHUP));
	pair[0] = -1;
	return NULL;
}

START_TEST(no_poll_is_left)
{
	start(_i);
	run_one(close_after_selects);
	stop();
}
END_TEST

static void *count_choices(void *arg)
{
	unsigned chosen[2] = {0, 0};

	for (int i = 0; i < 200; i++) {
		struct haul_case cases[] = {
			haul_case_fd(pair[0], POLLOUT), haul_case_fd(pair[1], POLLOUT)};
		int n = haul_select(cases, 2, HAUL_FOREVER);

		EXPECT(n >= 0);
		chosen[n]++;
	}
	EXPECT(chosen[0] > 20 && chosen[1] > 20);
	return NULL;
}

START_TEST(no_descriptor_always_comes_first)
{
	start(_i);
	run_one(count_choices);
	stop();
}
END_TEST

/* By a thread that is no carrier. */
START_TEST(a_thread_looks_without_waiting)
{
	struct haul_case cs;

	start(_i);
	cs = haul_case_fd(pair[0], POLLIN);
	ck_assert_int_eq(haul_select(&cs, 1, 0), -EAGAIN);
	ck_assert_int_eq(write(pair[1], "x", 1), 1);
	ck_assert_int_eq(haul_select(&cs, 1, 0), 0);
	ck_assert_int_eq(cs.err, POLLIN);
	stop();
}
END_TEST

SUITE_MAIN("fd_select", {what_arrives_later_is_read, MODES},
	{what_another_takes_is_not_returned, MODES},
	{a_close_is_told_though_the_number_is_in_use, MODES}, {no_poll_is_left, MODES},
	{no_descriptor_always_comes_first, MODES}, {a_thread_looks_without_waiting, MODES})
