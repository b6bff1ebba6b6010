/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A select that sends into one channel and receives from another, against one that does the
 * opposite, in the opposite order, and a deadline, by the real lib/sync: both pass the same value,
 * or none does.
 */
#include "sync/chan.h"

#include "select_home.h"

enum { NOTHING, THERE, BACK };

static struct {
	struct home home;
	struct selecting selecting;
	struct haul_chan there;
	uint64_t between; /* there holds no values */
	struct haul_chan back;
	uint64_t out, in; /* of the waiter */
	uint64_t passed, others; /* by the waiter, by the other one */
} m;

static struct home *home_of_model(void)
{
	return &m.home;
}

static void init(void)
{
	home_init(&m.home);
	m.there.size = m.back.size = sizeof(uint64_t);
	m.out = 5;
	selecting_init(
		&m.selecting, haul_case_send(&m.there, &m.out), haul_case_recv(&m.back, &m.in));
}

static void waiter(void)
{
	int i = hauli_select_with(m.selecting.cases, 2, DEADLINE, &m.selecting.select);

	MODEL_ASSERT(i == 0 || i == 1 || i == -ETIMEDOUT);
	MODEL_ASSERT(i < 0 || m.selecting.cases[i].err == 0);
	MODEL_ASSERT(m.in == (i == 1 ? 6 : 0));
	m.passed = i < 0 ? NOTHING : i == 0 ? THERE : BACK;
	selecting_end(&m.selecting);
}

static void server(void)
{
	uint64_t in = 0, out = 6;
	struct haul_case cases[] = {haul_case_send(&m.back, &out), haul_case_recv(&m.there, &in)};
	int i = haul_select(cases, 2, 0);

	MODEL_ASSERT(i == 0 || i == 1 || i == -EAGAIN);
	MODEL_ASSERT(in == (i == 1 ? 5 : 0));
	m.others = i < 0 ? NOTHING : i == 0 ? BACK : THERE;
}

static void check(void)
{
	MODEL_ASSERT(m.passed == m.others);
	MODEL_ASSERT(!m.there.q.list.first && !m.there.senders.first);
	MODEL_ASSERT(!m.back.q.list.first && !m.back.senders.first);
}

int main(int argc, char **argv)
{
	return model_of(argc, argv, "select: against a select" ENDS, &m, sizeof(m), init, waiter,
		server, check);
}
