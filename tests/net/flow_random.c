/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random programs over flows, in virtual time: others send to ports with and without a listener, on
 * all carriers; the listeners' functions receive, send, select, open flows of their own, sleep and
 * return; ICMP errors come; flows are idle; the host stops and starts. Each packet is received once
 * at most, and all are in the counters; each buffer comes back. HAUL_TEST_SEED: only that one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_udp.h>

#include "base/random.h"
#include "flow_bed.h"

#define STEPS 300
#define PACKETS_MAX (STEPS * 8)
#define CLIENTS 30u
#define FIRST_PORT 100 /* of listeners */
#define LISTENERS 3
#define SEEDS 40

static char line[256];
static uint64_t seed;
static struct hauli_random main_random, network_random; /* of carrier 0 */
static uint8_t seen[PACKETS_MAX];
static uint32_t nb_fed, nb_icmp;
static unsigned doubles, received;
static uint64_t counted; /* of earlier starts */
static bool stopped; /* packets in the channels of hand-overs are not in the counters */

static unsigned below(struct hauli_random *r, unsigned n)
{
	return hauli_random_below(r, n);
}

static void receive(struct rte_mbuf *m)
{
	uint32_t id;

	memcpy(&id, rte_pktmbuf_mtod(m, void *), sizeof(id));
	if (id >= PACKETS_MAX || __atomic_fetch_add(&seen[id], 1, __ATOMIC_RELAXED))
		__atomic_add_fetch(&doubles, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&received, 1, __ATOMIC_RELAXED);
}

static struct rte_mbuf *payload(void)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(haul_test_pool(flow_test));

	if (m)
		memset(rte_pktmbuf_append(m, 12), 0xff, 12);
	return m;
}

static uint64_t soon(struct hauli_random *r)
{
	static const uint64_t most[] = {0, HAUL_US, 5 * HAUL_MS, 20 * HAUL_S};
	uint64_t ns = most[below(r, 4)];

	return ns ? haul_in(1 + hauli_random_next(r) % ns) : 0;
}

static bool is_end(int err)
{
	return err == -EPIPE || err == -ECANCELED;
}

static int send(struct hauli_random *r, struct haul_flow *flow, struct rte_mbuf *m)
{
	int err = m ? haul_flow_send(flow, m, soon(r)) : 0;

	if (err)
		rte_pktmbuf_free(m);
	return err;
}

static int step_recv(struct hauli_random *r, struct haul_flow *flow)
{
	struct rte_mbuf *m;
	int err = haul_flow_recv(flow, &m, soon(r));

	if (err)
		return err;
	receive(m);
	if (below(r, 2))
		return send(r, flow, m);
	rte_pktmbuf_free(m);
	return 0;
}

/* In both directions. */
static int step_select(struct hauli_random *r, struct haul_flow *flow)
{
	struct rte_mbuf *out = payload(), *in = NULL;
	struct haul_case cases[] = {haul_case_flow_recv(flow, &in), {0}};
	int i, err;

	if (out)
		cases[1] = haul_case_flow_send(flow, out);
	i = haul_select(cases, 2, soon(r));
	err = i < 0 ? i : cases[i].err;
	if (i != 1 || err)
		rte_pktmbuf_free(out);
	if (i != 0 || err)
		return err;
	if (!in)
		return haul_flow_error(flow);
	receive(in);
	rte_pktmbuf_free(in);
	return 0;
}

static int step_open(struct hauli_random *r)
{
	struct haul_flow *flow;
	struct rte_mbuf *m;
	int err = flow_open(&flow, below(r, 8) ? flow_peers[below(r, 2)] : "10.0.0.250", NULL);

	if (err)
		return err;
	err = send(r, flow, payload());
	if (!err && haul_flow_recv(flow, &m, soon(r)) == 0)
		rte_pktmbuf_free(m);
	haul_flow_close(flow);
	return err;
}

static void *close_it(void *flow)
{
	haul_flow_close(flow);
	return NULL;
}

static void function(struct haul_flow *flow, void *arg)
{
	struct hauli_random r;
	int err = 0;

	hauli_random_init(&r, seed ^ (uint64_t)haul_flow_peer_port(flow) << 32 ^ haul_now());
	if (arg != &seen || haul_flow_port(flow) < FIRST_PORT)
		flow_wrong = "a function is not what it should be";
	for (unsigned steps = below(&r, 40); steps > 0 && !is_end(err); steps--) {
		switch (below(&r, 8)) {
		case 0:
			err = step_select(&r, flow);
			break;
		case 1:
			err = step_open(&r);
			break;
		case 2:
			err = haul_sleep(below(&r, 3) * HAUL_MS); /* virtual time */
			break;
		default:
			err = step_recv(&r, flow);
			break;
		}
	}
	/* By another carrier. */
	if (below(&r, 4) ||
		haul_spawn_on(haul_carrier(haul_test_runtime(flow_test), below(&r, CARRIERS)), NULL,
			close_it, flow, NULL))
		haul_flow_close(flow);
}

static void on_datagram(struct rte_mbuf *m, const struct haul_pkt *pkt)
{
	struct hauli_random *r = &network_random;

	(void)pkt;
	if (below(r, 8)) {
		rte_pktmbuf_free(m);
	} else {
		nb_icmp++;
		flow_icmp(m, REFUSED + below(r, 3), below(r, CARRIERS));
	}
}

static void feed(struct hauli_random *r)
{
	for (unsigned n = 1 + below(r, 8); n > 0; n--) {
		unsigned client = below(r, CLIENTS), carrier = below(r, CARRIERS + 1);
		struct haul_addr from = flow_addr(flow_peers[client % 2]);
		uint32_t id[3] = {nb_fed};

		if (flow_begin(&from, (uint16_t)(2000 + client),
			    (uint16_t)(FIRST_PORT + below(r, LISTENERS + 1)), id, sizeof(id),
			    carrier < CARRIERS ? carrier : HAUL_ANY) == 0)
			nb_fed++;
	}
}

static int listen_all(struct hauli_random *r)
{
	int err = 0;

	for (uint16_t i = 0; i < LISTENERS && !err; i++) {
		const struct haul_listen_opts opts = {.flows_max = 1 + below(r, 12),
			.flow.mailbox = 1 + below(r, 4),
			.flow.idle_ns = (1 + below(r, 30)) * HAUL_S};

		err = haul_flow_listen(flow_host, FIRST_PORT + i, function, &seen, &opts);
	}
	return err;
}

static uint64_t count(void)
{
	struct haul_flow_stats st = flow_stats();

	return st.received + st.errors + st.strangers + st.full + st.refused + st.lost;
}

static void restart(struct hauli_random *r)
{
	stopped = true;
	haul_host_stop(flow_host);
	counted += count();
	if (below(r, 2))
		feed(r);
	FAIL_UNLESS(haul_sleep(below(r, 2) * HAUL_S) == 0);
	FAIL_UNLESS(haul_host_start(flow_host, haul_test_io(flow_test), line, sizeof(line)) == 0);
	FAIL_UNLESS(listen_all(r) == 0);
}

static void run(void)
{
	struct hauli_random *r = &main_random;
	uint64_t all;

	FAIL_UNLESS(listen_all(r) == 0);
	for (unsigned i = 0; i < STEPS; i++) {
		feed(r);
		switch (below(r, 100)) {
		case 0:
			FAIL_UNLESS(haul_sleep(40 * HAUL_S) == 0);
			break;
		case 1:
			if (seed % 2)
				restart(r);
			break;
		default:
			FAIL_UNLESS(haul_sleep(below(r, 3) * below(r, 2000) * HAUL_US) == 0);
			break;
		}
	}
	FAIL_UNLESS(haul_sleep(3600 * HAUL_S) == 0);
	all = counted + count() + flow_left;
	if (doubles || all > nb_fed + nb_icmp || (!stopped && all != nb_fed + nb_icmp))
		fprintf(stderr, "fed %u, ICMP %u, counted %lu, doubles %u\n", nb_fed, nb_icmp, all,
			doubles);
	if (getenv("HAUL_TEST_SEED")) {
		struct haul_flow_stats st = flow_stats();

		printf("# fed %u, received %u, ICMP %u, errors %lu, accepted %lu, evicted %lu, "
		       "refused %lu, full %lu, strangers %lu, idle %lu, handed over %lu\n",
			nb_fed, received, nb_icmp, st.errors, st.accepted, st.evicted, st.refused,
			st.full, st.strangers, st.idle, st.handed_over);
	}
	FAIL_UNLESS(doubles == 0);
	FAIL_UNLESS(all <= nb_fed + nb_icmp);
	FAIL_UNLESS(stopped || all == nb_fed + nb_icmp);
	FAIL_UNLESS(flow_stats().open == 0);
	FAIL_UNLESS(received > nb_fed / 8);
}

START_TEST(random_programs_lose_nothing)
{
	const char *wished = getenv("HAUL_TEST_SEED");

	if (wished && strtoull(wished, NULL, 0) != (uint64_t)_i + 1)
		return;
	seed = (uint64_t)_i + 1;
	hauli_random_init(&main_random, seed);
	hauli_random_init(&network_random, seed + 1000);
	memset(seen, 0, sizeof(seen));
	nb_fed = nb_icmp = doubles = received = flow_left = 0;
	counted = 0;
	stopped = false;
	flow_on_datagram = on_datagram;
	flow_run(run, seed % 4 < 2);
}
END_TEST

SUITE_MAIN("flow_random", {random_programs_lose_nothing, SEEDS})
