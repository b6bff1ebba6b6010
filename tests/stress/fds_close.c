/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coroutines and threads close descriptors with haul_fd_close() while coroutines of all carriers
 * begin calls on them, wait, or are about to be woken, also without deadlines; their numbers are
 * used again at once. And connections are made and given up. Each call ends, with a documented
 * result; the kernel lets go of each closed file, so that its peer sees the end; no descriptor and
 * no coroutine is left.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>

#include "support/suite.h"

#include "fds.h"

#define WAITERS 32
#define VICTIMS 4
#define CLOSES 100 /* of each victim */
#define VISITORS 16
#define VISITS 20

static struct {
	struct haul_runtime *rt;
	atomic_int victims[VICTIMS]; /* -1: it is being replaced */
	struct haul_event never;
	atomic_uint over, ebadf;
	const char *_Atomic wrong;
	struct sockaddr_in address;
	int listening;
	uint64_t seed;
} s;

/* For TSan a call on a number while another thread reuses it is a race: it is what is tested. So is
 * a poll that a carrier arms again, because the other direction's event has come. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
	return "race:call_victim\nrace:replace";
}

#define CHECK(condition)                      \
	do {                                  \
		if (!(condition))             \
			s.wrong = #condition; \
	} while (0)

static bool is_cut(ssize_t n)
{
	return n == -EAGAIN || n == -ETIMEDOUT || n == -ECANCELED;
}

/* A call on another file than was meant, whose number it has. */
static bool is_mistaken(ssize_t n)
{
	return n == -ENOTSOCK || n == -EINVAL || n == -ENOTCONN || n == -EPIPE ||
		n == -EOPNOTSUPP || n == -ECONNRESET;
}

static ssize_t call_victim(int fd, struct hauli_random *random)
{
	uint64_t deadline = hauli_random_below(random, 3) ? HAUL_FOREVER : fds_deadline(random);
	char buf[64];
	struct haul_case cases[] = {haul_case_event(&s.never), haul_case_fd_read(fd, buf, 1),
		haul_case_fd(fd, POLLIN), haul_case_fd_accept(fd, SOCK_CLOEXEC)};
	int i;

	switch (hauli_random_below(random, 6)) {
	case 0:
		return haul_fd_recv(fd, buf, 1, 0, deadline);
	case 1:
		return haul_fd_read(fd, buf, 1, deadline);
	case 2:
		return haul_fd_wait(fd, POLLIN, deadline);
	case 3:
		return haul_fd_accept(fd, NULL, NULL, SOCK_CLOEXEC, deadline);
	case 4: /* until there is no room */
		return haul_fd_send(fd, buf, sizeof(buf), 0, deadline);
	default:
		i = haul_select(cases, 4, deadline);
		return i < 0 ? i : cases[i].err;
	}
}

static void *wait_for_victims(void *arg)
{
	struct hauli_random random;

	hauli_random_init(&random, s.seed + 100 + (uintptr_t)arg);
	while (!s.over && !haul_cancelled()) {
		int fd = s.victims[hauli_random_below(&random, VICTIMS)];
		ssize_t n;

		if (fd < 0) {
			haul_yield();
			continue;
		}
		n = fds_count(call_victim(fd, &random));
		CHECK(n >= 0 || n == -EBADF || is_cut(n) || is_mistaken(n));
		s.ebadf += n == -EBADF;
		if (n >= 0)
			haul_yield();
	}
	return NULL;
}

/* A pair of sockets or pipes, the second for the closer. */
static int make_pair(int fds[2], struct hauli_random *random)
{
	return hauli_random_below(random, 2)
		? pipe2(fds, O_CLOEXEC)
		: socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds);
}

/* The peer of a closed descriptor sees its end, soon: when those that waited have let go of it. */
static void see_end(int peer, bool in_coroutine)
{
	struct pollfd ready = {.fd = peer, .events = POLLIN};
	uint64_t deadline = haul_in(20 * HAUL_S);

	while (poll(&ready, 1, 0) >= 0 && !(ready.revents & (POLLHUP | POLLERR))) {
		if (haul_now() >= deadline) {
			s.wrong = "a closed descriptor's file is still open";
			break;
		}
		if (in_coroutine)
			haul_sleep(100 * HAUL_US);
		else
			usleep(100); /* nothing tells a thread of it */
	}
	CHECK(haul_fd_close(peer) == 0); /* one may call it by mistake */
}

/* Puts another descriptor, most likely of the same number, in the place of one. */
static __attribute__((noinline)) void replace(
	struct hauli_random *random, int peers[VICTIMS], unsigned at, bool in_coroutine)
{
	int fds[2], old = atomic_exchange(&s.victims[at], -1);

	if (old < 0)
		return;
	if (hauli_random_below(random, 2) && in_coroutine)
		haul_yield();
	CHECK(haul_fd_close(old) == 0);
	CHECK(make_pair(fds, random) == 0);
	see_end(peers[at], in_coroutine);
	peers[at] = fds[1];
	s.victims[at] = fds[0];
	if (in_coroutine)
		haul_sleep(hauli_random_below(random, 100 * HAUL_US));
}

/* Each closer has a victim of its own; so the thread has one. */
static int peers[VICTIMS];

static void *close_some(void *arg)
{
	unsigned at = (unsigned)(uintptr_t)arg;
	struct hauli_random random;

	hauli_random_init(&random, s.seed + at);
	for (int i = 0; i < CLOSES; i++)
		replace(&random, peers, at, haul_self() != NULL);
	return NULL;
}

static void *close_the_rest(void *arg)
{
	for (int i = 0; i < VICTIMS; i++) {
		CHECK(haul_fd_close(s.victims[i]) == 0);
		see_end(peers[i], true);
	}
	return NULL;
}

START_TEST(each_close_ends_all_calls)
{
	uint64_t deadline = stress_deadline();
	struct haul_coro *waiters[WAITERS], *closers[VICTIMS];
	FILE *null = fopen("/dev/null", "w");
	struct hauli_random random;
	unsigned before = fds_open();

	s.seed = stress_seed();
	fds_cut = 0;
	s.ebadf = 0;
	s.wrong = NULL;
	do {
		pthread_t thread;

		s.seed++;
		hauli_random_init(&random, s.seed);
		s.rt = fds_start(_i);
		s.over = 0;
		for (int i = 0; i < VICTIMS; i++) {
			int fds[2];

			ck_assert_int_eq(make_pair(fds, &random), 0);
			s.victims[i] = fds[0];
			peers[i] = fds[1];
		}
		for (uintptr_t i = 0; i < WAITERS; i++)
			ck_assert_int_eq(haul_spawn_on(haul_carrier(s.rt, i % FDS_CARRIERS),
						 &waiters[i], wait_for_victims, (void *)i, NULL),
				0);
		for (uintptr_t i = 1; i < VICTIMS; i++)
			ck_assert_int_eq(haul_spawn_on(haul_carrier(s.rt, i % FDS_CARRIERS),
						 &closers[i], close_some, (void *)i, NULL),
				0);
		ck_assert_int_eq(pthread_create(&thread, NULL, close_some, NULL), 0);
		haul_dump(s.rt, null);
		for (unsigned i = 0; i < WAITERS / 4; i++)
			haul_cancel(waiters[i]);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
		for (unsigned i = 1; i < VICTIMS; i++)
			ck_assert_int_eq(haul_join(closers[i], NULL, HAUL_FOREVER), 0);
		s.over = 1;
		run_on(s.rt, 0, close_the_rest, NULL);
		for (unsigned i = 0; i < WAITERS; i++)
			ck_assert_int_eq(haul_join(waiters[i], NULL, HAUL_FOREVER), 0);
		runtime_stop(s.rt);
		ck_assert_msg(!s.wrong, "%s", s.wrong);
		fds_check(before);
	} while (fds_go_on(deadline));
	fprintf(stderr, "calls that were cut: %llu, by a close: %u\n", fds_cut, s.ebadf);
	fclose(null);
}
END_TEST

/* Each is greeted and sees the end; or nobody is. */
static void *serve(void *arg)
{
	for (;;) {
		int fd = haul_fd_accept(s.listening, NULL, NULL, SOCK_CLOEXEC, HAUL_FOREVER);
		ssize_t n;

		if (fd == -EBADF || fd == -ECANCELED)
			return NULL;
		CHECK(fd >= 0);
		n = fds_greet(fd);
		CHECK(n == 5 || n == -ECONNRESET || n == -EPIPE || n == -ECANCELED);
		CHECK(haul_fd_close(fd) == 0);
	}
}

static void *visit(void *arg)
{
	struct hauli_random random;

	hauli_random_init(&random, s.seed + (uintptr_t)arg);
	for (int i = 0; i < VISITS; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		bool hurries = hauli_random_below(&random, 2);
		ssize_t n;

		CHECK(fd >= 0);
		n = haul_fd_connect(fd, (struct sockaddr *)&s.address, sizeof(s.address),
			hurries ? fds_deadline(&random) : HAUL_FOREVER);
		fds_count(n);
		CHECK(n == 0 || (hurries && is_cut(n)));
		if (n == 0) {
			n = fds_be_greeted(fd, hurries ? fds_deadline(&random) : HAUL_FOREVER);
			fds_count(n);
			CHECK(n == 5 || (hurries && is_cut(n)));
		}
		CHECK(haul_fd_close(fd) == 0);
	}
	return NULL;
}

START_TEST(connections)
{
	uint64_t deadline = stress_deadline();
	struct haul_coro *servers[FDS_CARRIERS], *visitors[VISITORS];
	unsigned before = fds_open();

	s.seed = stress_seed();
	s.wrong = NULL;
	fds_cut = 0;
	do {
		socklen_t len = sizeof(s.address);

		s.seed++;
		s.rt = fds_start(_i);
		s.address = (struct sockaddr_in){.sin_family = AF_INET};
		s.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		s.listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		ck_assert(bind(s.listening, (struct sockaddr *)&s.address, len) == 0 &&
			listen(s.listening, 16) == 0 &&
			getsockname(s.listening, (struct sockaddr *)&s.address, &len) == 0);
		for (unsigned i = 0; i < FDS_CARRIERS; i++)
			ck_assert_int_eq(haul_spawn_on(haul_carrier(s.rt, i), &servers[i], serve,
						 NULL, NULL),
				0);
		for (uintptr_t i = 0; i < VISITORS; i++)
			ck_assert_int_eq(haul_spawn_on(haul_carrier(s.rt, i % FDS_CARRIERS),
						 &visitors[i], visit, (void *)i, NULL),
				0);
		for (unsigned i = 0; i < VISITORS; i++)
			ck_assert_int_eq(haul_join(visitors[i], NULL, HAUL_FOREVER), 0);
		ck_assert_int_eq(haul_fd_close(s.listening), 0);
		for (unsigned i = 0; i < FDS_CARRIERS; i++)
			ck_assert_int_eq(haul_join(servers[i], NULL, HAUL_FOREVER), 0);
		runtime_stop(s.rt);
		ck_assert_msg(!s.wrong, "%s", s.wrong);
		fds_check(before);
	} while (fds_go_on(deadline));
}
END_TEST

SUITE_MAIN("fds_close", {each_close_ends_all_calls, FDS_MODES}, {connections, FDS_MODES})
