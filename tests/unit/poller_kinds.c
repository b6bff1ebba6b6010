/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets in, coroutine, packets out: the same tests for each way to run an event loop on a
 * carrier: a spinning poller, a blocking poller, a poller that waits as a coroutine (its carrier is
 * free meanwhile), and a loop in an ordinary coroutine. Packets are numbers in a socket.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <haul/haul.h>

#include "support/runtime.h"
#include "support/suite.h"

#define ITEMS 8192
#define WINDOW 64

enum { OURS, THEIRS };

static struct {
	int in[2], out[2]; /* one end is the loop's and its handlers', the other the test's */
	int wake;
	atomic_uint taken, ended; /* packets taken; handlers that ended or failed to start */
	atomic_uint idle; /* number of times that the loop found nothing */
	atomic_bool feeding;
} bed;

static struct haul_runtime *rt;
static struct haul_coro *loop;

/* A handler ends in one of three ways, by packet number: at once, after a yield, after a sleep. */
static void *answer(void *arg)
{
	uint32_t number = (uint32_t)(uintptr_t)arg;
	int err = 0;

	if (number % 3 == 1)
		haul_yield();
	else if (number % 3 == 2)
		err = haul_sleep(number % 64 * HAUL_US);
	while (!err && send(bed.out[OURS], &number, sizeof(number), MSG_DONTWAIT) < 0) {
		ck_assert_int_eq(errno, EAGAIN);
		err = haul_sleep(20 * HAUL_US);
	}
	bed.ended++;
	return NULL;
}

static bool take(void)
{
	uint32_t number;
	unsigned n = 0;

	while (n < 32 && recv(bed.in[OURS], &number, sizeof(number), MSG_DONTWAIT) > 0) {
		n++;
		bed.taken++;
		if (haul_spawn(NULL, answer, (void *)(uintptr_t)number, NULL) != 0)
			bed.ended++; /* the runtime stops */
	}
	if (n == 0)
		bed.idle++;
	return n > 0;
}

static void *spins(void *arg)
{
	bool io = false;

	while (haul_maybe_yield(io))
		io = take();
	return NULL;
}

static void wait_for_input(void)
{
	struct pollfd fds[] = {{bed.wake, POLLIN, 0}, {bed.in[OURS], POLLIN, 0}};
	uint64_t until = haul_poller_deadline();
	uint64_t now = haul_now();
	uint64_t left = until > now ? until - now : 0;
	struct timespec t = {.tv_sec = (time_t)(left / HAUL_S), .tv_nsec = (long)(left % HAUL_S)};
	eventfd_t n;

	ppoll(fds, 2, until == HAUL_FOREVER ? NULL : &t, NULL);
	eventfd_read(bed.wake, &n);
}

static void *blocks(void *arg)
{
	bool io = false;

	while (haul_maybe_yield(io)) {
		io = take();
		if (io || !haul_poller_try_park())
			continue;
		/* A socket stays readable until it is read, so nothing needs arming. */
		if (haul_poller_can_park())
			wait_for_input();
		haul_poller_unpark();
	}
	return NULL;
}

static void wakeup(void *arg)
{
	eventfd_write(bed.wake, 1);
}

/* The feeder unparks it for each packet; a permit that comes before the park is kept. */
static void *waits(void *arg)
{
	bool io = false;

	while (haul_maybe_yield(io)) {
		io = take();
		if (!io && haul_park(HAUL_FOREVER) != 0)
			break;
	}
	return NULL;
}

static void *is_a_coroutine(void *arg)
{
	int err = 0;

	while (!err && !haul_cancelled()) {
		if (take())
			haul_yield();
		else
			err = haul_sleep(20 * HAUL_US);
	}
	return NULL;
}

static const struct kind {
	haul_fn *fn;
	void (*wakeup)(void *arg);
	bool told; /* woken by haul_unpark() */
	bool plain; /* not in the poller's slot */
} kinds[] = {
	{.fn = spins},
	{.fn = blocks, .wakeup = wakeup},
	{.fn = waits, .told = true},
	{.fn = is_a_coroutine, .plain = true},
};
#define KINDS (int)(sizeof(kinds) / sizeof(kinds[0]))

static unsigned descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void begin(const struct kind *k)
{
	const struct haul_poller_opts opts = {.name = "loop", .wakeup = k->wakeup};
	int err;

	memset(&bed, 0, sizeof(bed));
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, bed.in), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, bed.out), 0);
	bed.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	rt = runtime_start(1);
	if (k->plain)
		err = haul_spawn_on(haul_carrier(rt, 0), &loop, k->fn, NULL, NULL);
	else
		err = haul_poller_register(haul_carrier(rt, 0), &loop, k->fn, NULL, &opts);
	ck_assert_int_eq(err, 0);
}

/* Only the runtime's stop ends the loop; every packet taken had its handler. */
static void stop(void)
{
	runtime_stop(rt);
	ck_assert_uint_eq(bed.taken, bed.ended);
}

static void close_all(void)
{
	for (int i = OURS; i <= THEIRS; i++) {
		close(bed.in[i]);
		close(bed.out[i]);
	}
	close(bed.wake);
}

static void put(const struct kind *k, uint32_t number)
{
	ck_assert_int_eq(
		send(bed.in[THEIRS], &number, sizeof(number), MSG_NOSIGNAL), sizeof(number));
	if (k->told)
		haul_unpark(loop);
}

/* One packet at a time, so that the loop waits before each; then many at a time; in turn. */
START_TEST(packets_in_coroutine_packets_out)
{
	const struct kind *k = &kinds[_i];
	static unsigned char seen[ITEMS];
	uint32_t sent = 0, back = 0, number;

	memset(seen, 0, sizeof(seen));
	begin(k);
	while (back < ITEMS) {
		for (uint32_t window = sent / 256 % 2 ? WINDOW : 1;
			sent < ITEMS && sent - back < window; sent++)
			put(k, sent);
		ck_assert_int_eq(recv(bed.out[THEIRS], &number, sizeof(number), 0), sizeof(number));
		ck_assert_uint_lt(number, ITEMS);
		ck_assert_uint_eq(seen[number]++, 0);
		back++;
	}
	ck_assert_int_eq(recv(bed.out[THEIRS], &number, sizeof(number), MSG_DONTWAIT), -1);
	haul_cancel(loop);
	haul_join(loop, NULL, HAUL_FOREVER);
	stop();
	ck_assert_uint_eq(bed.taken, ITEMS);
	close_all();
}
END_TEST

static void *ends(void *arg)
{
	return arg;
}

START_TEST(only_pollers_take_the_slot)
{
	const struct kind *k = &kinds[_i];

	begin(k);
	WAIT_UNTIL(bed.idle > 0);
	ck_assert_int_eq(haul_poller_register(haul_carrier(rt, 0), NULL, ends, NULL, NULL),
		k->plain ? 0 : -EBUSY);
	haul_detach(loop);
	stop();
	close_all();
}
END_TEST

START_TEST(stop_while_idle)
{
	unsigned before = descriptors();

	for (int i = 0; i < 20; i++) {
		begin(&kinds[_i]);
		WAIT_UNTIL(bed.idle > 0);
		haul_detach(loop);
		stop();
		ck_assert_uint_eq(bed.taken, 0);
		close_all();
	}
	ck_assert_uint_eq(descriptors(), before);
}
END_TEST

/* Sends without waiting for replies, and throws the replies away. */
static void *floods(void *arg)
{
	const struct kind *k = arg;
	uint32_t number = 0, back;

	while (bed.feeding) {
		if (send(bed.in[THEIRS], &number, sizeof(number), MSG_DONTWAIT) > 0)
			number++;
		while (recv(bed.out[THEIRS], &back, sizeof(back), MSG_DONTWAIT) > 0)
			;
		if (k->told)
			haul_unpark(loop);
	}
	return NULL;
}

START_TEST(stop_under_traffic)
{
	const struct kind *k = &kinds[_i];
	unsigned before = descriptors();

	for (int i = 0; i < 20; i++) {
		pthread_t feeder;

		begin(k);
		bed.feeding = true;
		ck_assert_int_eq(pthread_create(&feeder, NULL, floods, (void *)k), 0);
		WAIT_UNTIL(bed.taken > 500);
		/* A feeder that unparks the loop must stop before the loop is freed: packets are
		 * then left over when the runtime stops. The others go on feeding during the
		 * stop. */
		if (k->told) {
			bed.feeding = false;
			pthread_join(feeder, NULL);
		}
		haul_detach(loop);
		stop();
		if (!k->told) {
			bed.feeding = false;
			pthread_join(feeder, NULL);
		}
		close_all();
	}
	ck_assert_uint_eq(descriptors(), before);
}
END_TEST

SUITE_MAIN("poller_kinds", {packets_in_coroutine_packets_out, KINDS},
	{only_pollers_take_the_slot, KINDS}, {stop_while_idle, KINDS}, {stop_under_traffic, KINDS})
