/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A carrier sleeps while a call waits for the kernel, by the real mail.c, round.c and sleep.c: a
 * thread sends it a message, and the kernel has a completion; each ends its sleep, and neither is
 * lost. It ends when it has had both. The thread may still have to wake it then: the eventfd may be
 * closed, and the carrier freed, only after that.
 */
#include "fds_home.h"

/* The call waits for what the message brings. */
#ifndef MESSAGE_FIRST
#define MESSAGE_FIRST 0
#endif
#if MESSAGE_FIRST
#define AND ", which waits for the carrier"
#else
#define AND ""
#endif

static struct {
	struct fds_home home;
	struct hauli_msg last;
	_Atomic(uint64_t) handled; /* the message */
	uint64_t got; /* the message, the completion */
} m;

static struct fds_home *home_of_model(void)
{
	return &m.home;
}

static void has(uint64_t what)
{
	MODEL_ASSERT(!(m.got & what));
	m.got |= what;
	if (m.got == 3)
		m.home.c.phase = HAULI_PHASE_FINISHED;
}

static void handle_last(struct haul_carrier *c, struct hauli_msg *msg)
{
	has(1);
	atomic_store_explicit(&m.handled, 1, memory_order_seq_cst);
}

static const struct hauli_msg_kind last_msg = {.handle = handle_last};

static bool take(struct haul_carrier *c)
{
	if (home_takes(c))
		has(2);
	return true;
}

static const struct hauli_fds_kind kind = {
	.take = take, .wait = home_wait, .wake = home_wake, .close = home_close};

static void init(void)
{
	home_init(&m.home);
	home_open(&m.home, &kind);
	m.last.kind = &last_msg;
	model_private(&m.got, sizeof(m.got), 0);
}

static void carrier(void)
{
	home_runs(&m.home);
}

static void sender(void)
{
	hauli_mail_send(&m.home.c, &m.last);
}

static void kernel(void)
{
	if (MESSAGE_FIRST)
		model_await(&m.handled, 8, 1);
	home_completes(&m.home);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "a carrier waits for the kernel" AND,
			.nb_threads = 3,
			.threads = {carrier, sender, kernel},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}
