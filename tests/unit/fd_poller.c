/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls on file descriptors beside a poller that blocks: the kernel's answer ends its wait. Nothing
 * else does: no timer is armed. */
#include <errno.h>
#include <stdlib.h>

#include "fd_bed.h"
#include "support/evpoller.h"

#define ROUNDS 100

static struct evpoller poller;
static int file;
static atomic_uint got;

/* The call, or the poller, waits by then, most likely. */
static void wait_a_little(void)
{
	usleep(LATE / HAUL_US); /* nothing tells of a wait in the kernel */
}

static struct haul_coro *begin_poller(void)
{
	struct haul_coro *handle;

	evpoller_open(&poller);
	ck_assert_int_eq(evpoller_register(haul_carrier(rt, 0), &poller, &handle), 0);
	return handle;
}

static void end_poller(struct haul_coro *handle)
{
	haul_cancel(handle);
	ck_assert_int_eq(haul_join(handle, NULL, HAUL_FOREVER), 0);
	evpoller_close(&poller);
}

static void *get(void *arg)
{
	char c;

	got += haul_fd_recv(pair[0], &c, 1, 0, HAUL_FOREVER) == 1;
	return NULL;
}

/* Begins a call that waits. */
static void begin_get(void)
{
	got = 0;
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), NULL, get, NULL, NULL), 0);
}

/* Ends it. A join would wake the carrier. */
static void end_get(void)
{
	ck_assert_int_eq(write(pair[1], "x", 1), 1);
	WAIT_UNTIL(got);
}

START_TEST(a_socket_ends_the_wait)
{
	struct haul_coro *handle;

	start(_i);
	handle = begin_poller();
	for (int i = 0; i < ROUNDS; i++) {
		begin_get();
		/* at some times the poller waits by then, at others not yet */
		usleep(i % 10 * 200);
		end_get();
	}
	end_poller(handle);
	stop();
}
END_TEST

static void *sync_file(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		EXPECT(haul_fd_write(file, "x", 1, HAUL_FOREVER) == 1);
		EXPECT(haul_fd_fsync(file, HAUL_FOREVER) == 0);
	}
	return NULL;
}

START_TEST(a_file_ends_the_wait)
{
	char path[] = "fd-poller-XXXXXX";
	struct haul_coro *handle;

	file = mkstemp(path);
	ck_assert_int_ge(file, 0);
	unlink(path);
	start(_i);
	handle = begin_poller();
	run_one(sync_file);
	end_poller(handle);
	stop();
	close(file);
}
END_TEST

/* Neither a call that waits nor one that has ended keeps the poller awake. */
START_TEST(the_poller_waits_as_long_as_calls_do)
{
	struct haul_coro *handle;
	unsigned long before;

	start(_i);
	handle = begin_poller();
	for (int i = 0; i < 3; i++) {
		begin_get();
		wait_a_little();
		before = poller.waits;
		usleep(5 * LATE / HAUL_US); /* nothing is to come */
		ck_assert_uint_lt(poller.waits - before, 100);
		end_get();
		wait_a_little();
		before = poller.waits;
		usleep(5 * LATE / HAUL_US); /* nothing is to come */
		ck_assert_uint_lt(poller.waits - before, 100);
	}
	end_poller(handle);
	stop();
}
END_TEST

static void *get_in_vain(void *arg)
{
	char c;

	EXPECT(haul_fd_recv(pair[0], &c, 1, 0, haul_in(HAUL_MS)) == -ETIMEDOUT);
	return NULL;
}

/* Nor does what comes for a call that waits no more. */
START_TEST(the_poller_waits_although_there_is_input_for_nobody)
{
	struct haul_coro *handle;
	unsigned long before;

	start(_i);
	handle = begin_poller();
	run_one(get_in_vain);
	ck_assert_int_eq(write(pair[1], "x", 1), 1);
	wait_a_little();
	before = poller.waits;
	usleep(5 * LATE / HAUL_US); /* nothing is to come */
	ck_assert_uint_lt(poller.waits - before, 100);
	begin_get(); /* which finds it */
	WAIT_UNTIL(got);
	end_poller(handle);
	stop();
}
END_TEST

/* A poller that does not ask for the descriptor spins while calls wait, also if the one before it
 * has asked. */
START_TEST(a_poller_that_does_not_ask_spins)
{
	struct haul_coro *handle;

	start(_i);
	for (int i = 0; i < 4; i++) {
		poller.without_fds = i % 2 == 1;
		handle = begin_poller();
		begin_get();
		wait_a_little();
		end_get();
		end_poller(handle);
	}
	poller.without_fds = false;
	stop();
}
END_TEST

START_TEST(a_stop_closes_what_the_poller_waited_for)
{
	struct haul_coro *handle;
	unsigned before;

	for (int turn = 0; turn < 2; turn++) {
		before = open_descriptors(); /* the first time the process gets some for itself */
		start(_i);
		handle = begin_poller();
		begin_get();
		wait_a_little();
		end_get();
		end_poller(handle);
		stop();
	}
	ck_assert_uint_eq(open_descriptors(), before);
}
END_TEST

SUITE_MAIN("fd_poller", {a_socket_ends_the_wait, MODES}, {a_file_ends_the_wait, MODES},
	{the_poller_waits_although_there_is_input_for_nobody, MODES},
	{the_poller_waits_as_long_as_calls_do, MODES}, {a_poller_that_does_not_ask_spins, MODES},
	{a_stop_closes_what_the_poller_waited_for, MODES})
