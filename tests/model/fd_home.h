/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For the models of lib/fd: a coroutine waits for a descriptor on its home, by the real call.c,
 * poll.c and slot.c. The kernel is the model's: a poll that is under way holds the file that the
 * descriptor had when it began, and tells the home, once, when that is readable.
 */
#include <stdatomic.h>

#include "fd/call.h"
#include "fd/open.h"
#include "fd/poll.h"

static void kernel_begins_now(void);
#define BEFORE_MAIL() kernel_begins_now()
#include "sync_home.h"

/* A call guesses that its first try would be in vain. */
#ifndef WAITS_FIRST
#define WAITS_FIRST 0
#endif
/* The number of other coroutines of the home that have begun to wait before. */
#ifndef OTHERS
#define OTHERS 0
#endif
/* The kernel begins a poll later, when the home asks for what it has to tell, as io_uring does. */
#ifndef BEGINS_LATER
#define BEGINS_LATER 0
#endif
#define FD 1
enum { OLD, DEAD, NEW, FILES };

struct kernel {
	struct hauli_fd_slot slot;
	struct hauli_fds fds;
	struct hauli_fd_polls polls[FD + 1];
	_Atomic(uint64_t) file; /* of the descriptor */
	_Atomic(uint64_t) readable; /* the files that are, a bit for each */
	_Atomic(uint64_t) polls_of; /* the files with a poll, in the same way */
	struct told {
		struct hauli_msg msg; /* the completion */
		uint64_t number; /* of the poll */
	} told[FILES];
	uint64_t begins; /* a poll that is to begin */
	struct {
		struct haul_coro coro;
		struct hauli_sync_wait w;
	} others[OTHERS + 1];
};

static struct kernel *kernel_of_model(void);

struct hauli_fd_slot *hauli_fd_slot(int fd)
{
	MODEL_ASSERT(fd == FD);
	return &kernel_of_model()->slot;
}

#define hauli_fd_slot(fd) not_the_models(fd)
struct hauli_fd_slot *not_the_models(int fd);
#include "fd/slot.c"
#undef hauli_fd_slot

/* It does not fork. */
unsigned hauli_forks;

void hauli_process_lock(void)
{
}

void hauli_process_unlock(void)
{
}

int hauli_fds_open(struct haul_carrier *c)
{
	return 0;
}

struct haul_carrier *hauli_go_on_at_home(struct haul_carrier *c, struct haul_coro *me)
{
	return c;
}

/* The home, which the kernel has told. */
static void handle_told(struct haul_carrier *c, struct hauli_msg *msg)
{
	hauli_fd_poll_ended(
		c, FD, HAULI_FD_IN, (uint32_t)HAULI_CONTAINER(msg, struct told, msg)->number);
}

static const struct hauli_msg_kind told_kind = {.handle = handle_told};

/* A file may have become readable, or a poll of it may have begun: tells of it, once. */
static void kernel_tells(uint64_t file)
{
	struct kernel *k = kernel_of_model();
	uint64_t bit = UINT64_C(1) << file;

	if (atomic_load_explicit(&k->readable, memory_order_seq_cst) & bit &&
		atomic_fetch_and_explicit(&k->polls_of, ~bit, memory_order_seq_cst) & bit)
		hauli_mail_send(&home_of_model()->c, &k->told[file].msg);
}

static int kernel_begins(struct kernel *k)
{
	uint64_t file = atomic_load_explicit(&k->file, memory_order_seq_cst);

	k->told[file].number = k->polls[FD].in[HAULI_FD_IN].number;
	if (file == DEAD)
		return -EBADF;
	if (file == NEW && !WAITS_FIRST)
		return -EPERM; /* it is of a kind that has no polls */
	atomic_fetch_or_explicit(&k->polls_of, UINT64_C(1) << file, memory_order_seq_cst);
	kernel_tells(file);
	return 0;
}

static int kernel_begin(struct haul_carrier *c, int fd, enum hauli_fd_dir dir)
{
	struct kernel *k = kernel_of_model();

	if (!BEGINS_LATER)
		return kernel_begins(k);
	k->begins = 1;
	return 0;
}

/* Before the home looks for mail. */
static void kernel_begins_now(void)
{
	struct kernel *k = kernel_of_model();

	if (!k->begins)
		return;
	k->begins = 0;
	if (kernel_begins(k) != 0)
		hauli_mail_send(&home_of_model()->c, &k->told[DEAD].msg);
}

static void kernel_end(struct haul_carrier *c, int fd, enum hauli_fd_dir dir)
{
	struct kernel *k = kernel_of_model();

	k->begins = 0;
	atomic_store_explicit(&k->polls_of, 0, memory_order_seq_cst);
}

static const struct hauli_fd_kind kernel_kind = {.begin = kernel_begin, .end = kernel_end};

static void kernel_init(struct kernel *k, struct haul_carrier *c)
{
	k->fds.kind = &kernel_kind;
	k->fds.polls = k->polls;
	k->fds.nb = FD + 1;
	for (unsigned file = 0; file < FILES; file++) {
		k->told[file].msg.kind = &told_kind;
		model_private(&k->told[file].number, sizeof(k->told[file].number), WAITER);
	}
	c->fds.own = &k->fds;
	model_private(&k->fds, sizeof(k->fds), WAITER);
	model_private(k->polls, sizeof(k->polls), WAITER);
	model_private(&k->begins, sizeof(k->begins), WAITER);
}

/* From init(), after the other. */
static inline void others_enter(struct home *h)
{
	struct kernel *k = kernel_of_model();
	struct hauli_waitq *q = &k->slot.q[HAULI_FD_IN];

	for (int i = 0; i < OTHERS; i++) {
		struct haul_coro *co = &k->others[i].coro;
		struct hauli_sync_wait *w = &k->others[i].w;

		hauli_ptr_published_set(&co->home, &h->c);
		hauli_coro_set_state(co, HAULI_CORO_BLOCKED);
		w->waiter.waiter.coro = co;
		hauli_block_init(&w->block, co, HAUL_FOREVER, true);
		hauli_wait_list_enter(&q->list, &w->waiter.waiter);
	}
	hauli_waitq_unlock(q, 0);
	MODEL_ASSERT(hauli_fd_poll(&h->c, FD, HAULI_FD_IN, 0) == 0);
}

/* They wait until they are served, and do what a call does after an error. */
static inline void others_end(struct home *h)
{
	struct kernel *k = kernel_of_model();

	for (int i = 0; i < OTHERS; i++) {
		while (!hauli_u32_published_get(&k->others[i].w.block.served))
			receive(&h->c);
		if (k->others[i].w.waiter.result)
			hauli_fd_poll_no_more(&h->c, FD, HAULI_FD_IN, 0);
	}
}

/* A read that waits until the deadline: the file that was read, or an error. */
static inline int kernel_read(struct home *h)
{
	struct kernel *k = kernel_of_model();
	struct hauli_fd_call call = {FD, HAULI_FD_IN, DEADLINE, &k->slot, &k->slot.q[HAULI_FD_IN]};
	bool tries = !WAITS_FIRST;
	int err;

	call.closes = hauli_fd_closes(call.q);
	if (OTHERS && call.closes != 0)
		return -EBADF; /* it would wait for another file than the others */
	for (;;) {
		uint64_t file = atomic_load_explicit(&k->file, memory_order_seq_cst);

		if (tries && file == DEAD)
			return -EBADF;
		if (tries && atomic_load_explicit(&k->readable, memory_order_seq_cst) >> file & 1)
			return (int)file;
		tries = true;
		err = hauli_fd_call_wait_with(&call, &h->w);
		if (err)
			return err;
	}
}

/* When nobody waits no poll is under way, so the kernel holds no file that was closed. */
static inline void kernel_check(const struct kernel *k)
{
	MODEL_ASSERT(!k->slot.q[HAULI_FD_IN].list.first && !k->polls[FD].in[HAULI_FD_IN].number);
	MODEL_ASSERT(atomic_load_explicit(&k->polls_of, memory_order_relaxed) == 0);
}
