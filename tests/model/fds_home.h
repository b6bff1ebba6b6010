/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For the models of a carrier whose call waits for the kernel: it runs by the real round.c, mail.c
 * and sleep.c. The ring and the eventfd are the model's. A thread may still have to wake the
 * carrier when it ends: the eventfd may be closed, and the carrier freed, only after that.
 */
#include <stdatomic.h>

#include "explorer.h"
#include "sched/mail/mail.h"
#include "sched/run/round.c"

struct fds_home {
	struct haul_carrier c;
	struct hauli_cluster cluster; /* its injector stays empty */
	_Atomic(uint32_t) tail; /* of the ring */
	_Atomic(uint64_t) readable; /* the ring: something was added */
	_Atomic(uint64_t) completed; /* the call */
	_Atomic(uint64_t) eventfd;
};

static struct fds_home *home_of_model(void);

/* The kernel adds a completion. */
static void add(struct fds_home *h)
{
	atomic_fetch_add_explicit(&h->tail, 1, memory_order_seq_cst);
	atomic_store_explicit(&h->readable, 1, memory_order_seq_cst);
}

/* That of the call. */
static void home_completes(struct fds_home *h)
{
	atomic_store_explicit(&h->completed, 1, memory_order_seq_cst);
	add(h);
}

/* For take(). True: the call's completion was there. */
static bool home_takes(struct haul_carrier *c)
{
	struct fds_home *h = home_of_model();

	c->fds.head = atomic_load_explicit(&h->tail, memory_order_seq_cst);
	if (!c->fds.waits || !atomic_load_explicit(&h->completed, memory_order_seq_cst))
		return false;
	c->fds.waits = 0;
	return true;
}

/* It may return although all was taken before. */
static void home_wait(struct haul_carrier *c, uint64_t at)
{
	struct fds_home *h = home_of_model();

	MODEL_ASSERT(at == HAULI_NEVER);
	model_await(&h->readable, 8, 1);
	atomic_store_explicit(&h->readable, 0, memory_order_seq_cst);
}

static void home_wake(struct haul_carrier *c)
{
	struct fds_home *h = home_of_model();

	add(h);
	atomic_store_explicit(&h->eventfd, 1, memory_order_seq_cst);
}

static void home_close(struct haul_carrier *c)
{
	struct fds_home *h = home_of_model();

	c->fds.kind = NULL;
	model_free(&h->eventfd, sizeof(h->eventfd));
}

static void home_init(struct fds_home *h)
{
	h->c.cluster = &h->cluster;
	h->c.timers.next_at = HAULI_NEVER;
	hauli_inbox_init(&h->c.mail.inbox);
	hauli_detached_mail_init(&h->c.mail.detached);
}

/* A call waits. */
static void home_open(struct fds_home *h, const struct hauli_fds_kind *kind)
{
	h->c.fds.kind = kind;
	h->c.fds.tail = h->c.fds.flags = (const struct hauli_u32_seen *)&h->tail;
	h->c.fds.waits = 1;
}

/* The carrier's thread. */
static void home_runs(struct fds_home *h)
{
	hauli_round_main(&h->c);
	hauli_fence_full(); /* stands for the join, after which the carrier is freed */
	model_free(&h->c, sizeof(h->c));
}

/* Per-thread state of a coroutine runner. */
void hauli_self_set(struct haul_carrier *c)
{
}

void hauli_co_init_thread(struct hauli_co *co)
{
}

void hauli_co_fini_thread(struct hauli_co *co)
{
}

struct hauli_exceptions *hauli_exceptions_here(void)
{
	return NULL;
}

void hauli_overflow_thread_init(void)
{
}

void hauli_locals_release(struct haul_carrier *c)
{
}

void hauli_overflow_thread_fini(void)
{
}
