/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coroutines of all carriers accept connections, by haul_fd_accept() and in a select, while the
 * listening sockets are closed and replaced; others connect to them, and to one that answers
 * nobody, with deadlines, and are cancelled from other carriers and from a plain thread. With
 * io_uring and with epoll. Each result is a documented one; each wait ends; no descriptor and no
 * coroutine is left.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/suite.h"

#include "fds.h"

#define PLACES 2
#define SERVERS 12
#define VISITORS 24
#define VISITS 10
#define STUCK 12
#define REPLACED 20 /* times, at each place */

static struct {
	struct haul_runtime *rt;
	uint64_t seed;
	_Atomic int listening[PLACES];
	_Atomic uint16_t port[PLACES];
	int silent; /* listens, and its queue is full */
	uint16_t silent_port;
	struct haul_event over;
	atomic_bool ends;
	atomic_uint served, closed, cancelled, refused;
	const char *_Atomic wrong;
} s;

#define CHECK(condition)                      \
	do {                                  \
		if (!(condition))             \
			s.wrong = #condition; \
	} while (0)

static bool is_cut(ssize_t n)
{
	return n == -EAGAIN || n == -ETIMEDOUT || n == -ECANCELED;
}

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = port};
}

static int listen_anywhere(int backlog, uint16_t *port)
{
	struct sockaddr_in addr = loopback(0);
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(bind(fd, (struct sockaddr *)&addr, len) == 0 && listen(fd, backlog) == 0 &&
		getsockname(fd, (struct sockaddr *)&addr, &len) == 0);
	*port = addr.sin_port;
	return fd;
}

/* For TSan a call on a number while another thread reuses it is a race: it is what is tested. A
 * late accept polls a number that any of these functions opens or closes meanwhile, and its carrier
 * arms that poll again when the other direction's event has come. */
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
	return "race:accept_one\nrace:replace\nrace:open_one\nrace:close_one";
}

static __attribute__((noinline)) int open_one(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static __attribute__((noinline)) int close_one(int fd)
{
	return haul_fd_close(fd);
}

/* 0 or above: a connection. */
static __attribute__((noinline)) int accept_one(struct hauli_random *random, int listening)
{
	struct haul_case cases[] = {
		haul_case_event(&s.over), haul_case_fd_accept(listening, SOCK_CLOEXEC)};
	int i;

	if (hauli_random_below(random, 2))
		return haul_fd_accept(listening, NULL, NULL, SOCK_CLOEXEC, HAUL_FOREVER);
	i = haul_select(cases, 2, HAUL_FOREVER);
	if (i == 0)
		return -EBADF;
	return i == 1 ? cases[1].err : i;
}

static void *serve(void *arg)
{
	struct hauli_random random;

	hauli_random_init(&random, s.seed + 1000 + (uintptr_t)arg);
	while (!s.ends) {
		unsigned place = hauli_random_below(&random, PLACES);
		int fd = accept_one(&random, s.listening[place]);
		ssize_t n;

		if (fd < 0) {
			/* A late one may find that the number is another descriptor's. */
			CHECK(fd == -EBADF || fd == -EINVAL || fd == -ENOTSOCK || fd == -ECANCELED);
			s.closed += fd == -EBADF;
			haul_yield();
			continue;
		}
		n = fds_greet(fd);
		CHECK(n == 5 || n == -ECONNRESET || n == -EPIPE);
		s.served++;
		CHECK(close_one(fd) == 0);
	}
	return NULL;
}

static __attribute__((noinline)) void replace(unsigned place)
{
	uint16_t port;
	int fd = listen_anywhere(4, &port), old = s.listening[place];

	s.listening[place] = fd;
	s.port[place] = port;
	CHECK(haul_fd_close(old) == 0);
}

static void *replace_some(void *arg)
{
	unsigned place = (unsigned)(uintptr_t)arg;
	struct hauli_random random;

	hauli_random_init(&random, s.seed + place);
	for (int i = 0; i < REPLACED; i++) {
		haul_sleep(hauli_random_below(&random, 300 * HAUL_US));
		replace(place);
	}
	return NULL;
}

static void *visit(void *arg)
{
	struct hauli_random random;

	hauli_random_init(&random, s.seed + 2000 + (uintptr_t)arg);
	for (int i = 0; i < VISITS && !haul_cancelled(); i++) {
		bool silent = hauli_random_below(&random, 4) == 0;
		struct sockaddr_in to = loopback(
			silent ? s.silent_port : s.port[hauli_random_below(&random, PLACES)]);
		int fd = open_one();
		ssize_t n = haul_fd_connect(
			fd, (struct sockaddr *)&to, sizeof(to), fds_deadline(&random));

		fds_count(n);
		CHECK(n == 0 || is_cut(n) || n == -ECONNREFUSED || n == -ECONNRESET);
		s.refused += n == -ECONNREFUSED || n == -ECONNRESET;
		if (n == 0 && !silent) {
			n = fds_be_greeted(fd, fds_deadline(&random));
			fds_count(n);
			CHECK(n == 5 || n == 0 || is_cut(n) || n == -ECONNRESET);
		}
		CHECK(close_one(fd) == 0);
	}
	return NULL;
}

/* Only a cancel ends it. */
static void *connect_in_vain(void *arg)
{
	struct sockaddr_in to = loopback(s.silent_port);
	int fd = open_one();
	int err = haul_fd_connect(fd, (struct sockaddr *)&to, sizeof(to), HAUL_FOREVER);

	fds_count(err);
	CHECK(err == -ECANCELED);
	s.cancelled++;
	CHECK(close_one(fd) == 0);
	return NULL;
}

static void *cancel_some(void *arg)
{
	struct haul_coro **co = arg;
	struct hauli_random random;

	hauli_random_init(&random, s.seed + 3000);
	for (unsigned i = 0; i < STUCK; i += 2) {
		haul_sleep(hauli_random_below(&random, 500 * HAUL_US));
		haul_cancel(co[i]);
	}
	return NULL;
}

/* Two connections that nobody accepts fill the queue. */
static void open_all(int fill[2])
{
	struct sockaddr_in to;

	for (unsigned i = 0; i < PLACES; i++) {
		uint16_t port;

		s.listening[i] = listen_anywhere(4, &port);
		s.port[i] = port;
	}
	s.silent = listen_anywhere(1, &s.silent_port);
	to = loopback(s.silent_port);
	for (unsigned i = 0; i < 2; i++) {
		fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		ck_assert_int_eq(connect(fill[i], (struct sockaddr *)&to, sizeof(to)), 0);
	}
}

static void spawn(unsigned carrier, struct haul_coro **co, haul_fn *fn, void *arg)
{
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(s.rt, carrier % FDS_CARRIERS), co, fn, arg, NULL), 0);
}

static void join(struct haul_coro *co)
{
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
}

static void run_round(int mode)
{
	struct haul_coro *servers[SERVERS], *visitors[VISITORS], *stuck[STUCK], *closers[PLACES];
	int fill[2];

	s.rt = fds_start(mode);
	s.ends = false;
	haul_event_reset(&s.over);
	open_all(fill);
	for (uintptr_t i = 0; i < SERVERS; i++)
		spawn((unsigned)i, &servers[i], serve, (void *)i);
	for (uintptr_t i = 0; i < VISITORS; i++)
		spawn((unsigned)i, &visitors[i], visit, (void *)i);
	for (unsigned i = 0; i < STUCK; i++)
		spawn(i, &stuck[i], connect_in_vain, NULL);
	for (uintptr_t i = 0; i < PLACES; i++)
		spawn((unsigned)i, &closers[i], replace_some, (void *)i);
	run_on(s.rt, 1, cancel_some, stuck);
	for (unsigned i = 1; i < STUCK; i += 2)
		haul_cancel(stuck[i]); /* by a plain thread */
	for (unsigned i = 0; i < VISITORS; i += 5)
		haul_cancel(visitors[i]);
	for (unsigned i = 0; i < PLACES; i++)
		join(closers[i]);
	for (unsigned i = 0; i < STUCK; i++)
		join(stuck[i]);
	for (unsigned i = 0; i < VISITORS; i++)
		join(visitors[i]);
	s.ends = true;
	haul_event_set(&s.over);
	for (unsigned i = 0; i < PLACES; i++)
		ck_assert_int_eq(haul_fd_close(s.listening[i]), 0);
	for (unsigned i = 0; i < SERVERS; i++)
		join(servers[i]);
	close(s.silent);
	close(fill[0]);
	close(fill[1]);
	runtime_stop(s.rt);
}

START_TEST(closes_and_cancels_end_accepts_and_connects)
{
	uint64_t deadline = stress_deadline();
	unsigned before = fds_open();

	s.seed = stress_seed();
	s.wrong = NULL;
	s.served = s.closed = s.cancelled = s.refused = 0;
	fds_cut = 0;
	do {
		s.seed++;
		run_round(_i);
		ck_assert_msg(!s.wrong, "%s", s.wrong);
		fds_check(before);
	} while (fds_go_on(deadline));
	fprintf(stderr,
		"served %u, accepts that were closed %u, connects cancelled %u, refused %u\n",
		s.served, s.closed, s.cancelled, s.refused);
}
END_TEST

SUITE_MAIN("fds_connect", {closes_and_cancels_end_accepts_and_connects, FDS_MODES})
