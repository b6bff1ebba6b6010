/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last call of a carrier against its stop: the call has the ring opened and waits; the stop
 * cancels it. An operation ends when the kernel, which was told of the cancel, has ended it; a call
 * that has begun a poll ends at once, and the kernel's word for that may come when the carrier has
 * ended. Then the carrier has drained, and is told to finish.
 */
#include "fds_home.h"

/* The call has begun a poll, not an operation. */
#ifndef POLLS
#define POLLS 0
#endif
#if POLLS
#define OF ", of a poll"
#else
#define OF ""
#endif

static struct {
	struct fds_home home;
	struct hauli_msg begin, stop, finish;
	uint64_t cancels; /* the kernel is to be told */
	_Atomic(uint64_t) told; /* the kernel, of the cancel */
	_Atomic(uint64_t) drained;
} m;

static struct fds_home *home_of_model(void)
{
	return &m.home;
}

static void has_drained(void)
{
	atomic_store_explicit(&m.drained, 1, memory_order_seq_cst);
}

static bool take(struct haul_carrier *c)
{
	c->fds.tells = false;
	if (m.cancels)
		atomic_store_explicit(&m.told, 1, memory_order_seq_cst);
	m.cancels = 0;
	if (home_takes(c) && !POLLS)
		has_drained();
	return true;
}

static const struct hauli_fds_kind kind = {
	.take = take, .wait = home_wait, .wake = home_wake, .close = home_close};

static void handle_begin(struct haul_carrier *c, struct hauli_msg *msg)
{
	home_open(&m.home, &kind);
}

static void handle_stop(struct haul_carrier *c, struct hauli_msg *msg)
{
	c->fds.tells = true;
	m.cancels = 1;
	if (POLLS)
		has_drained();
}

static void handle_finish(struct haul_carrier *c, struct hauli_msg *msg)
{
	MODEL_ASSERT(POLLS || c->fds.waits == 0);
	c->phase = HAULI_PHASE_FINISHED;
}

static const struct hauli_msg_kind begin_msg = {.handle = handle_begin},
				   stop_msg = {.handle = handle_stop},
				   finish_msg = {.handle = handle_finish};

static void init(void)
{
	home_init(&m.home);
	m.begin.kind = &begin_msg;
	m.stop.kind = &stop_msg;
	m.finish.kind = &finish_msg;
	model_private(&m.cancels, sizeof(m.cancels), 0);
}

static void carrier(void)
{
	home_runs(&m.home);
}

static void stopper(void)
{
	hauli_mail_send(&m.home.c, &m.begin);
	hauli_mail_send(&m.home.c, &m.stop);
	model_await(&m.drained, 8, 1);
	hauli_mail_send(&m.home.c, &m.finish);
}

/* Nothing else would end an operation. */
static void kernel(void)
{
	model_await(&m.told, 8, 1);
	home_completes(&m.home);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "the last call and the stop" OF,
			.nb_threads = 3,
			.threads = {carrier, stopper, kernel},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}
