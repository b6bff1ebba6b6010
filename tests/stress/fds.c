/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coroutines of all carriers send and receive on shared sockets and pipes, select among them,
 * events and channels, and read files and a terminal, with deadlines of up to 2 ms, in scopes that
 * end and behind shields, while others cancel them, carriers steal and dumps are made; with
 * io_uring and with epoll. Each message arrives once, each stream in order; each result is a
 * documented one; no memory is written to after the call that gave it; no descriptor and no
 * coroutine is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/suite.h"

#include "fds.h"

#define MEMBERS 64
#define STEPS 150
#define POSTS 2 /* sockets for messages, on which all send and receive */
#define STREAMS 4
#define FILE_SIZE (256 * 1024)
#define PATTERN 0xa5

static char path[64];

struct member {
	struct haul_coro *co;
	uint64_t seed;
	struct hauli_random random;
	uint64_t sent, received, sum;
	/* Of calls that were cut: nobody writes to it any more. Aligned as O_DIRECT asks. */
	uint8_t buf[4096] __attribute__((aligned(4096)));
};

struct stream {
	int fds[2]; /* read from the first */
	bool is_socket;
	uint8_t written, read; /* the next byte */
	struct haul_coro *ends[2];
};

static struct {
	struct haul_runtime *rt;
	int posts[POSTS][2];
	struct stream streams[STREAMS];
	int terminal[2];
	int files[2]; /* the same file; the second with O_DIRECT, where there is that */
	struct haul_event event;
	struct haul_chan *ch;
	struct member members[MEMBERS];
	atomic_uint over; /* streams: no more bytes */
	const char *_Atomic wrong;
	atomic_uint steps;
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

static void fill(struct member *m)
{
	memset(m->buf, PATTERN, sizeof(m->buf));
}

static bool is_filled(const uint8_t *buf, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (buf[i] != PATTERN)
			return false;
	return true;
}

static void post(struct member *m)
{
	int fd = s.posts[hauli_random_below(&m->random, POSTS)][0];
	uint64_t deadline = fds_deadline(&m->random), value = hauli_random_below(&m->random, 1000);
	struct iovec iov = {&value, sizeof(value)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	switch (hauli_random_below(&m->random, 4)) {
	case 0:
		n = haul_fd_send(fd, &value, sizeof(value), 0, deadline);
		break;
	case 1:
		n = haul_fd_write(fd, &value, sizeof(value), deadline);
		break;
	case 2:
		n = haul_fd_sendmsg(fd, &msg, 0, deadline);
		break;
	default:
		n = haul_fd_writev(fd, &iov, 1, deadline);
		break;
	}
	fds_count(n);
	CHECK(n == sizeof(value) || is_cut(n));
	if (n == sizeof(value)) {
		m->sent++;
		m->sum += value;
	}
}

static void was_received(struct member *m, uint64_t value)
{
	CHECK(value < 1000);
	m->received++;
	m->sum -= value;
}

/* Receives into memory on the stack, which others use afterwards. */
static __attribute__((noinline)) void receive(struct member *m)
{
	int fd = s.posts[hauli_random_below(&m->random, POSTS)][1];
	uint64_t deadline = fds_deadline(&m->random), value;
	struct iovec iov = {&value, sizeof(value)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	memset(&value, PATTERN, sizeof(value));
	switch (hauli_random_below(&m->random, 5)) {
	case 0:
		n = haul_fd_recv(fd, &value, sizeof(value), 0, deadline);
		break;
	case 1:
		n = haul_fd_read(fd, &value, sizeof(value), deadline);
		break;
	case 2:
		n = haul_fd_recvmsg(fd, &msg, 0, deadline);
		break;
	case 3:
		n = haul_fd_readv(fd, &iov, 1, deadline);
		break;
	default:
		n = haul_fd_wait(fd, POLLIN, deadline);
		CHECK(n == POLLIN || is_cut(n));
		fds_count(n);
		return;
	}
	fds_count(n);
	CHECK(n == sizeof(value) || is_cut(n));
	if (n == sizeof(value))
		was_received(m, value);
	else
		CHECK(is_filled((uint8_t *)&value, sizeof(value)));
}

static void select_some(struct member *m)
{
	uint64_t in, value, out = 7;
	struct haul_case cases[] = {
		haul_case_fd_read(s.posts[0][1], &in, sizeof(in)),
		haul_case_fd_read(s.posts[1][1], &in, sizeof(in)),
		haul_case_fd(s.posts[0][0], POLLOUT),
		haul_case_fd(s.posts[1][1], POLLIN),
		haul_case_event(&s.event),
		haul_case_recv(s.ch, &value),
		haul_case_send(s.ch, &out),
	};
	int n;

	for (unsigned i = 0; i < 7; i++)
		if (hauli_random_below(&m->random, 3))
			cases[i] = (struct haul_case){0};
	n = haul_select(cases, 7, fds_deadline(&m->random));
	fds_count(n);
	CHECK(n >= 0 || is_cut(n));
	switch (n) {
	case 0:
	case 1:
		CHECK(cases[n].err == sizeof(in));
		was_received(m, in);
		break;
	case 2:
		CHECK(cases[n].err == POLLOUT);
		break;
	case 3:
		CHECK(cases[n].err == POLLIN);
		break;
	case 4:
		haul_event_reset(&s.event);
		break;
	case 5:
		CHECK(value == 7);
		break;
	default:
		break;
	}
}

/* The file holds at each place the place divided by 512. */
static void read_file(struct member *m)
{
	uint64_t at = hauli_random_below(&m->random, FILE_SIZE / 4096) * 4096;
	int fd = s.files[hauli_random_below(&m->random, 2)];
	ssize_t n;

	if (hauli_random_below(&m->random, 2))
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	fill(m);
	n = haul_fd_pread(fd, m->buf, sizeof(m->buf), (off_t)at, fds_deadline(&m->random));
	fds_count(n);
	CHECK((n > 0 && m->buf[0] == (uint8_t)(at / 512)) || is_cut(n));
	if (n > 0)
		fill(m);
}

/* Nobody types. */
static void read_terminal(struct member *m)
{
	ssize_t n;

	fill(m);
	n = haul_fd_read(s.terminal[1], m->buf, 16, fds_deadline(&m->random));
	fds_count(n);
	CHECK(is_cut(n));
}

static void open_file(struct member *m)
{
	int fd = haul_fd_open(path, hauli_random_below(&m->random, 2) ? O_RDONLY : O_RDWR | O_CREAT,
		0600, fds_deadline(&m->random));

	fds_count(fd);
	CHECK(fd >= 0 || is_cut(fd));
	if (fd >= 0)
		CHECK(haul_fd_close(fd) == 0);
}

static void step(struct member *m)
{
	static void (*const calls[])(struct member * m) = {
		post, post, receive, receive, select_some, read_file, read_terminal, open_file};
	unsigned i = (unsigned)hauli_random_below(&m->random, 8);

	if (i == 7 || i == 6)
		i -= hauli_random_below(&m->random, 4) ? 5 : 0; /* they are slow */
	calls[i](m);
	CHECK(m->buf[0] == m->buf[sizeof(m->buf) - 1] && is_filled(m->buf, sizeof(m->buf)));
	s.steps++;
}

/* A call within a scope or behind a shield. */
static int child(void *arg)
{
	step(arg);
	return 0;
}

static void in_scope(struct member *m)
{
	HAUL_SCOPE(scope, haul_in(hauli_random_below(&m->random, HAUL_MS)), HAUL_SCOPE_ALL);
	bool cancels = hauli_random_below(&m->random, 2);

	if (haul_scope_spawn(&scope, child, m, NULL) != 0)
		return;
	haul_yield();
	if (cancels)
		haul_scope_cancel(&scope);
	(void)haul_scope_join(&scope);
}

static void shielded(struct member *m)
{
	HAUL_SHIELD(haul_in(HAUL_MS));

	step(m);
}

static void *member(void *arg)
{
	struct member *m = arg;

	hauli_random_init(&m->random, m->seed);
	for (int i = 0; i < STEPS; i++) {
		switch (hauli_random_below(&m->random, 10)) {
		case 0:
			in_scope(m);
			break;
		case 1:
			shielded(m);
			break;
		case 2:
			haul_event_set(&s.event);
			/* fallthrough */
		default:
			step(m);
			break;
		}
		if (haul_cancelled())
			break;
	}
	return NULL;
}

/* Writes until it is told to stop, in lots of any length. */
static void *write_stream(void *arg)
{
	struct stream *st = arg;
	struct hauli_random random;
	uint8_t lot[777];

	hauli_random_init(&random, (uint64_t)st->fds[0]);
	while (!s.over) {
		size_t len = hauli_random_below(&random, sizeof(lot)) + 1;
		ssize_t n;

		for (size_t i = 0; i < len; i++)
			lot[i] = (uint8_t)(st->written + i);
		n = haul_fd_write(st->fds[1], lot, len, fds_deadline(&random));
		fds_count(n);
		CHECK(n > 0 || is_cut(n));
		st->written = (uint8_t)(st->written + (n > 0 ? n : 0));
		haul_yield();
	}
	CHECK(haul_fd_close(st->fds[1]) == 0);
	return NULL;
}

static void *read_stream(void *arg)
{
	struct stream *st = arg;
	struct hauli_random random;
	uint8_t lot[777];
	ssize_t n;

	hauli_random_init(&random, (uint64_t)st->fds[1]);
	do {
		size_t len = hauli_random_below(&random, sizeof(lot)) + 1;

		n = haul_fd_read(st->fds[0], lot, len,
			hauli_random_below(&random, 2) ? HAUL_FOREVER : fds_deadline(&random));
		fds_count(n);
		CHECK(n >= 0 || is_cut(n));
		for (ssize_t i = 0; i < n; i++)
			CHECK(lot[i] == st->read++);
	} while (n != 0);
	CHECK(haul_fd_close(st->fds[0]) == 0);
	return NULL;
}

static void open_all(void)
{
	int err = 0;

	for (unsigned i = 0; i < POSTS; i++)
		err |= socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s.posts[i]);
	for (unsigned i = 0; i < STREAMS; i++) {
		struct stream *st = &s.streams[i];

		err |= i % 2 ? pipe2(st->fds, O_CLOEXEC)
			     : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, st->fds);
	}
	s.terminal[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	err |= grantpt(s.terminal[0]) | unlockpt(s.terminal[0]);
	s.terminal[1] = open(ptsname(s.terminal[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
	s.files[0] = open(path, O_RDONLY | O_CLOEXEC);
	s.files[1] = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
	if (s.files[1] < 0)
		s.files[1] = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert(err == 0 && s.terminal[1] >= 0 && s.files[0] >= 0 && s.files[1] >= 0);
}

static void close_all(void)
{
	for (unsigned i = 0; i < POSTS; i++) {
		close(s.posts[i][0]);
		close(s.posts[i][1]);
	}
	close(s.terminal[0]);
	close(s.terminal[1]);
	close(s.files[0]);
	close(s.files[1]);
}

static void make_file(void)
{
	int fd;

	snprintf(path, sizeof(path), "/tmp/haul-stress-fds-%d", getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	for (uint64_t at = 0; at < FILE_SIZE; at += 512) {
		uint8_t block[512];

		memset(block, (int)(at / 512), sizeof(block));
		ck_assert_int_eq(write(fd, block, sizeof(block)), sizeof(block));
	}
	ck_assert_int_eq(fsync(fd), 0);
	close(fd);
}

static void spawn_all(uint64_t *seed)
{
	for (unsigned i = 0; i < MEMBERS; i++) {
		s.members[i].seed = (*seed)++;
		fill(&s.members[i]);
		ck_assert_int_eq(haul_spawn_on(haul_carrier(s.rt, i % FDS_CARRIERS),
					 &s.members[i].co, member, &s.members[i], NULL),
			0);
	}
	for (unsigned i = 0; i < 2 * STREAMS; i++)
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(s.rt, i * 3 / 2 % FDS_CARRIERS),
				&s.streams[i / 2].ends[i % 2], i % 2 ? write_stream : read_stream,
				&s.streams[i / 2], NULL),
			0);
}

static void join(struct haul_coro *co)
{
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
}

static void check_all(void)
{
	uint64_t sum = 0, sent = 0, received = 0, value;

	for (unsigned i = 0; i < MEMBERS; i++) {
		sum += s.members[i].sum;
		sent += s.members[i].sent;
		received += s.members[i].received;
	}
	for (unsigned i = 0; i < POSTS; i++)
		for (; recv(s.posts[i][1], &value, sizeof(value), MSG_DONTWAIT) > 0; received++)
			sum -= value;
	ck_assert_uint_eq(sum, 0);
	ck_assert_uint_eq(sent, received);
	for (unsigned i = 0; i < STREAMS; i++)
		ck_assert_uint_eq(s.streams[i].read, s.streams[i].written);
	ck_assert_msg(!s.wrong, "%s", s.wrong);
}

START_TEST(nothing_is_lost)
{
	uint64_t deadline = stress_deadline(), seed = stress_seed();
	FILE *null = fopen("/dev/null", "w");
	unsigned before;

	make_file();
	before = fds_open();
	fds_cut = 0;
	do {
		memset(&s, 0, sizeof(s));
		s.rt = fds_start(_i);
		open_all();
		ck_assert_int_eq(haul_chan_create(&s.ch, sizeof(uint64_t), 1), 0);
		spawn_all(&seed);
		for (unsigned i = 0; i < MEMBERS / 4; i++) {
			WAIT_UNTIL(s.steps > i * 100);
			haul_cancel(s.members[i].co);
			haul_dump(s.rt, null);
		}
		for (unsigned i = 0; i < MEMBERS; i++)
			join(s.members[i].co);
		s.over = 1;
		for (unsigned i = 0; i < 2 * STREAMS; i++)
			join(s.streams[i / 2].ends[i % 2]);
		check_all();
		haul_chan_destroy(s.ch);
		close_all();
		runtime_stop(s.rt);
		fds_check(before);
	} while (fds_go_on(deadline));
	fprintf(stderr, "calls that were cut: %llu\n", fds_cut);
	fclose(null);
	unlink(path);
}
END_TEST

/* The stop comes in the midst of all calls. */
START_TEST(a_stop_in_the_midst)
{
	uint64_t deadline = stress_deadline(), seed = stress_seed();
	unsigned before;

	make_file();
	before = fds_open();
	do {
		memset(&s, 0, sizeof(s));
		s.rt = fds_start(_i);
		open_all();
		ck_assert_int_eq(haul_chan_create(&s.ch, sizeof(uint64_t), 1), 0);
		spawn_all(&seed);
		WAIT_UNTIL(s.steps > seed % 1000);
		s.over = 1;
		for (unsigned i = 0; i < MEMBERS; i++)
			haul_detach(s.members[i].co);
		for (unsigned i = 0; i < 2 * STREAMS; i++)
			haul_detach(s.streams[i / 2].ends[i % 2]);
		runtime_stop(s.rt);
		check_all();
		haul_chan_destroy(s.ch);
		close_all();
		fds_check(before);
	} while (haul_now() < deadline);
	unlink(path);
}
END_TEST

SUITE_MAIN("fds", {nothing_is_lost, FDS_MODES}, {a_stop_in_the_midst, FDS_MODES})
