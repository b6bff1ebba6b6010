/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports of haul-dpdk/test.h: handlers in virtual time, compared with a sequential model. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_ether.h>

#include <haul-dpdk/test.h>
#include <haul/coro.h>
#include <haul/sync.h>

#include "base/random.h"
#include "support/suite.h"

#define LEN 64
#define MANY 400
#define CARRIERS 4
#define PORTS 3

static struct haul_test *t;
static char line[256];

/* What a frame carries, behind its Ethernet header. */
struct content {
	uint64_t delay; /* ns until the handler sends it; 0: it does not wait */
	uint32_t number;
	uint32_t end; /* enum end */
};

enum end { REPLY, PASS, DROP, ENDS };

static void start(haul_burst_fn *on_burst, haul_packet_fn *on_packet, unsigned ports,
	unsigned carriers, void *arg)
{
	const struct haul_io_opts io = {.on_burst = on_burst, .on_packet = on_packet, .arg = arg};
	const struct haul_test_opts opts = {.ports = ports, .carriers = carriers};

	ck_assert_msg(haul_test_start(&t, &io, &opts, line, sizeof(line)) == 0, "%s", line);
}

static void stop(void)
{
	ck_assert_msg(haul_test_stop(t, HAUL_FOREVER, line, sizeof(line)) == 0, "%s", line);
}

static struct content content_of(const struct rte_mbuf *pkt)
{
	struct content c;

	memcpy(&c, rte_pktmbuf_mtod_offset(pkt, const char *, RTE_ETHER_HDR_LEN), sizeof(c));
	return c;
}

static void feed(unsigned port, unsigned carrier, uint8_t flow, struct content c)
{
	unsigned char frame[LEN] = {[11] = flow, [12] = 0x88, [13] = 0xb5};

	memcpy(frame + RTE_ETHER_HDR_LEN, &c, sizeof(c));
	ASSERT_EACH(haul_test_feed(t, port, carrier, frame, sizeof(frame)) == 0);
}

static void end(struct haul_rx *rx, struct rte_mbuf *pkt, uint32_t how)
{
	if (how == REPLY)
		haul_send_or_drop(rx, rx->reply, pkt);
	else if (how == PASS)
		haul_send_or_drop(rx, rx->peer, pkt);
	else
		haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

static void serve(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct content c = content_of(pkt);
	char name[64];

	snprintf(name, sizeof(name), "port %u queue %u", rx->port, rx->queue);
	ASSERT_EACH(strcmp(haul_coro_name(haul_self()), name) == 0);
	if (c.delay > 0)
		haul_sleep(c.delay);
	end(rx, pkt, c.end);
}

static void serve_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		uint32_t how = content_of(pkts[i]).end;

		if (how == DROP)
			haul_drop(rx, &pkts[i], 1, HAUL_DROP_CONSUMED);
		else
			haul_tx_burst(how == REPLY ? rx->reply : rx->peer, &pkts[i], 1);
	}
}

/* Takes a frame and frees its packet. */
static struct content taken(unsigned port, struct haul_test_frame *frame)
{
	struct content c;

	ck_assert_int_eq(haul_test_take(t, port, frame, HAUL_FOREVER), 0);
	c = content_of(frame->pkt);
	rte_pktmbuf_free(frame->pkt);
	return c;
}

static void times_are_exact(void *arg)
{
	struct haul_test_frame frame;
	uint64_t began = haul_now();

	feed(0, HAUL_ANY, 1, (struct content){30 * HAUL_S, 7, REPLY});
	ck_assert_int_eq(haul_test_take(t, 0, &frame, 0), -EAGAIN);
	ck_assert_int_eq(haul_test_take(t, 0, &frame, haul_in(30 * HAUL_S - 1)), -ETIMEDOUT);
	ck_assert_uint_eq(haul_now(), began + 30 * HAUL_S);
	ck_assert_uint_eq(taken(0, &frame).number, 7);
	ck_assert_uint_eq(frame.at, began + 30 * HAUL_S);
	ck_assert_uint_eq(haul_now(), frame.at + 1);
	/* Of the instant of the deadline, too. */
	feed(0, HAUL_ANY, 1, (struct content){HAUL_S, 8, REPLY});
	ck_assert_int_eq(haul_test_take(t, HAUL_ANY, &frame, haul_in(HAUL_S)), 0);
	ck_assert_uint_eq(frame.at, began + 31 * HAUL_S + 1);
	rte_pktmbuf_free(frame.pkt);
	ck_assert_int_eq(haul_test_take(t, 0, &frame, haul_in(3600 * HAUL_S)), -ETIMEDOUT);
}

START_TEST(a_reply_has_the_exact_time_of_its_send)
{
	start(NULL, serve, 1, 1 + (unsigned)_i, NULL);
	ck_assert_int_eq(haul_test_run(t, times_are_exact, NULL), 0);
	stop();
}
END_TEST

static void pass_bursts(void *arg)
{
	struct haul_test_frame frame;

	for (uint32_t i = 0; i < 100; i++)
		feed(0, HAUL_ANY, 5, (struct content){0, i, PASS});
	feed(1, HAUL_ANY, 5, (struct content){0, 100, DROP});
	for (uint32_t i = 0; i < 100; i++) {
		ck_assert_uint_eq(taken(HAUL_ANY, &frame).number, i);
		ck_assert_uint_eq(frame.port, 1);
	}
	ck_assert_int_eq(haul_test_take(t, 0, &frame, haul_in(HAUL_S)), -ETIMEDOUT);
}

START_TEST(a_burst_handler_is_tested_alike)
{
	struct haul_io_stats st;

	start(serve_burst, NULL, 2, 2, NULL);
	ck_assert_int_eq(haul_test_run(t, pass_bursts, NULL), 0);
	haul_io_get_stats(haul_test_io(t), 0, HAUL_ALL, &st);
	ck_assert_uint_eq(st.rx_packets, 100);
	ck_assert_uint_eq(st.rx_bytes, 100 * LEN);
	haul_io_get_stats(haul_test_io(t), 1, HAUL_ALL, &st);
	ck_assert_uint_eq(st.tx_packets, 100);
	ck_assert_uint_eq(st.dropped[HAUL_DROP_CONSUMED], 1);
	stop();
}
END_TEST

/* Random frames, on random ports and carriers at random times. What is to be sent: */
struct expected {
	uint64_t at;
	unsigned port, carrier, number;
};

static int compare(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return x->carrier < y->carrier ? -1 : x->carrier > y->carrier;
}

static struct {
	uint64_t seed, began;
	unsigned n;
	struct expected all[MANY], got[MANY];
} r;

static void *feed_all(void *arg)
{
	struct hauli_random random;

	hauli_random_init(&random, r.seed);
	for (uint32_t i = 0; i < MANY; i++) {
		/* Coarse, so that many are sent in one instant. */
		uint64_t delay = hauli_random_below(&random, 20) * HAUL_S;
		unsigned port = hauli_random_below(&random, PORTS);
		unsigned carrier = hauli_random_below(&random, CARRIERS);
		uint32_t how = hauli_random_below(&random, ENDS);

		if (hauli_random_below(&random, 4) == 0)
			haul_sleep(hauli_random_below(&random, 5) * HAUL_S);
		feed(port, carrier, 0, (struct content){delay, i, how});
		if (how == DROP)
			continue;
		/* Of three ports the first two are peers, and the last one its own. */
		r.all[r.n++] = (struct expected){haul_now() - r.began + delay,
			how == REPLY || port == 2 ? port : port ^ 1, carrier, i};
	}
	return NULL;
}

static void compare_with_the_model(void *arg)
{
	struct haul_coro *feeder;
	struct haul_test_frame frame;

	r.began = haul_now();
	ck_assert_int_eq(haul_spawn(&feeder, feed_all, NULL, NULL), 0);
	haul_join(feeder, NULL, HAUL_FOREVER);
	qsort(r.all, r.n, sizeof(r.all[0]), compare);
	for (unsigned i = 0; i < r.n; i++) {
		unsigned number = taken(HAUL_ANY, &frame).number;

		r.got[i] = (struct expected){frame.at - r.began, frame.port, frame.carrier, number};
		ck_assert_msg(compare(&r.got[i], &r.all[i]) == 0,
			"seed %" PRIu64 ", frame %u: number %u on port %u, carrier %u, at %" PRIu64
			"; expected number %u on port %u, carrier %u, at %" PRIu64,
			r.seed, i, number, frame.port, frame.carrier, r.got[i].at, r.all[i].number,
			r.all[i].port, r.all[i].carrier, r.all[i].at);
	}
	ck_assert_int_eq(haul_test_take(t, HAUL_ANY, &frame, haul_in(3600 * HAUL_S)), -ETIMEDOUT);
}

static void run_seed(uint64_t seed)
{
	memset(&r, 0, sizeof(r));
	r.seed = seed;
	start(NULL, serve, PORTS, CARRIERS, NULL);
	ck_assert_int_eq(haul_test_run(t, compare_with_the_model, NULL), 0);
	stop();
}

START_TEST(random_frames_come_as_in_a_model_and_again_the_same)
{
	struct expected first[MANY];
	unsigned n;

	run_seed(1000 + (uint64_t)_i);
	memcpy(first, r.got, sizeof(first));
	n = r.n;
	run_seed(1000 + (uint64_t)_i);
	ck_assert_uint_eq(n, r.n);
	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(compare(&first[i], &r.got[i]), 0);
}
END_TEST

static struct rte_mbuf *kept;

static void keep_one(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	kept = pkt;
}

static void feed_one(void *arg)
{
	struct haul_test_frame frame;

	feed(0, HAUL_ANY, 0, (struct content){0});
	ck_assert_int_eq(haul_test_take(t, HAUL_ANY, &frame, haul_in(HAUL_S)), -ETIMEDOUT);
}

START_TEST(a_packet_that_leaks_is_an_error)
{
	start(NULL, keep_one, 1, 1, NULL);
	ck_assert_int_eq(haul_test_run(t, feed_one, NULL), 0);
	ck_assert_int_eq(haul_test_stop(t, 0, line, sizeof(line)), -EIO);
	ck_assert_msg(strstr(line, ": 1 of "), "%s", line);
}
END_TEST

static void leave_much_behind(void *arg)
{
	for (uint32_t i = 0; i < 50; i++)
		feed(0, HAUL_ANY, (uint8_t)i, (struct content){i % 5 * HAUL_S, i, i % ENDS});
	haul_sleep(2 * HAUL_S);
	for (uint32_t i = 0; i < 50; i++)
		feed(0, HAUL_ANY, (uint8_t)i, (struct content){HAUL_S, i, REPLY});
}

/* Handlers that wait, frames that nobody takes, frames that no handler has got. */
START_TEST(a_test_may_end_at_any_time)
{
	start(NULL, serve, 1, 1 + (unsigned)_i, NULL);
	ck_assert_int_eq(haul_test_run(t, leave_much_behind, NULL), 0);
	ck_assert_msg(
		haul_test_stop(t, (uint64_t)_i * HAUL_S, line, sizeof(line)) == 0, "%s", line);
}
END_TEST

/* More frames than the pool has buffers: all buffers are of use, and all come back. */
static void exhaust_the_pool(void *arg)
{
	const unsigned mbufs = *(const unsigned *)arg;
	const char bytes[LEN] = {0};
	struct haul_test_frame frame;

	for (unsigned again = 0; again < 2; again++) {
		for (unsigned i = 0; i < mbufs; i++)
			ck_assert_int_eq(haul_test_feed(t, 0, (int)(i % 2), bytes, LEN), 0);
		ck_assert_int_eq(haul_test_feed(t, 0, 0, bytes, LEN), -ENOMEM);
		for (unsigned i = 0; i < mbufs; i++) {
			ck_assert_int_eq(haul_test_take(t, 0, &frame, HAUL_FOREVER), 0);
			rte_pktmbuf_free(frame.pkt);
		}
	}
}

static void reply(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	haul_send_or_drop(rx, rx->reply, pkt);
}

START_TEST(a_pool_may_be_small)
{
	static const unsigned sizes[] = {1, 40, 256, 383, 384, 1000};
	const struct haul_io_opts io = {.on_packet = reply};
	unsigned mbufs = sizes[_i];
	const struct haul_test_opts opts = {.carriers = 2, .mbufs = mbufs};

	ck_assert_msg(haul_test_start(&t, &io, &opts, line, sizeof(line)) == 0, "%s", line);
	ck_assert_int_eq(haul_test_run(t, exhaust_the_pool, &mbufs), 0);
	stop();
}
END_TEST

static void feed_wrongly(void *arg)
{
	char frame[4096] = {0};

	ck_assert_int_eq(haul_test_feed(t, 1, HAUL_ANY, frame, 60), -EINVAL);
	ck_assert_int_eq(haul_test_feed(t, 0, 2, frame, 60), -EINVAL);
	ck_assert_int_eq(haul_test_feed(t, 0, HAUL_ANY, frame, 0), -EINVAL);
	ck_assert_int_eq(haul_test_feed(t, 0, HAUL_ANY, frame, sizeof(frame)), -EINVAL);
}

START_TEST(wrong_arguments_are_refused)
{
	const struct haul_io_opts none = {0}, io = {.on_packet = serve};
	struct haul_test *other;

	ck_assert_int_eq(haul_test_start(&t, &none, NULL, line, sizeof(line)), -EINVAL);
	ck_assert_msg(strstr(line, "no handler is given"), "%s", line);
	ck_assert_int_eq(
		haul_test_start(&t, &io, &(struct haul_test_opts){.ports = 17}, line, sizeof(line)),
		-EINVAL);
	start(NULL, serve, 1, 2, NULL);
	ck_assert_int_eq(haul_test_start(&other, &io, NULL, line, sizeof(line)), -EBUSY);
	ck_assert_int_eq(haul_test_run(t, feed_wrongly, NULL), 0);
	stop();
}
END_TEST

SUITE_MAIN("test_port", {a_reply_has_the_exact_time_of_its_send, 4},
	{a_burst_handler_is_tested_alike, 1},
	{random_frames_come_as_in_a_model_and_again_the_same, 8},
	{a_packet_that_leaks_is_an_error, 1}, {a_test_may_end_at_any_time, 4},
	{a_pool_may_be_small, 6}, {wrong_arguments_are_refused, 1})
