/* SPDX-License-Identifier: BSD-3-Clause */
/* A handover that is freed while its call may lie in the inbox of a busy carrier. */
#include <stdatomic.h>
#include <unistd.h>

#include "sched/mail/handover.h"

#include "support/runtime.h"
#include "support/suite.h"

static struct {
	struct hauli_handover h;
	struct hauli_node node;
	bool takes; /* the owner takes the item */
	atomic_bool listens, put, ready, gone, late;
} s;

static void spin_until(const atomic_bool *what)
{
	while (!*what)
		sched_yield();
}

/* Listens, then keeps its carrier from its mail for a while; a caller that does not wait goes
 * on. */
static void *listens(void *arg)
{
	hauli_handover_listen(&s.h);
	s.listens = true;
	spin_until(&s.put);
	if (s.takes)
		ck_assert_ptr_eq(hauli_handover_take(&s.h), &s.node);
	s.ready = true;
	for (int i = 0; i < 1000 && !s.gone; i++)
		usleep(100); /* so long for an end that does not wait */
	return NULL;
}

static void comes_late(struct haul_carrier *c, struct hauli_msg *msg)
{
	s.late = true;
}

static const struct hauli_msg_kind late_msg = {.handle = comes_late};

static void retire(void)
{
	hauli_handover_fini(&s.h);
	s.h.call.kind = &late_msg;
	s.gone = true;
}

static void *does_nothing(void *arg)
{
	return NULL;
}

START_TEST(the_end_waits_for_a_call_that_was_sent)
{
	struct haul_runtime *rt = runtime_start(1);
	struct hauli_bulk batch = {NULL, NULL};
	struct haul_coro *owner;

	memset(&s, 0, sizeof(s));
	s.takes = _i;
	hauli_handover_init(&s.h, haul_carrier(rt, 0));
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &owner, listens, NULL, NULL), 0);
	WAIT_UNTIL(s.listens);
	hauli_bulk_add(&batch, &s.node);
	hauli_handover_put(&s.h, &batch);
	s.put = true;
	spin_until(&s.ready);
	retire();
	ck_assert_int_eq(haul_join(owner, NULL, HAUL_FOREVER), 0);
	ck_assert_ptr_null(run_on(rt, 0, does_nothing, NULL));
	ck_assert(!s.late);
	runtime_stop(rt);
}
END_TEST

static void *listens_until_it_is_gone(void *arg)
{
	hauli_handover_listen(&s.h);
	s.ready = true;
	spin_until(&s.gone);
	return NULL;
}

START_TEST(without_a_call_there_is_no_wait)
{
	struct haul_runtime *rt = runtime_start(1);
	struct haul_coro *owner;

	memset(&s, 0, sizeof(s));
	hauli_handover_init(&s.h, haul_carrier(rt, 0));
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(rt, 0), &owner, listens_until_it_is_gone, NULL, NULL),
		0);
	WAIT_UNTIL(s.ready);
	retire();
	ck_assert_int_eq(haul_join(owner, NULL, HAUL_FOREVER), 0);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN(
	"handover", {the_end_waits_for_a_call_that_was_sent, 2}, {without_a_call_there_is_no_wait})
