/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An operation that the kernel does as a whole, by the real op.c and uring.c, against a deadline
 * or a cancel, or interrupted by the kernel and begun again: what the kernel has done is what the
 * call returns, and the kernel has no use for the operation or its buffer after that. Thread 0 is
 * the home, as in sync_home.h, which also does what the kernel does within its system calls; thread
 * 1 is a thread of the kernel.
 */
#include <liburing.h>
#include <stdatomic.h>

static void tell_kernel(void);

#define BEFORE_MAIL() tell_kernel()
#include "sync_home.h"

static struct io_uring_sqe *kernel_sqe(void);

#define io_uring_get_sqe(ring) ((void)(ring), kernel_sqe())
#include "fd/op.c"
#include "fd/uring.c"

#define READ 8 /* what the operation returns */
enum { NOT_BEGUN, QUEUED, RUNS, CANCELLED };

static struct {
	struct home home;
	struct hauli_fds fds;
	struct hauli_fd_op op;
	struct iovec iov;
	uint64_t buf;
	struct io_uring_sqe sqes[2]; /* the operation, and it again or its cancel */
	uint64_t nb_sqes, nb_told;
	uint64_t result; /* of the call */
	/* the kernel's */
	_Atomic(uint64_t) begun; /* so many times */
	_Atomic(uint64_t) state, interrupted;
	struct hauli_msg completion;
	uint64_t data;
	uint64_t moved; /* the result of the operation */
} m;

static struct home *home_of_model(void)
{
	return &m.home;
}

int hauli_fds_open(struct haul_carrier *c)
{
	return 0;
}

struct haul_carrier *hauli_go_on_at_home(struct haul_carrier *c, struct haul_coro *me)
{
	return c;
}

static struct io_uring_sqe *kernel_sqe(void)
{
	MODEL_ASSERT(m.nb_sqes < 2);
	return &m.sqes[m.nb_sqes++];
}

static void handle_completion(struct haul_carrier *c, struct hauli_msg *msg)
{
	complete(c, m.data, (int)(int64_t)m.moved);
}

static const struct hauli_msg_kind completion_kind = {.handle = handle_completion};

static void kernel_has_ended(int result)
{
	m.moved = (uint64_t)(int64_t)result;
	hauli_mail_send(&m.home.c, &m.completion);
}

/* An operation that has not begun is ended; one that runs may end early. */
static void cancel(const struct io_uring_sqe *sqe)
{
	uint64_t state = QUEUED;

	MODEL_ASSERT(sqe->opcode == IORING_OP_ASYNC_CANCEL && sqe->addr == m.data);
	if (atomic_compare_exchange_strong_explicit(
		    &m.state, &state, CANCELLED, memory_order_seq_cst, memory_order_seq_cst))
		kernel_has_ended(-ECANCELED);
	else
		atomic_store_explicit(&m.interrupted, 1, memory_order_seq_cst);
	complete(&m.home.c, sqe->user_data, 0);
}

static void tell_kernel(void)
{
	while (m.nb_told < m.nb_sqes) {
		const struct io_uring_sqe *sqe = &m.sqes[m.nb_told++];

		if (sqe->opcode != IORING_OP_READV) {
			cancel(sqe);
			continue;
		}
		m.data = sqe->user_data;
		atomic_store_explicit(&m.state, QUEUED, memory_order_seq_cst);
		atomic_store_explicit(&m.begun, m.nb_told, memory_order_seq_cst);
	}
}

static void init(void)
{
	home_init(&m.home);
	m.fds.kind = &hauli_fd_uring;
	m.home.c.fds.own = &m.fds;
	m.completion.kind = &completion_kind;
	m.iov = (struct iovec){&m.buf, sizeof(m.buf)};
	m.op = (struct hauli_fd_op){
		.kind = HAULI_FD_OP_READ, .fd = 1, .iov = &m.iov, .n = 1, .offset = -1};
	model_private(m.sqes, sizeof(m.sqes), WAITER);
	model_private(&m.nb_sqes, sizeof(m.nb_sqes), WAITER);
	model_private(&m.nb_told, sizeof(m.nb_told), WAITER);
	model_private(&m.result, sizeof(m.result), WAITER);
}

static void waiter(void)
{
	int n = hauli_fd_op(&m.op, DEADLINE);

	MODEL_ASSERT((n == READ && m.buf == 7) || (!LASTS && n == ENDED && m.buf == 0));
	m.result = (uint64_t)(int64_t)n;
	model_fence(__ATOMIC_SEQ_CST); /* its own stores are no uses after the end */
	model_free(&m.op, sizeof(m.op));
	model_free(&m.iov, sizeof(m.iov));
	model_free(&m.buf, sizeof(m.buf));
	home_end();
}

static void kernel(void)
{
	uint64_t state = QUEUED;
	const struct iovec *iov;

	model_await(&m.begun, 8, 1);
	if (LASTS) {
		kernel_has_ended(-EINTR);
		model_await(&m.begun, 8, 2);
	}
	if (!atomic_compare_exchange_strong_explicit(
		    &m.state, &state, RUNS, memory_order_seq_cst, memory_order_seq_cst))
		return;
	if (atomic_load_explicit(&m.interrupted, memory_order_seq_cst)) {
		kernel_has_ended(-EINTR);
		return;
	}
	iov = ((const struct hauli_fd_op *)(uintptr_t)m.data)->iov;
	*(uint64_t *)iov->iov_base = 7;
	kernel_has_ended(READ);
}

/* What has happened is reported. */
static void check(void)
{
	MODEL_ASSERT(m.moved == m.result || (int64_t)m.result == ENDED);
	MODEL_ASSERT(((int64_t)m.moved == READ) == ((int64_t)m.result == READ));
	MODEL_ASSERT(m.home.c.fds.waits == 0 && m.nb_told == m.nb_sqes);
}

int main(int argc, char **argv)
{
	return model_of(
		argc, argv, "fd: operation" ENDS, &m, sizeof(m), init, waiter, kernel, check);
}
