/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads that guess that there is nothing, and wait before they try: what they return is as if they
 * had tried first. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fd/call.h"
#include "support/runtime.h"
#include "support/suite.h"

#define MODES 2 /* of start() */

static struct haul_runtime *rt;
static int pair[2];

static void start(int mode, int type)
{
	struct haul_runtime_opts opts = {
		.fds = mode ? HAUL_FDS_EPOLL : HAUL_FDS_URING, .watchdog_ns = HAUL_FOREVER};

	ck_assert_int_eq(haul_start(&rt, &opts, NULL, 0), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair), 0);
}

static void stop(void)
{
	runtime_stop(rt);
	close(pair[0]);
	close(pair[1]);
}

static bool guesses(void)
{
	struct hauli_fd_slot *slot = hauli_fd_slot(pair[0]);
	struct hauli_fd_call call = {.slot = slot, .deadline = HAUL_FOREVER};

	return hauli_fd_call_waits_first(&call);
}

static ssize_t receive(uint64_t deadline)
{
	char buf[64];

	return haul_fd_recv(pair[0], buf, sizeof(buf), 0, deadline);
}

static atomic_uint asked, sent; /* by thieves, perhaps, as the next */
static atomic_bool learnt;

/* A byte for each read, once it most likely waits. */
static void *send_late(void *arg)
{
	while (!learnt) {
		if (asked > sent) {
			sent++;
			EXPECT(write(pair[1], "x", 1) == 1);
		}
		haul_yield();
	}
	return NULL;
}

/* Each read waits, and gets less than it asks for; then more such reads. Returns what was wrong, or
 * NULL. */
static void *learn_and_read(int more)
{
	struct haul_coro *sender;
	void *wrong = NULL;

	asked = sent = 0;
	learnt = false;
	EXPECT(haul_spawn(&sender, send_late, NULL, NULL) == 0);
	do {
		asked++;
		EXPECT(receive(HAUL_FOREVER) == 1);
	} while (!guesses());
	for (int i = 0; i < more; i++) {
		asked++;
		EXPECT(receive(HAUL_FOREVER) == 1);
	}
	learnt = true;
	EXPECT(haul_join(sender, &wrong, HAUL_FOREVER) == 0);
	EXPECT(!wrong);
	return NULL;
}

static void *learn(void)
{
	return learn_and_read(0);
}

static void *meet_deadlines(void *arg)
{
	char *wrong = learn_and_read(5);

	if (wrong)
		return wrong;
	EXPECT(guesses()); /* each was right */
	EXPECT(receive(0) == -EAGAIN);
	EXPECT(receive(haul_now()) == -ETIMEDOUT);
	EXPECT(receive(haul_in(HAUL_MS)) == -ETIMEDOUT);
	for (int i = 0; i < 100; i++) {
		uint64_t deadlines[] = {0, haul_now(), haul_in(HAUL_S), HAUL_FOREVER};

		EXPECT(write(pair[1], "xyz", 3) == 3);
		EXPECT(receive(deadlines[i % 4]) == 3);
	}
	for (int i = 0; i < 5; i++) {
		wrong = learn();
		if (wrong)
			return wrong;
		EXPECT(write(pair[1], "xyz", 3) == 3);
		EXPECT(receive(haul_now()) == 3);
	}
	wrong = learn();
	return wrong;
}

START_TEST(what_is_there_is_read_whatever_the_deadline)
{
	start(_i, SOCK_STREAM);
	ck_assert_ptr_null(run_on(rt, 0, meet_deadlines, NULL));
	ck_assert_int_eq(receive(0), -EAGAIN); /* by a thread, which cannot wait */
	stop();
}
END_TEST

static void *read_many(void *arg)
{
	char *wrong = learn();

	if (wrong)
		return wrong;
	for (int i = 0; i < 100; i++)
		EXPECT(write(pair[1], "xyz", 3) == 3);
	for (int i = 0; i < 100; i++)
		EXPECT(receive(HAUL_FOREVER) == 3);
	EXPECT(!guesses());
	EXPECT(receive(0) == -EAGAIN);
	EXPECT(!guesses()); /* once is not enough */
	return NULL;
}

/* As with datagrams that are there. */
START_TEST(wrong_guesses_end)
{
	start(_i, SOCK_DGRAM);
	ck_assert_ptr_null(run_on(rt, 0, read_many, NULL));
	stop();
}
END_TEST

static void *read_to_the_end(void *arg)
{
	char *wrong = learn();

	if (wrong)
		return wrong;
	EXPECT(shutdown(pair[1], SHUT_WR) == 0);
	EXPECT(receive(HAUL_FOREVER) == 0);
	EXPECT(receive(HAUL_FOREVER) == 0);
	return NULL;
}

START_TEST(an_end_of_input_is_seen)
{
	start(_i, SOCK_STREAM);
	ck_assert_ptr_null(run_on(rt, 0, read_to_the_end, NULL));
	stop();
}
END_TEST

static void *wait_for_ever(void *result)
{
	*(ssize_t *)result = receive(HAUL_FOREVER);
	return NULL;
}

static void *end_waits(void *arg)
{
	char *wrong = learn();
	struct haul_coro *co;
	ssize_t result = 1;
	int other[2];

	if (wrong)
		return wrong;
	EXPECT(haul_spawn(&co, wait_for_ever, &result, NULL) == 0);
	haul_sleep(HAUL_MS); /* it waits by then, most likely; the result is the same */
	haul_cancel(co);
	EXPECT(haul_join(co, NULL, HAUL_FOREVER) == 0);
	EXPECT(result == -ECANCELED);
	EXPECT(guesses());
	EXPECT(haul_spawn(&co, wait_for_ever, &result, NULL) == 0);
	haul_sleep(HAUL_MS); /* it waits by then, most likely; the result is the same */
	EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, other) == 0);
	EXPECT(write(other[1], "x", 1) == 1);
	EXPECT(haul_fd_close(pair[0]) == 0);
	EXPECT(dup3(other[0], pair[0], O_CLOEXEC) == pair[0]); /* the number is in use again */
	EXPECT(haul_join(co, NULL, HAUL_FOREVER) == 0);
	EXPECT(result == -EBADF);
	EXPECT(!guesses()); /* of another descriptor with this number */
	EXPECT(receive(HAUL_FOREVER) == 1);
	EXPECT(close(other[0]) == 0 && close(other[1]) == 0);
	return NULL;
}

START_TEST(cancels_and_closes_end_it)
{
	start(_i, SOCK_STREAM);
	ck_assert_ptr_null(run_on(rt, 0, end_waits, NULL));
	stop();
}
END_TEST

static void *send_whole(void *arg)
{
	char buf[64] = "";

	while (asked < 10) {
		if (asked > sent) {
			sent++;
			EXPECT(write(pair[1], buf, sizeof(buf)) == sizeof(buf));
		}
		haul_yield();
	}
	return NULL;
}

static void *read_whole(void *arg)
{
	struct haul_coro *sender;
	void *wrong;

	asked = sent = 0;
	EXPECT(haul_spawn(&sender, send_whole, NULL, NULL) == 0);
	while (asked < 9) {
		asked++;
		EXPECT(receive(HAUL_FOREVER) == 64);
		EXPECT(!guesses());
	}
	asked = 10;
	EXPECT(haul_join(sender, &wrong, HAUL_FOREVER) == 0 && !wrong);
	return NULL;
}

/* A read that has filled its memory may have left some. */
START_TEST(whole_reads_guess_nothing)
{
	start(_i, SOCK_STREAM);
	ck_assert_ptr_null(run_on(rt, 0, read_whole, NULL));
	stop();
}
END_TEST

SUITE_MAIN("fd_guess", {what_is_there_is_read_whatever_the_deadline, MODES},
	{wrong_guesses_end, MODES}, {an_end_of_input_is_seen, MODES},
	{cancels_and_closes_end_it, MODES}, {whole_reads_guess_nothing, MODES})
