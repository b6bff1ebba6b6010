/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An echo server on io_uring, in one of three ways:
 *	multishot  one receive operation for each connection, which delivers into buffers that all
 *	           share; a send operation for each request
 *	ops        a receive and a send operation for each request
 *	poll       a poll for each request, then recv() and send()
 */
#include <liburing.h>
#include <poll.h>

#include "echo.h"

#define SUBMISSIONS 4096
#define COMPLETIONS 32768
#define BUFFERS 16384 /* a power of two */
#define SMALL 256 /* bytes of a buffer that all share */
#define GROUP 0

enum what { ACCEPTED, RECEIVED, SENT, POLLED };

static enum { MULTISHOT, OPS, POLLS } way;
static struct io_uring ring;
static struct io_uring_buf_ring *shared;
static char (*buffers)[SMALL]; /* with multishot by number, else by descriptor */

static struct io_uring_sqe *next(enum what what, int fd, unsigned buffer)
{
	struct io_uring_sqe *sqe;

	while (!(sqe = io_uring_get_sqe(&ring)))
		io_uring_submit(&ring);
	sqe->user_data = (uint64_t)what << 60 | (uint64_t)buffer << 32 | (unsigned)fd;
	return sqe;
}

static struct io_uring_sqe *prepare(
	enum what what, int fd, unsigned buffer, void (*prep)(struct io_uring_sqe *sqe, int fd))
{
	struct io_uring_sqe *sqe = next(what, fd, buffer);
	uint64_t data = sqe->user_data;

	prep(sqe, fd);
	sqe->user_data = data;
	return sqe;
}

static void prep_accept(struct io_uring_sqe *sqe, int fd)
{
	io_uring_prep_multishot_accept(sqe, fd, NULL, NULL, SOCK_CLOEXEC);
}

static void prep_multishot(struct io_uring_sqe *sqe, int fd)
{
	io_uring_prep_recv_multishot(sqe, fd, NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = GROUP;
}

static void prep_recv(struct io_uring_sqe *sqe, int fd)
{
	io_uring_prep_recv(sqe, fd, buffers[fd], SMALL, 0);
	sqe->ioprio |= IORING_RECVSEND_POLL_FIRST;
}

static void prep_poll(struct io_uring_sqe *sqe, int fd)
{
	io_uring_prep_poll_add(sqe, fd, POLLIN);
}

static void receive(int fd)
{
	if (way == MULTISHOT)
		prepare(RECEIVED, fd, 0, prep_multishot);
	else if (way == OPS)
		prepare(RECEIVED, fd, 0, prep_recv);
	else
		prepare(POLLED, fd, 0, prep_poll);
}

static void give_back(unsigned buffer)
{
	io_uring_buf_ring_add(shared, buffers[buffer], SMALL, (unsigned short)buffer,
		io_uring_buf_ring_mask(BUFFERS), 0);
	io_uring_buf_ring_advance(shared, 1);
}

static void reply(int fd, unsigned buffer, int n)
{
	struct io_uring_sqe *sqe = next(SENT, fd, buffer);
	uint64_t data = sqe->user_data;

	io_uring_prep_send(
		sqe, fd, buffers[way == MULTISHOT ? buffer : (unsigned)fd], (size_t)n, MSG_WAITALL);
	sqe->user_data = data;
}

static void received(int fd, int n, uint32_t flags)
{
	if (n == -ENOBUFS) {
		receive(fd);
		return;
	}
	if (n <= 0) {
		close(fd);
		return;
	}
	reply(fd, flags >> IORING_CQE_BUFFER_SHIFT, n);
	if (way == MULTISHOT && !(flags & IORING_CQE_F_MORE))
		receive(fd);
}

static void polled(int fd)
{
	static char buf[ECHO_BUFFER];
	ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);

	if (n <= 0 || send(fd, buf, (size_t)n, 0) != n)
		close(fd);
	else
		receive(fd);
}

static void complete(const struct io_uring_cqe *cqe)
{
	int fd = (int)(cqe->user_data & UINT32_MAX);

	switch ((enum what)(cqe->user_data >> 60)) {
	case ACCEPTED:
		if (cqe->res >= 0)
			receive(cqe->res);
		if (!(cqe->flags & IORING_CQE_F_MORE))
			prepare(ACCEPTED, fd, 0, prep_accept);
		break;
	case RECEIVED:
		received(fd, cqe->res, cqe->flags);
		break;
	case SENT:
		if (way == MULTISHOT)
			give_back((unsigned)(cqe->user_data >> 32) & (BUFFERS - 1));
		else
			receive(fd);
		break;
	case POLLED:
		polled(fd);
		break;
	}
}

static void make_shared(void)
{
	struct io_uring_buf_reg reg = {.ring_entries = BUFFERS, .bgid = GROUP};

	if (posix_memalign((void **)&shared, 4096, BUFFERS * sizeof(struct io_uring_buf)))
		echo_die("memory");
	io_uring_buf_ring_init(shared);
	reg.ring_addr = (uintptr_t)shared;
	if (io_uring_register_buf_ring(&ring, &reg, 0) < 0)
		echo_die("buffers");
	for (unsigned i = 0; i < BUFFERS; i++)
		give_back(i);
}

int main(int argc, char **argv)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			IORING_SETUP_CQSIZE,
		.cq_entries = COMPLETIONS,
	};
	const char *name = argc > 1 ? argv[1] : "multishot";
	int listening = echo_listen(0);

	way = !strcmp(name, "poll") ? POLLS : !strcmp(name, "ops") ? OPS : MULTISHOT;
	errno = -io_uring_queue_init_params(SUBMISSIONS, &ring, &params);
	if (errno)
		echo_die("io_uring");
	(void)io_uring_register_ring_fd(&ring);
	buffers = calloc(way == MULTISHOT ? BUFFERS : ECHO_FDS_MAX, SMALL);
	if (!buffers)
		echo_die("memory");
	if (way == MULTISHOT)
		make_shared();
	prepare(ACCEPTED, listening, 0, prep_accept);
	for (;;) {
		struct io_uring_cqe *cqe;
		unsigned head, n = 0;

		io_uring_submit_and_wait(&ring, 1);
		io_uring_for_each_cqe(&ring, head, cqe)
		{
			complete(cqe);
			n++;
		}
		io_uring_cq_advance(&ring, n);
	}
}
