/* SPDX-License-Identifier: BSD-3-Clause */
/* A host on ports of a test whose pool is empty. */
#include "host_bed.h"

#include "support/suite.h"

#define RESERVE 32 /* buffers that a host keeps */
#define MOST (1u << 16)

static struct rte_mbuf *held[MOST];
static unsigned nb_held;

/* Takes all buffers; returns how many there were. */
static unsigned hold_all(void)
{
	unsigned n = 0;

	while (nb_held < MOST && (held[nb_held] = rte_pktmbuf_alloc(haul_test_pool(bed)))) {
		nb_held++;
		n++;
	}
	return n;
}

static void let_go(unsigned n)
{
	while (n-- > 0)
		rte_pktmbuf_free(held[--nb_held]);
}

/* Neighbours are found, and the host's addresses answered for. */
static void talk(const char *peer, const char *own)
{
	struct lookup l = {.of = peer, .deadline = haul_in(10 * HAUL_S)};
	struct said s;

	FAIL_UNLESS(begin_lookup(&l, 2));
	FAIL_UNLESS(next(0, &s, haul_in(HAUL_S)) && is_question(&s, peer));
	/* The frames that come need buffers of their own. */
	let_go(1);
	FAIL_UNLESS(feed_answer(0, peer, peer_mac, own));
	FAIL_UNLESS(haul_join(l.co, NULL, HAUL_FOREVER) == 0 && l.err == 0);
	FAIL_UNLESS(pass(HAUL_MS));
	FAIL_UNLESS(hold_all() > 0);
	let_go(1);
	FAIL_UNLESS(feed_question(0, peer, peer_mac, own));
	FAIL_UNLESS(hold_all() == 0);
	FAIL_UNLESS(next(0, &s, haul_in(HAUL_MS)) && is(&s.src, own));
	FAIL_UNLESS(stats(0).not_sent == 0);
	hold_all();
}

static void all_are_held(void *arg)
{
	(void)arg;
	nb_held = 0;
	FAIL_UNLESS(begin());
	FAIL_UNLESS(hold_all() > 1000);
	talk("10.0.0.7", "10.0.0.1");
	talk("fd00::7", "fd00::1");
	let_go(nb_held);
}

START_TEST(questions_are_asked_and_answered)
{
	start(NULL, _i);
	run(all_are_held, NULL);
}
END_TEST

/* More questions than there are buffers; they are filled up when there are others. */
static void many_questions(void *arg)
{
	struct haul_addr a = addr("10.0.0.100");
	struct haul_test_frame frame;
	uint8_t mac[6];
	unsigned n = 0;
	struct said s;

	(void)arg;
	nb_held = 0;
	FAIL_UNLESS(begin());
	FAIL_UNLESS(hold_all() > 1000);
	for (; n < RESERVE + 8; n++, a.bytes[3]++)
		FAIL_UNLESS(haul_host_neighbour(bed_host, 0, &a, mac, 0) == -EAGAIN);
	FAIL_UNLESS(pass(HAUL_MS));
	FAIL_UNLESS(stats(0).not_sent == 8);
	/* None answers; later questions find no buffer. */
	for (n = 0; haul_test_take(bed, 0, &frame, haul_in(10 * HAUL_S)) == 0; n++)
		held[nb_held++] = frame.pkt;
	FAIL_UNLESS(n == RESERVE);
	let_go(nb_held);
	FAIL_UNLESS(pass(2 * HAUL_S));
	FAIL_UNLESS(hold_all() > 1000);
	FAIL_UNLESS(haul_host_neighbour(bed_host, 0, &a, mac, 0) == -EAGAIN);
	FAIL_UNLESS(next(0, &s, haul_in(HAUL_MS)) && is_question(&s, "10.0.0.140"));
	let_go(nb_held);
}

START_TEST(a_reserve_is_bounded_and_filled_again)
{
	start(NULL, _i);
	run(many_questions, NULL);
}
END_TEST

SUITE_MAIN("a host without buffers", {questions_are_asked_and_answered, 2},
	{a_reserve_is_bounded_and_filled_again, 2})
