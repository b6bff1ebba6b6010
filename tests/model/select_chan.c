/* SPDX-License-Identifier: BSD-3-Clause */
/* A select that receives from two channels, against the close of one and a send into the other: one
 * case is done, and the value is received or still there. */
#include "sync/chan.h"

#include "select_home.h"

static struct {
	struct home home;
	struct selecting selecting;
	struct haul_chan closed;
	union {
		struct haul_chan open;
		char memory[sizeof(struct haul_chan) + sizeof(uint64_t)];
	};
	uint64_t none, value; /* received */
	uint64_t done;
} m;

static struct home *home_of_model(void)
{
	return &m.home;
}

static void init(void)
{
	home_init(&m.home);
	m.closed.size = m.open.size = sizeof(m.value);
	m.open.limit = 1;
	m.open.in = m.open.out = m.open.values;
	m.open.end = m.open.values + sizeof(m.value);
	selecting_init(&m.selecting, haul_case_recv(&m.closed, &m.none),
		haul_case_recv(&m.open, &m.value));
}

static void waiter(void)
{
	int i = hauli_select_with(m.selecting.cases, 2, HAUL_FOREVER, &m.selecting.select);

	MODEL_ASSERT(i == 0 || i == 1);
	MODEL_ASSERT(m.selecting.cases[i].err == (i == 0 ? -EPIPE : 0));
	MODEL_ASSERT(m.none == 0 && m.value == (i == 0 ? 0 : 7));
	m.done = (uint64_t)i;
	selecting_end(&m.selecting);
}

static void sender(void)
{
	uint64_t value = 7;

	MODEL_ASSERT(haul_chan_send(&m.open, &value, 0) == 0);
}

static void closer(void)
{
	haul_chan_close(&m.closed);
}

static void check(void)
{
	MODEL_ASSERT(!m.closed.q.list.first && !m.open.q.list.first);
	MODEL_ASSERT(m.open.used == (m.done == 0 ? 1 : 0));
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "select: a send and a close",
			.nb_threads = 3,
			.threads = {waiter, sender, closer},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
