/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io_uring: a ring per carrier, used by its thread alone (SINGLE_ISSUER). The kernel does its part
 * of the work when the thread asks for it (DEFER_TASKRUN), and says in a word of memory that there
 * is some (TASKRUN_FLAG), so a carrier that spins makes no system call.
 *
 * A carrier that may be rescued (run/rescue.c) has several threads, one after the other. To the
 * kernel such a ring is none of a single thread: it interrupts the thread that has submitted, which
 * may be amid a long slice, and any thread takes what is complete.
 *
 * What a completion belongs to is in its user data:
 *	0                                             nothing: the end of an end
 *	WOKEN                                         the eventfd was read, which ends a wait
 *	POLL | direction << 1 | fd << 2 | number << 32    a poll
 *	any other                                     the address of a struct hauli_fd_op
 */
#include "fd/uring.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "fd/poll.h"

#define SUBMISSIONS 256
#define COMPLETIONS 4096
#define TAKEN_AT_ONCE 64

#define POLL UINT64_C(1)
#define WOKEN UINT64_C(2)

_Static_assert(HAUL_FDS_MAX <= 1 << 30, "a descriptor has 30 bits of the user data");

static uint64_t data_of(int fd, enum hauli_fd_dir dir, uint32_t number)
{
	return POLL | (uint64_t)dir << 1 | (uint64_t)fd << 2 | (uint64_t)number << 32;
}

/* The next submission; the carrier tells the kernel after the batch. */
static struct io_uring_sqe *next(struct haul_carrier *c)
{
	struct io_uring *ring = &hauli_fds_of(c)->ring;
	struct io_uring_sqe *sqe;

	c->fds.tells = true;
	while (!(sqe = io_uring_get_sqe(ring)))
		(void)io_uring_submit(ring);
	return sqe;
}

static void read_wake(struct haul_carrier *c)
{
	struct hauli_fds *f = hauli_fds_of(c);
	struct io_uring_sqe *sqe = next(c);

	io_uring_prep_read(sqe, f->wake, &f->woken, sizeof(f->woken), 0);
	io_uring_sqe_set_data64(sqe, WOKEN);
}

#define OF_ONE_THREAD \
	(IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG)

static int ring_open(struct hauli_fds *f, bool one_thread)
{
	struct io_uring_params params = {
		.flags = (one_thread ? OF_ONE_THREAD : 0) | IORING_SETUP_CQSIZE |
			IORING_SETUP_SUBMIT_ALL, /* also those after one that it refuses */
		.cq_entries = COMPLETIONS,
	};
	int err = io_uring_queue_init_params(SUBMISSIONS, &f->ring, &params);

	if (err)
		return err;
	if (params.features & IORING_FEAT_EXT_ARG) {
		if (one_thread) /* saves the look-up of the descriptor */
			(void)io_uring_register_ring_fd(&f->ring);
		return 0;
	}
	io_uring_queue_exit(&f->ring);
	return -ENOSYS;
}

static int uring_open(struct haul_carrier *c, struct hauli_fds *f)
{
	int err = ring_open(f, !c->rescue);

	if (err)
		return err;
	err = hauli_fds_open_wake(f);
	if (err) {
		io_uring_queue_exit(&f->ring);
		return err;
	}
	c->fds.tail = (const struct hauli_u32_seen *)f->ring.cq.ktail;
	c->fds.head = *f->ring.cq.khead;
	c->fds.flags = (const struct hauli_u32_seen *)f->ring.sq.kflags;
	c->fds.mask = IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW;
	f->told = -1;
	read_wake(c);
	return 0;
}

/* Not the ring's own descriptor: work that the kernel leaves to the carrier (DEFER_TASKRUN) wakes
 * nobody who waits for that one. */
static int uring_cover(struct haul_carrier *c)
{
	struct hauli_fds *f = hauli_fds_of(c);

	if (f->told >= 0)
		return f->told;
	f->told = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->told >= 0 && io_uring_register_eventfd(&f->ring, f->told) != 0) {
		close(f->told);
		f->told = -1;
	}
	return f->told;
}

/* The kernel changes one of the two words, then writes the eventfd. So what it has written now, the
 * poller finds in the words. */
static void uring_forget(struct haul_carrier *c)
{
	eventfd_t n;

	(void)eventfd_read(hauli_fds_of(c)->told, &n);
}

static void uring_close(struct haul_carrier *c)
{
	struct hauli_fds *f = hauli_fds_of(c);

	io_uring_queue_exit(&f->ring);
	if (f->told >= 0)
		close(f->told);
	hauli_fds_free(c);
}

static void op_ended(struct haul_carrier *c, struct hauli_fd_op *op, int result)
{
	c->fds.waits--;
	op->result = result;
	hauli_block_serve_here(c, op->block.co, false);
}

static void complete(struct haul_carrier *c, uint64_t data, int result)
{
	if (data & POLL) {
		c->fds.waits--;
		hauli_fd_poll_ended(c, (int)(data >> 2 & (HAUL_FDS_MAX - 1)),
			data >> 1 & 1 ? HAULI_FD_OUT : HAULI_FD_IN, (uint32_t)(data >> 32));
	} else if (data == WOKEN) {
		read_wake(c);
	} else if (data) {
		op_ended(c, (struct hauli_fd_op *)(uintptr_t)data, result);
	}
}

static bool uring_take(struct haul_carrier *c)
{
	struct hauli_fds *f = hauli_fds_of(c);
	uint64_t data[TAKEN_AT_ONCE];
	int results[TAKEN_AT_ONCE];
	struct io_uring_cqe *cqe;
	unsigned head, n = 0;

	if (c->fds.tells || hauli_u32_seen_get(c->fds.flags)) {
		(void)io_uring_submit_and_get_events(&f->ring);
		c->fds.tells = io_uring_sq_ready(&f->ring) > 0;
	}
	io_uring_for_each_cqe(&f->ring, head, cqe)
	{
		data[n] = cqe->user_data;
		results[n] = cqe->res;
		if (++n == TAKEN_AT_ONCE)
			break;
	}
	io_uring_cq_advance(&f->ring, n);
	c->fds.head += n;
	for (unsigned i = 0; i < n; i++)
		complete(c, data[i], results[i]);
	return n > 0;
}

static void uring_wait(struct haul_carrier *c, uint64_t at)
{
	struct io_uring_cqe *cqe;
	struct timespec left = hauli_time_until(at);
	struct __kernel_timespec most = {.tv_sec = left.tv_sec, .tv_nsec = left.tv_nsec};

	(void)io_uring_submit_and_wait_timeout(
		&hauli_fds_of(c)->ring, &cqe, 1, at == HAULI_NEVER ? NULL : &most, NULL);
}

static int uring_begin(struct haul_carrier *c, int fd, enum hauli_fd_dir dir)
{
	struct io_uring_sqe *sqe = next(c);

	io_uring_prep_poll_add(sqe, fd, dir == HAULI_FD_IN ? POLLIN : POLLOUT);
	io_uring_sqe_set_data64(sqe, data_of(fd, dir, hauli_fds_of(c)->polls[fd].in[dir].number));
	c->fds.waits++;
	return 0;
}

/* Its completion still comes, and is not taken for that of another poll. */
static void uring_end(struct haul_carrier *c, int fd, enum hauli_fd_dir dir)
{
	struct io_uring_sqe *sqe = next(c);

	io_uring_prep_poll_remove(sqe, data_of(fd, dir, hauli_fds_of(c)->polls[fd].in[dir].number));
	io_uring_sqe_set_data64(sqe, 0);
}

void hauli_uring_begin(struct haul_carrier *c, struct hauli_fd_op *op)
{
	struct io_uring_sqe *sqe = next(c);

	switch (op->kind) {
	case HAULI_FD_OP_READ:
		io_uring_prep_readv(sqe, op->fd, op->iov, (unsigned)op->n, (uint64_t)op->offset);
		break;
	case HAULI_FD_OP_WRITE:
		io_uring_prep_writev(sqe, op->fd, op->iov, (unsigned)op->n, (uint64_t)op->offset);
		break;
	case HAULI_FD_OP_OPEN:
		io_uring_prep_openat(sqe, AT_FDCWD, op->path, op->flags, op->mode);
		/* else it tries with O_NONBLOCK, and a FIFO's open does not wait */
		sqe->flags |= IOSQE_ASYNC;
		break;
	case HAULI_FD_OP_FSYNC:
		io_uring_prep_fsync(sqe, op->fd, 0);
		break;
	}
	io_uring_sqe_set_data(sqe, op);
	c->fds.waits++;
}

void hauli_uring_cancel(struct haul_carrier *c, struct hauli_fd_op *op)
{
	struct io_uring_sqe *sqe = next(c);

	io_uring_prep_cancel(sqe, op, 0);
	io_uring_sqe_set_data64(sqe, 0);
}

const struct hauli_fd_kind hauli_fd_uring = {
	.sched = {uring_take, NULL, uring_wait, hauli_fds_wake, uring_cover, uring_forget,
		uring_close},
	.which = HAUL_FDS_URING,
	.open = uring_open,
	.begin = uring_begin,
	.end = uring_end,
};
