/* SPDX-License-Identifier: BSD-3-Clause */
/* A send into a full channel, against a receive, the close of the channel and a deadline or a
 * cancel, or the close alone, by the real lib/sync: the value is in the channel, or the send has
 * failed. */
#include "sync/chan.h"

#include "sync_home.h"

static struct {
	struct home home;
	union {
		struct haul_chan ch;
		char memory[sizeof(struct haul_chan) + sizeof(uint64_t)];
	};
	uint64_t value;
	uint64_t sent;
} m;

static struct home *home_of_model(void)
{
	return &m.home;
}

static void init(void)
{
	home_init(&m.home);
	m.ch.size = sizeof(m.value);
	m.ch.limit = m.ch.used = 1;
	m.ch.in = m.ch.out = m.ch.values;
	m.ch.end = m.ch.values + m.ch.size;
	m.value = 7;
}

static void waiter(void)
{
	int err = hauli_chan_send_with(&m.ch, &m.value, DEADLINE, &m.home.w);

	MODEL_ASSERT(err == 0 || err == -EPIPE || err == ENDED);
	m.sent = err == 0;
	home_end();
}

static void server(void)
{
	uint64_t value = 1;

	if (!LASTS)
		MODEL_ASSERT(haul_chan_recv(&m.ch, &value, 0) == 0 && value == 0);
	haul_chan_close(&m.ch);
}

static void check(void)
{
	MODEL_ASSERT(!m.ch.q.list.first && !m.ch.senders.first);
	MODEL_ASSERT(LASTS ? !m.sent : m.ch.used == m.sent);
	MODEL_ASSERT(!m.sent || *(uint64_t *)m.ch.values == 7);
}

int main(int argc, char **argv)
{
	return model_of(
		argc, argv, "sync: a send" ENDS, &m, sizeof(m), init, waiter, server, check);
}
