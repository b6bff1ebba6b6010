/* SPDX-License-Identifier: BSD-3-Clause */
/* A use of a packet after its owner gave it away, and a send where the caller must not wait, are
 * found and reported in one line. Always built with the checks of -Dchecks=true. */
#include <errno.h>

#include <rte_mbuf.h>

#include <haul/carrier.h>
#include <haul/net.h>

#include "coro_child.h"
#include "net/given.h"
#include "net/txq.h"
#include "support/runtime.h"
#include "support/suite.h"

static struct rte_mbuf pkts[HAULI_TXQ_ROOM + 1];
static struct haul_txq txq;
static bool pending;

static void *send_twice(void *arg)
{
	ck_assert_int_eq(haul_send(&txq, &pkts[0]), 0);
	haul_send(&txq, &pkts[0]);
	return NULL;
}

static void *try_after_send(void *arg)
{
	ck_assert_int_eq(haul_send(&txq, &pkts[0]), 0);
	haul_try_send(&txq, &pkts[0]);
	return NULL;
}

/* Gives the packet away as haul_drop() and haul_tx_burst() do. */
static void *give_after_send(void *arg)
{
	struct rte_mbuf *both[] = {&pkts[1], &pkts[0]};

	ck_assert_int_eq(haul_send(&txq, &pkts[0]), 0);
	hauli_pkts_give(both, 2, "haul_drop");
	return NULL;
}

/* The queue has room. */
static void *send_without_suspending(void *arg)
{
	HAUL_NO_SUSPEND();
	haul_send(&txq, &pkts[0]);
	return NULL;
}

static void *rightly(void *arg)
{
	unsigned i;

	for (i = 0; i < HAULI_TXQ_ROOM; i++)
		ck_assert_int_eq(haul_try_send(&txq, &pkts[i]), 0);
	/* A refused packet still belongs to the caller. */
	ck_assert_int_eq(haul_try_send(&txq, &pkts[i]), -ENOBUFS);
	(void)hauli_txq_peek(&txq);
	hauli_txq_pop(&txq, HAULI_TXQ_ROOM);
	ck_assert_int_eq(haul_try_send(&txq, &pkts[i]), 0);
	/* The packet was sent, freed and received anew. */
	hauli_pkts_take((struct rte_mbuf *[]){&pkts[0]}, 1);
	ck_assert_int_eq(haul_send(&txq, &pkts[0]), 0);
	/* An owner with two references sends twice. */
	rte_mbuf_refcnt_set(&pkts[1], 2);
	hauli_pkts_take((struct rte_mbuf *[]){&pkts[1]}, 1);
	ck_assert_int_eq(haul_send(&txq, &pkts[1]), 0);
	ck_assert_int_eq(haul_send(&txq, &pkts[1]), 0);
	return NULL;
}

static void on_carrier(void *body)
{
	struct haul_runtime *rt = runtime_start(1);
	unsigned i;

	hauli_pkt_given = RTE_BIT64(40);
	for (i = 0; i < RTE_DIM(pkts); i++)
		rte_mbuf_refcnt_set(&pkts[i], 1);
	hauli_txq_init(&txq, haul_carrier(rt, 0), &pending);
	run_on(rt, 0, (haul_fn *)body, NULL);
	runtime_stop(rt);
}

#define GIVEN "was sent or dropped before"

static const struct {
	haul_fn *body;
	const char *call, *mistake;
} wrong[] = {
	{send_twice, "haul_send(): packet ", GIVEN},
	{try_after_send, "haul_try_send(): packet ", GIVEN},
	{give_after_send, "haul_drop(): packet ", GIVEN},
	{send_without_suspending, "haul_send(): ", "called in the block of HAUL_NO_SUSPEND()"},
};

START_TEST(misuse_is_reported)
{
	struct child c = child_run(on_carrier, (void *)wrong[_i].body);

	ck_assert(WIFSIGNALED(c.status) && WTERMSIG(c.status) == SIGABRT);
	ck_assert_uint_eq(c.lines, 2); /* the second has the call stack */
	ck_assert_msg(
		strstr(c.said, wrong[_i].call) && strstr(c.said, wrong[_i].mistake), "%s", c.said);
}
END_TEST

START_TEST(right_use_passes)
{
	struct child c = child_run(on_carrier, (void *)rightly);

	ck_assert_msg(WIFEXITED(c.status) && WEXITSTATUS(c.status) == 0, "%s", c.said);
}
END_TEST

SUITE_MAIN("given", {misuse_is_reported, RTE_DIM(wrong)}, {right_use_passes})
