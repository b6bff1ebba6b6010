/* SPDX-License-Identifier: BSD-3-Clause */
/* A receive from an empty channel, against a send, the close of the channel and a deadline, by the
 * real lib/sync: the value is received or still there. */
#include "sync/chan.h"

#include "sync_home.h"

static struct {
	struct home home;
	union {
		struct haul_chan ch;
		char memory[sizeof(struct haul_chan) + sizeof(uint64_t)];
	};
	uint64_t value, first; /* first: of the one ahead */
	uint64_t result;
} m;

static struct home *home_of_model(void)
{
	return &m.home;
}

static void init(void)
{
	home_init(&m.home);
	m.ch.size = sizeof(m.value);
	m.ch.limit = 1;
	m.ch.in = m.ch.out = m.ch.values;
	m.ch.end = m.ch.values + m.ch.size;
	if (AHEAD)
		home_enter_ahead(&m.home, &m.ch.q, 0, &m.first);
}

static void waiter(void)
{
	int err = hauli_chan_recv_with(&m.ch, &m.value, DEADLINE, &m.home.w);

	MODEL_ASSERT(err == 0 || err == ENDED);
	MODEL_ASSERT(m.value == (err ? 0 : 7));
	m.result = (uint64_t)-err;
	home_end();
}

static void server(void)
{
	uint64_t first = 5, value = 7;

	if (AHEAD)
		MODEL_ASSERT(haul_chan_send(&m.ch, &first, 0) == 0);
	MODEL_ASSERT(haul_chan_send(&m.ch, &value, 0) == 0);
	haul_chan_close(&m.ch);
}

static void check(void)
{
	MODEL_ASSERT(!m.ch.q.list.first && !m.ch.senders.first);
	MODEL_ASSERT(m.ch.used == (m.result ? 1 : 0));
	MODEL_ASSERT(m.first == (AHEAD ? 5 : 0));
}

int main(int argc, char **argv)
{
	return model_of(
		argc, argv, "sync: channel" ENDS, &m, sizeof(m), init, waiter, server, check);
}
