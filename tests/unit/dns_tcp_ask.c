/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * haul-dns: questions by TCP, to a server on a thread of its own on loopback that does what servers
 * do and should not do; with io_uring and with epoll, without and with stealing.
 */
#include "../../apps/haul-dns/tcp_ask.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fd_bed.h"
#include "support/stress.h"

enum { MOST = 65535, SOON = 30 }; /* SOON: ms */

/* What the server does with a connection. */
struct script {
	size_t question; /* bytes that it expects */
	size_t reply, announced; /* bytes that it sends, and how many it says that they are */
	size_t piece; /* that it sends at once; 0: all */
	size_t reads; /* bytes of the question that it reads before it goes on; 0: all */
	bool silent; /* reads, and never sends */
	bool closes; /* reads, and sends nothing */
	bool resets; /* in place of an end */
};

static struct script script;
static struct haul_addr server;
static uint16_t server_port;
static int listener;
static unsigned descriptors; /* that are open after the first question; 0: not known */
static uint8_t question[MOST];

static uint8_t byte_at(size_t i)
{
	return (uint8_t)(i * 7 + (i >> 8));
}

static size_t read_upto(int fd, size_t n, bool *right)
{
	uint8_t buf[4096];
	size_t done = 0;

	while (done < n) {
		ssize_t got = recv(fd, buf, n - done < sizeof(buf) ? n - done : sizeof(buf), 0);

		if (got <= 0)
			break;
		for (ssize_t i = 0; i < got; i++, done++)
			if (done >= 2 && buf[i] != byte_at(done - 2))
				*right = false;
			else if (done < 2 && buf[i] != (uint8_t)(script.question >> (8 - 8 * done)))
				*right = false;
	}
	return done;
}

static void write_pieces(int fd)
{
	static uint8_t out[2 * MOST];
	size_t n = script.reply + 2, piece = script.piece ? script.piece : n;

	out[0] = (uint8_t)(script.announced >> 8);
	out[1] = (uint8_t)script.announced;
	for (size_t i = 0; i < script.reply; i++)
		out[2 + i] = byte_at(i);
	for (size_t done = 0; done < n;) {
		ssize_t sent =
			send(fd, out + done, n - done < piece ? n - done : piece, MSG_NOSIGNAL);

		if (sent <= 0)
			break;
		done += (size_t)sent;
		sched_yield();
	}
}

static void *serve(void *arg)
{
	int fd = accept(listener, NULL, NULL), on = 1;
	bool *right = arg;
	char rest;

	if (fd < 0)
		abort();
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	*right = true;
	if (script.reads)
		read_upto(fd, script.reads, right);
	else
		*right &= read_upto(fd, 2 + script.question, right) == 2 + script.question;
	if (script.silent)
		(void)!recv(fd, &rest, 1, 0); /* until the client gives up */
	else if (!script.closes)
		write_pieces(fd);
	if (script.resets)
		setsockopt(
			fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger));
	close(fd);
	return NULL;
}

static void listen_on(const char *address)
{
	struct sockaddr_storage ss = {0};
	struct sockaddr_in *four = (struct sockaddr_in *)&ss;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&ss;
	socklen_t length;

	ck_assert_int_eq(haul_addr_parse(&server, address), 0);
	if (server.version == 4) {
		four->sin_family = AF_INET;
		memcpy(&four->sin_addr, server.bytes, 4);
		length = sizeof(*four);
	} else {
		six->sin6_family = AF_INET6;
		memcpy(&six->sin6_addr, server.bytes, 16);
		length = sizeof(*six);
	}
	listener = socket(ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(listener, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&ss, length), 0);
	ck_assert_int_eq(listen(listener, 10), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&ss, &length), 0);
	server_port = ntohs(server.version == 4 ? four->sin_port : six->sin6_port);
}

/* What is asked, and what came of it. */
struct asking {
	size_t len, room;
	uint64_t within; /* ns */
	int rc;
	bool is_right; /* the bytes of the reply, and those behind it */
};

static void *ask(void *arg)
{
	struct asking *a = arg;
	uint8_t *copy = malloc(a->len + 1), *reply = malloc(a->room + 1);
	uint64_t deadline =
		a->within == HAUL_FOREVER || a->within == 0 ? a->within : haul_in(a->within);

	memcpy(copy, question, a->len);
	memset(reply, 0xee, a->room + 1);
	a->rc = dns_tcp_ask(&server, server_port, copy, a->len, reply, a->room, deadline);
	a->is_right = reply[a->room] == 0xee;
	for (int i = 0; i < a->rc; i++)
		a->is_right &= reply[i] == byte_at((size_t)i);
	free(copy);
	free(reply);
	return NULL;
}

/* One question to the server with its script; returns the result of the call. */
static int run_script(struct script s, size_t room, uint64_t within)
{
	struct asking a = {s.question, room, within, 0, false};
	bool right = false;
	pthread_t thread;

	script = s;
	ck_assert_int_eq(pthread_create(&thread, NULL, serve, &right), 0);
	run_on(rt, 0, ask, &a);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_msg(right, "the question has arrived");
	ck_assert_msg(a.is_right, "the bytes of the reply");
	/* The first one opens what the carrier waits by. While all carriers sleep, the library
	 * reads a file of /proc now and then. */
	for (unsigned i = 0, n; i < 20; i++) {
		n = open_descriptors();
		if (i == 0 ? descriptors == 0 : n < descriptors)
			descriptors = n;
	}
	WAIT_UNTIL(open_descriptors() == descriptors);
	return a.rc;
}

static void begin(int mode, const char *address)
{
	for (size_t i = 0; i < MOST; i++)
		question[i] = byte_at(i);
	descriptors = 0;
	start(mode);
	listen_on(address);
}

static void end(void)
{
	close(listener);
	stop();
}

START_TEST(questions_and_replies_of_all_lengths)
{
	static const size_t lengths[] = {0, 1, 2, 12, 511, 512, 513, 1460, 4096, 65534, MOST};
	const unsigned n = sizeof(lengths) / sizeof(lengths[0]);

	begin(_i, _i & 1 ? "::1" : "127.0.0.1");
	for (unsigned i = 0; i < n; i++) {
		struct script s = {.question = lengths[n - 1 - i],
			.reply = lengths[i],
			.announced = lengths[i]};

		ck_assert_int_eq(run_script(s, MOST, HAUL_FOREVER), (int)lengths[i]);
		ck_assert_int_eq(run_script(s, lengths[i], 60 * HAUL_S), (int)lengths[i]);
	}
	end();
}
END_TEST

START_TEST(short_reads_make_no_difference)
{
	struct hauli_random random;

	hauli_random_init(&random, stress_seed());
	begin(_i, "127.0.0.1");
	for (int i = 0; i < 20; i++) {
		size_t n = 1 + hauli_random_below(&random, 600);
		struct script s = {.question = hauli_random_below(&random, 2000),
			.reply = n,
			.announced = n,
			.piece = 1 + hauli_random_below(&random, 7)};

		ck_assert_int_eq(run_script(s, MOST, HAUL_FOREVER), (int)n);
	}
	end();
}
END_TEST

START_TEST(what_comes_after_the_message_is_not_read)
{
	struct script more = {.question = 30, .reply = 5000, .announced = 100};

	begin(_i, "127.0.0.1");
	ck_assert_int_eq(run_script(more, 100, HAUL_FOREVER), 100);
	more.reply = MOST;
	ck_assert_int_eq(run_script(more, MOST, HAUL_FOREVER), 100);
	end();
}
END_TEST

START_TEST(a_longer_message_than_room_is_an_error)
{
	begin(_i, "127.0.0.1");
	ck_assert_int_eq(run_script((struct script){.question = 30, .reply = 101, .announced = 101},
				 100, HAUL_FOREVER),
		-EMSGSIZE);
	ck_assert_int_eq(
		run_script((struct script){.question = 30, .reply = MOST, .announced = MOST}, 0,
			HAUL_FOREVER),
		-EMSGSIZE);
	end();
}
END_TEST

START_TEST(a_server_closes_early)
{
	begin(_i, "127.0.0.1");
	/* at once; after half a question; in the middle of the length, and of the message */
	ck_assert_int_eq(
		run_script((struct script){.question = 30, .closes = true}, MOST, HAUL_FOREVER),
		-ECONNRESET);
	ck_assert_int_eq(
		run_script(
			(struct script){
				.question = MOST, .reads = 5, .closes = true, .resets = true},
			MOST, HAUL_FOREVER),
		-ECONNRESET);
	ck_assert_int_eq(run_script((struct script){.question = 30, .reply = 99, .announced = 100},
				 MOST, HAUL_FOREVER),
		-ECONNRESET);
	ck_assert_int_eq(
		run_script((struct script){.question = 30, .announced = MOST}, MOST, HAUL_FOREVER),
		-ECONNRESET);
	end();
}
END_TEST

START_TEST(a_server_never_answers)
{
	uint64_t began = haul_now();

	begin(_i, "127.0.0.1");
	ck_assert_int_eq(
		run_script((struct script){.question = 30, .silent = true}, MOST, SOON * HAUL_MS),
		-ETIMEDOUT);
	ck_assert_uint_ge(haul_now() - began, SOON * HAUL_MS);
	end();
}
END_TEST

/* Nobody accepts, so a question that is longer than all buffers is never sent. */
START_TEST(a_server_never_reads)
{
	struct asking a = {MOST, MOST, SOON * HAUL_MS, 0, false};

	begin(_i, "127.0.0.1");
	setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &(int){2048}, sizeof(int));
	run_on(rt, 0, ask, &a);
	ck_assert_int_eq(a.rc, -ETIMEDOUT);
	end();
}
END_TEST

START_TEST(without_a_wait_nothing_is_done)
{
	struct asking a = {30, MOST, 0, 0, false};

	begin(_i, "127.0.0.1");
	run_on(rt, 0, ask, &a);
	ck_assert_int_eq(a.rc, -EAGAIN);
	end();
}
END_TEST

START_TEST(nobody_listens)
{
	struct asking a = {30, MOST, HAUL_FOREVER, 0, false};

	begin(_i, _i & 1 ? "::1" : "127.0.0.1");
	close(listener);
	run_on(rt, 0, ask, &a);
	ck_assert_int_eq(a.rc, -ECONNREFUSED);
	stop();
}
END_TEST

START_TEST(what_cannot_be_asked)
{
	static uint8_t long_question[MOST + 1];
	struct haul_addr none = {0};
	struct haul_addr local = haul_addr_from(4, (uint8_t[]){127, 0, 0, 1});
	uint8_t reply[4];

	ck_assert_int_eq(
		dns_tcp_ask(&none, 53, long_question, 30, reply, sizeof(reply), 0), -EINVAL);
	ck_assert_int_eq(dns_tcp_ask(&local, 53, long_question, sizeof(long_question), reply,
				 sizeof(reply), 0),
		-EINVAL);
}
END_TEST

/* Takes what the kernel has accepted. */
static void drop_connections(void)
{
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		close(fd);
}

/* Cancelled at some time, mostly while it waits for the reply. */
START_TEST(a_cancel_ends_it)
{
	struct hauli_random random;

	hauli_random_init(&random, stress_seed());
	begin(_i, "127.0.0.1");
	fcntl(listener, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 20; i++) {
		struct asking a = {30, MOST, HAUL_FOREVER, 0, false};
		struct haul_coro *co;

		ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, ask, &a, NULL), 0);
		usleep((useconds_t)(hauli_random_below(&random, 2000))); /* then the cancel comes */
		haul_cancel(co);
		ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
		ck_assert_int_eq(a.rc, -ECANCELED);
		drop_connections();
	}
	end();
}
END_TEST

/* The queue of connections is full, so the kernel answers no more. */
START_TEST(a_connection_takes_too_long)
{
	struct asking a = {30, MOST, SOON * HAUL_MS, 0, false};
	unsigned before;

	begin(_i, "127.0.0.1");
	listen(listener, 0);
	do
		run_on(rt, 0, ask, &a);
	while (a.rc == 0);
	before = open_descriptors();
	a.within = 2 * SOON * HAUL_MS;
	run_on(rt, 0, ask, &a);
	ck_assert_int_eq(a.rc, -ETIMEDOUT);
	ck_assert_uint_eq(open_descriptors(), before);
	end();
}
END_TEST

SUITE_MAIN("dns_tcp_ask", {questions_and_replies_of_all_lengths, MODES},
	{short_reads_make_no_difference, MODES}, {what_comes_after_the_message_is_not_read, MODES},
	{a_longer_message_than_room_is_an_error, MODES}, {a_server_closes_early, MODES},
	{a_server_never_answers, MODES}, {a_server_never_reads, MODES},
	{without_a_wait_nothing_is_done, MODES}, {nobody_listens, MODES}, {what_cannot_be_asked},
	{a_cancel_ends_it, MODES}, {a_connection_takes_too_long, MODES})
