/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dns: clients over TCP, good ones and others, with io_uring and with epoll, without and with
 * stealing. */
#include <pthread.h>

#include "dns_tcp_bed.h"

START_TEST(messages_of_all_lengths)
{
	static const size_t lengths[] = {12, 13, 255, 256, 512, 1460, 4096, 65534, MOST};
	int fd;

	begin(_i, (struct dns_tcp_opts){0});
	fd = connect_here();
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		if (lengths[i] <= DNS_TCP_QUERY_MAX) {
			ck_assert(ask(fd, i, ECHO, 0, lengths[i]));
			expect_answer(fd, i, lengths[i]);
		}
		ck_assert(ask(fd, i, BIG, (uint32_t)lengths[i], 12));
		expect_answer(fd, i, lengths[i]);
	}
	/* a byte at a time */
	for (unsigned i = 0; i < 3; i++) {
		uint8_t msg[40];
		size_t n = make(msg, i, ECHO, 0, 38);

		for (size_t k = 0; k < n; k++) {
			ck_assert_int_eq(send(fd, msg + k, 1, 0), 1);
			sched_yield();
		}
		expect_answer(fd, i, 38);
	}
	ck_assert_uint_eq(stats().queries, 19);
	WAIT_UNTIL(stats().answers == 19);
	close(fd);
	end();
}
END_TEST

/* Queries that wait for servers need a carrier that has queues. */
START_TEST(carriers_that_serve)
{
	for (unsigned carriers = 0; carriers < 3; carriers++) {
		begin(_i, (struct dns_tcp_opts){.carriers = carriers});
		for (unsigned i = 0; i < 10; i++)
			expect_service(INADDR_LOOPBACK);
		ck_assert_uint_eq(hauli_u64_shared_get(&homes[0]), carriers == 1 ? 10 : 5);
		end();
	}
}
END_TEST

START_TEST(a_slow_answer_keeps_back_no_other)
{
	enum { N = 200 };
	bool seen[N] = {false};
	int fd;

	begin(_i, (struct dns_tcp_opts){0});
	fd = connect_here();
	for (unsigned i = 0; i < N; i++)
		ck_assert(ask(fd, i, i == 0 ? HELD : i % 7 == 0 ? SILENT : ECHO, 0, 20 + i));
	for (unsigned i = 0, id; i < N - 1 - N / 7; i++) {
		ssize_t n = take(fd, &id);

		ck_assert_uint_lt(id, N);
		ck_assert_int_eq(n, 20 + id);
		ck_assert(!seen[id] && id % 7 != 0);
		seen[id] = true;
	}
	haul_event_set(&gate);
	expect_answer(fd, 0, 20);
	close(fd);
	end();
}
END_TEST

START_TEST(queries_over_the_limit_wait)
{
	int fd;

	begin(_i, (struct dns_tcp_opts){.queries_max = 3, .idle_ns = 30 * HAUL_S});
	fd = connect_here();
	for (unsigned i = 0; i < 20; i++)
		ck_assert(ask(fd, i, i < 3 ? HELD : SLOW, 1, 20));
	WAIT_UNTIL(hauli_u64_shared_get(&answering) == 3);
	expect_service(INADDR_LOOPBACK);
	haul_event_set(&gate);
	for (unsigned i = 0, id; i < 20; i++)
		ck_assert_int_eq(take(fd, &id), 20);
	ck_assert_uint_le(hauli_u64_shared_get(&answering_most), 4); /* with the other client's */
	close(fd);
	end();
}
END_TEST

/* Whole queries keep a connection alive; time for one of them ends it, whatever comes. */
START_TEST(slow_clients_are_thrown_out)
{
	uint8_t msg[40];
	uint64_t began;
	int fd[3];
	size_t n;

	begin(_i, (struct dns_tcp_opts){.idle_ns = IDLE * HAUL_MS});
	for (int i = 0; i < 3; i++)
		fd[i] = connect_here();
	began = haul_now();
	n = make(msg, 1, ECHO, 0, 38);
	for (size_t k = 0; k < n - 1; k++) {
		if (send(fd[1], msg + k, 1, MSG_NOSIGNAL) != 1)
			break;
		ck_assert(ask(fd[2], 2, ECHO, 0, 30));
		expect_answer(fd[2], 2, 30);
		usleep(IDLE * 1000 / 20); /* the client's slowness: 600 ms for all */
	}
	ck_assert(has_ended(fd[0])); /* sent nothing */
	ck_assert(has_ended(fd[1])); /* sent a part */
	ck_assert_uint_ge(haul_now() - began, IDLE * HAUL_MS);
	ck_assert(has_ended(fd[2]));
	for (int i = 0; i < 3; i++)
		close(fd[i]);
	WAIT_UNTIL(stats().timeouts == 3);
	end();
}
END_TEST

START_TEST(answers_that_are_not_taken)
{
	enum { N = 5 };
	int fd[N];

	begin(_i, (struct dns_tcp_opts){.idle_ns = IDLE * HAUL_MS, .queries_max = 4});
	for (int i = 0; i < N; i++) {
		fd[i] = connect_here();
		setsockopt(fd[i], SOL_SOCKET, SO_RCVBUF, &(int){4096}, sizeof(int));
		/* until the kernel has no more room, or the connection ends */
		setsockopt(fd[i], SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){0, 20000},
			sizeof(struct timeval));
		for (unsigned k = 0; k < 1000; k++)
			if (!ask(fd[i], k, BIG, MOST, 1000))
				break;
	}
	expect_service(INADDR_LOOPBACK);
	WAIT_UNTIL(stats().timeouts >= N);
	expect_service(INADDR_LOOPBACK);
	for (int i = 0; i < N; i++)
		close(fd[i]);
	end();
}
END_TEST

START_TEST(a_client_that_sends_no_more_gets_all_answers)
{
	int fd;

	begin(_i, (struct dns_tcp_opts){0});
	fd = connect_here();
	for (unsigned i = 0; i < 10; i++)
		ck_assert(ask(fd, i, SLOW, 30, 20 + i));
	ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	for (unsigned i = 0, id; i < 10; i++)
		ck_assert_int_eq(take(fd, &id), 20 + id);
	ck_assert(has_ended(fd));
	close(fd);
	end();
}
END_TEST

START_TEST(garbage)
{
	struct hauli_random random;
	int fd;

	hauli_random_init(&random, stress_seed());
	begin(_i, (struct dns_tcp_opts){.idle_ns = IDLE * HAUL_MS});
	for (unsigned n = 0; n < DNS_HEADER; n++) {
		fd = connect_here();
		ck_assert(ask(fd, 1, ECHO, 0, 12));
		ck_assert(ask(fd, 1, ECHO, 0, n));
		expect_answer(fd, 1, 12);
		ck_assert(has_ended(fd));
		close(fd);
	}
	WAIT_UNTIL(stats().malformed == DNS_HEADER);
	/* A long one is not waited for. */
	for (unsigned i = 0; i < 2; i++) {
		const uint8_t prefix[][2] = {{0xff, 0xff}, {DNS_TCP_QUERY_MAX >> 8, 1}};

		fd = connect_here();
		ck_assert(ask(fd, 1, ECHO, 0, 12));
		ck_assert(send_all(fd, prefix[i], 2));
		expect_answer(fd, 1, 12);
		ck_assert(has_ended(fd));
		close(fd);
	}
	WAIT_UNTIL(stats().malformed == DNS_HEADER + 2);
	for (int i = 0; i < 50; i++) {
		uint8_t bytes[3000];
		uint32_t n = hauli_random_below(&random, sizeof(bytes));

		for (uint32_t k = 0; k < n; k++)
			bytes[k] = (uint8_t)hauli_random_next(&random);
		/* no answer of the test's that waits or grows */
		for (uint32_t k = 2; k + 4 < n; k++)
			bytes[k] = 0;
		fd = connect_here();
		send_all(fd, bytes, n);
		if (hauli_random_below(&random, 2))
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0},
				sizeof(struct linger));
		close(fd);
	}
	expect_service(INADDR_LOOPBACK);
	end();
}
END_TEST

START_TEST(a_client_has_a_limit)
{
	int fd[5];

	begin(_i, (struct dns_tcp_opts){.per_client_max = 3});
	for (int i = 0; i < 5; i++)
		fd[i] = connect_here();
	for (int i = 0; i < 3; i++) {
		ck_assert(ask(fd[i], 9, ECHO, 0, 20));
		expect_answer(fd[i], 9, 20);
	}
	ck_assert(has_ended(fd[3]));
	ck_assert(has_ended(fd[4]));
	WAIT_UNTIL(stats().refused == 2);
	expect_service(INADDR_LOOPBACK + 1);
	close(fd[0]);
	WAIT_UNTIL((expect_service(INADDR_LOOPBACK + 1), has_ended(fd[3])));
	for (int i = 1; i < 5; i++)
		close(fd[i]);
	end();
}
END_TEST

/* Counts as one the addresses of an IPv6 network of 64 bits: there is one on loopback only. */
START_TEST(clients_over_ipv6)
{
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	haul_event_reset(&gate);
	start(_i);
	serve_at("[::1]:0", NULL);
	to.sin6_port = htons(dns_tcp_port(tcp));
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	ck_assert(ask(fd, 3, ECHO, 0, 20));
	expect_answer(fd, 3, 20);
	close(fd);
	end();
}
END_TEST

/* The client that has waited longest for a query makes room. */
START_TEST(connections_over_the_limit)
{
	int first, second, third;

	begin(_i, (struct dns_tcp_opts){.connections_max = 2});
	first = connect_here();
	ck_assert(ask(first, 1, ECHO, 0, 20));
	expect_answer(first, 1, 20);
	second = connect_here();
	ck_assert(ask(second, 1, ECHO, 0, 20));
	expect_answer(second, 1, 20);
	WAIT_UNTIL(stats().answers == 2); /* now both wait for queries */
	ck_assert(ask(first, 2, ECHO, 0, 20));
	expect_answer(first, 2, 20);
	WAIT_UNTIL(stats().answers == 3);
	third = connect_here();
	ck_assert(ask(third, 3, HELD, 0, 20));
	ck_assert(has_ended(second));
	WAIT_UNTIL(stats().evicted == 1);
	ck_assert(ask(first, 4, HELD, 0, 20));
	WAIT_UNTIL(hauli_u64_shared_get(&answering) == 2);
	/* now all are busy */
	close(second);
	second = connect_here();
	ck_assert(has_ended(second));
	WAIT_UNTIL(stats().refused == 1);
	haul_event_set(&gate);
	expect_answer(first, 4, 20);
	expect_answer(third, 3, 20);
	close(first);
	close(second);
	close(third);
	expect_service(INADDR_LOOPBACK);
	end();
}
END_TEST

/* Ten thousand more than there may be, which ask for nothing: a new client is always served. */
START_TEST(a_flood_of_connections)
{
	enum { AT_ONCE = 200, ALL = 10000, MAX = 64 };
	int fds[AT_ONCE];

	begin(_i, (struct dns_tcp_opts){.connections_max = MAX, .per_client_max = 2 * MAX});
	for (unsigned i = 0; i < ALL; i++) {
		if (i >= AT_ONCE)
			close(fds[i % AT_ONCE]);
		fds[i % AT_ONCE] = connect_here();
		if (i % 500 == 0) {
			expect_service(INADDR_LOOPBACK + 1);
			ASSERT_EACH(open_descriptors() < AT_ONCE + MAX + 50);
		}
	}
	expect_service(INADDR_LOOPBACK + 1);
	for (unsigned i = 0; i < AT_ONCE; i++)
		close(fds[i]);
	ck_assert_uint_ge(stats().connections, 20);
	ck_assert_uint_ge(stats().evicted, 20);
	end();
}
END_TEST

/* Queries under way are answered, idle connections are not waited for. */
START_TEST(a_stop_waits_for_answers)
{
	uint64_t began;
	int fd, idle;

	begin(_i, (struct dns_tcp_opts){.idle_ns = 60 * HAUL_S, .stop_ns = 30 * HAUL_S});
	fd = connect_here();
	idle = connect_here();
	ck_assert(ask(fd, 5, SLOW, 100, 20));
	WAIT_UNTIL(hauli_u64_shared_get(&answering) == 1);
	began = haul_now();
	end();
	ck_assert_uint_lt(haul_now() - began, 20 * HAUL_S);
	expect_answer(fd, 5, 20);
	ck_assert(has_ended(fd));
	ck_assert(has_ended(idle));
	close(fd);
	close(idle);
	ck_assert_uint_eq(hauli_u64_shared_get(&cancelled), 0);
}
END_TEST

START_TEST(a_stop_does_not_wait_for_ever)
{
	int fd;

	begin(_i, (struct dns_tcp_opts){.idle_ns = 60 * HAUL_S, .stop_ns = 20 * HAUL_MS});
	fd = connect_here();
	for (unsigned i = 0; i < 4; i++)
		ck_assert(ask(fd, i, HELD, 0, 20));
	WAIT_UNTIL(hauli_u64_shared_get(&answering) == 4);
	end();
	ck_assert_uint_eq(hauli_u64_shared_get(&cancelled), 4);
	close(fd);
}
END_TEST

static void *stop_in_a_coroutine(void *arg)
{
	dns_tcp_stop(tcp);
	return NULL;
}

START_TEST(a_coroutine_stops_it)
{
	int fd;

	begin(_i, (struct dns_tcp_opts){0});
	fd = connect_here();
	run_one(stop_in_a_coroutine);
	ck_assert(has_ended(fd));
	close(fd);
	dns_tcp_stop(NULL);
	stop();
}
END_TEST

START_TEST(what_cannot_be_listened_on)
{
	static const char *const wrong[] = {"", ":53", "10.0.0.1:", "10.0.0.1:65536", "10.0.0.1:5x",
		"10.0.0.1:-1", "[::1", "::1]:53", "[10.0.0.1]:53", "[::1]53", "[::1]:", "host:53",
		"1.2.3:53", "[1:2:3:4:5:6:7:8:9]:53", "10.0.0.1:00000000000000000053x"};
	char error[128], taken[64];
	struct dns_tcp *other;

	begin(0, (struct dns_tcp_opts){0});
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		error[0] = '\0';
		ck_assert_int_eq(dns_tcp_start(&other, rt, wrong[i], NULL, answer, &gate, error,
					 sizeof(error)),
			-EINVAL);
		ck_assert_msg(strstr(error, "give an address") != NULL, "%s: %s", wrong[i], error);
	}
	snprintf(taken, sizeof(taken), "127.0.0.1:%u", dns_tcp_port(tcp));
	ck_assert_int_eq(
		dns_tcp_start(&other, rt, taken, NULL, answer, &gate, error, sizeof(error)),
		-EADDRINUSE);
	ck_assert_msg(strstr(error, "another program listens there") != NULL, "%s", error);
	ck_assert_int_eq(
		dns_tcp_start(&other, rt, "192.0.2.1:0", NULL, answer, &gate, error, sizeof(error)),
		-EADDRNOTAVAIL);
	ck_assert_msg(strstr(error, "no interface has this address") != NULL, "%s", error);
	end();
}
END_TEST

static struct dns_tcp_opts rough = {.connections_max = 20,
	.per_client_max = 15,
	.queries_max = 3,
	.idle_ns = 100 * HAUL_MS,
	.stop_ns = 50 * HAUL_MS};
static uint64_t rough_seed, rough_end;

/* Does what clients do and should not do. What it gets is right, and in pieces of whole answers. */
static void *be_a_client(void *arg)
{
	struct hauli_random random;

	hauli_random_init(&random, rough_seed + (uint64_t)(uintptr_t)arg);
	while (haul_now() < rough_end) {
		int fd = connect_from(INADDR_LOOPBACK + hauli_random_below(&random, 3));
		unsigned n = hauli_random_below(&random, 8), id;

		for (unsigned i = 0; i < n; i++)
			ask(fd, i, (enum what)hauli_random_below(&random, HELD),
				200 +
					hauli_random_below(&random, 2) *
						hauli_random_below(&random, 5000),
				DNS_HEADER);
		if (hauli_random_below(&random, 4) == 0)
			send_all(fd, (uint8_t *)"\0\77garbage", hauli_random_below(&random, 10));
		if (hauli_random_below(&random, 4) == 0)
			shutdown(fd, SHUT_WR);
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0, 20000},
			sizeof(struct timeval));
		for (unsigned i = hauli_random_below(&random, 8); i > 0; i--)
			if (recv(fd, &id, 1, MSG_PEEK) != 1 || take(fd, &id) < 0)
				break;
		if (hauli_random_below(&random, 4) == 0)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0},
				sizeof(struct linger));
		close(fd);
	}
	return NULL;
}

START_TEST(random_clients)
{
	enum { N = 6 };
	pthread_t threads[N];

	begin(_i, rough);
	rough_seed = stress_seed();
	rough_end = stress_deadline() - HAUL_S / 2;
	for (uintptr_t i = 0; i < N; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, be_a_client, (void *)i), 0);
	for (unsigned i = 0; i < N; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	WAIT_UNTIL(hauli_u64_shared_get(&answering) == 0);
	expect_service(INADDR_LOOPBACK + 9);
	end();
}
END_TEST

SUITE_MAIN("dns_tcp_serve", {messages_of_all_lengths, MODES}, {carriers_that_serve, MODES},
	{a_slow_answer_keeps_back_no_other, MODES}, {queries_over_the_limit_wait, MODES},
	{slow_clients_are_thrown_out, MODES}, {answers_that_are_not_taken, MODES},
	{a_client_that_sends_no_more_gets_all_answers, MODES}, {garbage, MODES},
	{a_client_has_a_limit, MODES}, {clients_over_ipv6, MODES},
	{connections_over_the_limit, MODES}, {a_flood_of_connections, 2},
	{a_stop_waits_for_answers, MODES}, {a_stop_does_not_wait_for_ever, MODES},
	{a_coroutine_stops_it, MODES}, {what_cannot_be_listened_on}, {random_clients, MODES})
