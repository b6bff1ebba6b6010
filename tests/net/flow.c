/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows on ports of a test, in virtual time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "flow_bed.h"

static char line[256];

/* On each carrier, replies come to each carrier. */
static void *ask_all_ways(void *arg)
{
	const char *to = arg;
	struct haul_flow *flow;

	for (uint32_t c = 0; c < CARRIERS; c++) {
		if (flow_open(&flow, to, NULL) ||
			haul_flow_port(flow) % CARRIERS != haul_carrier_id(haul_carrier_self()) ||
			flow_say(flow, (struct order){.number = c, .carrier = c}) ||
			flow_number(flow, haul_in(HAUL_S)) != (int)c ||
			flow_number(flow, haul_in(HAUL_S)) != -ETIMEDOUT)
			return "a reply did not come as it should";
		haul_flow_close(flow);
	}
	return NULL;
}

static void all_ways(void)
{
	struct haul_flow_stats st;
	void *why;

	for (unsigned v = 0; v < 2; v++) {
		for (unsigned c = 0; c < CARRIERS; c++) {
			struct haul_carrier *on = haul_carrier(haul_test_runtime(flow_test), c);
			struct haul_coro *co;

			FAIL_UNLESS(haul_spawn_on(on, &co, ask_all_ways,
					    (void *)(uintptr_t)flow_peers[v], NULL) == 0);
			haul_join(co, &why, HAUL_FOREVER);
			FAIL_UNLESS(!why);
		}
	}
	st = flow_stats();
	FAIL_UNLESS(st.received == 2 * CARRIERS * CARRIERS);
	FAIL_UNLESS(st.handed_over == 2 * CARRIERS * (CARRIERS - 1));
	FAIL_UNLESS(st.open == 0 && st.opened == 2 * CARRIERS * CARRIERS);
	FAIL_UNLESS(st.full + st.strangers + st.lost + st.errors + st.idle == 0);
}

START_TEST(replies_come_to_the_flow_on_whatever_carrier)
{
	flow_run(all_ways, _i);
}
END_TEST

static void full(void)
{
	const struct haul_flow_opts opts = {.mailbox = 4};
	struct haul_flow *flow;

	FAIL_UNLESS(flow_open(&flow, flow_peers[0], &opts) == 0);
	FAIL_UNLESS(flow_say(flow,
			    (struct order){.times = 100, .number = 9, .carrier = HAUL_ANY}) == 0);
	FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
	for (unsigned i = 0; i < 4; i++)
		FAIL_UNLESS(flow_number(flow, 0) == 9);
	FAIL_UNLESS(flow_number(flow, 0) == -EAGAIN);
	FAIL_UNLESS(flow_stats().full == 96 && flow_stats().received == 4);
	/* With packets that nobody receives. */
	FAIL_UNLESS(flow_say(flow, (struct order){.times = 3, .carrier = 1}) == 0);
	FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
	/* A reply to a flow that is closed, when no other has its port, is the handler's. */
	FAIL_UNLESS(flow_say(flow, (struct order){.delay = HAUL_S, .carrier = 0}) == 0);
	haul_flow_close(flow);
	FAIL_UNLESS(haul_sleep(2 * HAUL_S) == 0);
	FAIL_UNLESS(flow_stats().open == 0 && flow_stats().strangers == 0);
}

START_TEST(a_mailbox_is_bounded)
{
	flow_run(full, _i);
}
END_TEST

static void forged(void)
{
	struct haul_flow *flow;

	for (unsigned v = 0; v < 2; v++) {
		for (uint32_t c = 0; c < CARRIERS; c++) {
			struct haul_flow_stats before = flow_stats();

			FAIL_UNLESS(flow_open(&flow, flow_peers[v], NULL) == 0);
			FAIL_UNLESS(
				flow_say(flow,
					(struct order){
						.what = FORGED, .number = 5, .carrier = c}) == 0);
			FAIL_UNLESS(flow_number(flow, haul_in(HAUL_S)) == 5);
			FAIL_UNLESS(flow_number(flow, haul_in(HAUL_S)) == -ETIMEDOUT);
			/* To another port: the handler's, as no flow has it. */
			FAIL_UNLESS(flow_stats().strangers == before.strangers + 2);
			haul_flow_close(flow);
		}
	}
}

START_TEST(only_the_other_end_is_heard)
{
	flow_run(forged, _i);
}
END_TEST

static void icmp_errors(void)
{
	static const int errors[] = {-ECONNREFUSED, -EHOSTUNREACH, -EMSGSIZE};
	struct haul_flow *flow;
	struct rte_mbuf *pkt = NULL;

	for (unsigned v = 0; v < 2; v++) {
		FAIL_UNLESS(flow_open(&flow, flow_peers[v], NULL) == 0);
		for (uint32_t i = 0; i < 3 * CARRIERS; i++) {
			FAIL_UNLESS(flow_say(flow,
					    (struct order){.what = REFUSED + i % 3,
						    .delay = i % 2 * HAUL_MS,
						    .carrier = i / 3}) == 0);
			FAIL_UNLESS(flow_number(flow, haul_in(HAUL_S)) == errors[i % 3]);
			FAIL_UNLESS(flow_number(flow, haul_in(HAUL_S)) == -ETIMEDOUT);
		}
		FAIL_UNLESS(flow_say(flow, (struct order){.what = EXCEEDED}) == 0);
		FAIL_UNLESS(flow_number(flow, haul_in(HAUL_S)) == -EHOSTUNREACH);
		FAIL_UNLESS(flow_say(flow, (struct order){.what = CUT, .carrier = 0}) == 0);
		FAIL_UNLESS(flow_number(flow, haul_in(HAUL_S)) == -ETIMEDOUT);
		/* Between two replies, and as a case of a select; two at a time are one. */
		FAIL_UNLESS(flow_say(flow, (struct order){.number = 1}) == 0);
		FAIL_UNLESS(flow_say(flow, (struct order){.what = REFUSED}) == 0);
		FAIL_UNLESS(flow_say(flow, (struct order){.what = REFUSED}) == 0);
		FAIL_UNLESS(flow_say(flow, (struct order){.number = 2}) == 0);
		FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
		FAIL_UNLESS(flow_number(flow, haul_in(HAUL_S)) == 1);
		{
			struct haul_case cs = haul_case_flow_recv(flow, &pkt);

			FAIL_UNLESS(haul_select(&cs, 1, haul_in(HAUL_S)) == 0);
			FAIL_UNLESS(cs.err == 0 && pkt == NULL);
			FAIL_UNLESS(haul_flow_error(flow) == -ECONNREFUSED);
			FAIL_UNLESS(haul_flow_error(flow) == 0);
		}
		FAIL_UNLESS(flow_number(flow, haul_in(HAUL_S)) == 2);
		FAIL_UNLESS(flow_number(flow, haul_in(HAUL_S)) == -ETIMEDOUT);
		haul_flow_close(flow);
		FAIL_UNLESS(flow_stats().errors == (3 * CARRIERS + 3) * (v + 1));
	}
}

START_TEST(icmp_errors_reach_the_flow_that_they_are_about)
{
	flow_run(icmp_errors, _i);
}
END_TEST

static void idle(void)
{
	const struct haul_flow_opts opts = {.idle_ns = 80 * HAUL_S},
				    shorter = {.idle_ns = 8 * HAUL_S};
	struct haul_flow *a, *b, *c;
	struct rte_mbuf *pkt;
	uint64_t began = haul_now();
	struct haul_case cases[2];

	/* Alone: nothing else wakes the carrier. */
	FAIL_UNLESS(flow_open(&a, flow_peers[0], &opts) == 0);
	FAIL_UNLESS(flow_open(&b, flow_peers[0], &shorter) == 0);
	FAIL_UNLESS(flow_number(b, HAUL_FOREVER) == -EPIPE);
	FAIL_UNLESS(haul_now() >= began + 8 * HAUL_S && haul_now() <= began + 9 * HAUL_S);
	haul_flow_close(a);
	haul_flow_close(b);

	began = haul_now();
	FAIL_UNLESS(flow_open(&a, flow_peers[0], &opts) == 0);
	FAIL_UNLESS(flow_open(&b, flow_peers[0], &shorter) == 0);
	FAIL_UNLESS(flow_open(&c, flow_peers[0], NULL) == 0);
	/* What is received and what is sent keep it. */
	for (unsigned i = 0; i < 5; i++) {
		FAIL_UNLESS(haul_sleep(7 * HAUL_S) == 0);
		FAIL_UNLESS(flow_say(b, (struct order){.what = NOTHING}) == 0);
	}
	FAIL_UNLESS(
		flow_say(b, (struct order){.number = 3, .delay = 5 * HAUL_S, .carrier = 2}) == 0);
	FAIL_UNLESS(flow_number(b, HAUL_FOREVER) == 3);
	FAIL_UNLESS(haul_now() >= began + 40 * HAUL_S && haul_now() < began + 41 * HAUL_S);
	cases[0] = haul_case_flow_recv(b, &pkt);
	cases[1] = haul_case_flow_recv(a, &pkt);
	FAIL_UNLESS(haul_select(cases, 2, HAUL_FOREVER) == 0);
	FAIL_UNLESS(cases[0].err == -EPIPE);
	FAIL_UNLESS(haul_now() >= began + 48 * HAUL_S && haul_now() <= began + 50 * HAUL_S);
	FAIL_UNLESS(flow_number(b, HAUL_FOREVER) == -EPIPE);
	FAIL_UNLESS(flow_number(a, HAUL_FOREVER) == -EPIPE);
	FAIL_UNLESS(haul_now() >= began + 80 * HAUL_S && haul_now() <= began + 91 * HAUL_S);
	FAIL_UNLESS(flow_number(c, haul_in(3600 * HAUL_S)) == -ETIMEDOUT);
	FAIL_UNLESS(flow_stats().idle == 3 && flow_stats().open == 3);
	haul_flow_close(a);
	haul_flow_close(b);
	haul_flow_close(c);
}

START_TEST(an_idle_flow_ends)
{
	flow_run(idle, _i);
}
END_TEST

/* Requests. */

static void requests(void)
{
	struct order o = {.number = 4, .carrier = 1}, got;
	struct haul_request_opts opts = {.tries = 4, .first_ns = HAUL_S};
	struct haul_addr to;
	uint64_t began;

	for (unsigned v = 0; v < 2; v++) {
		to = flow_addr(flow_peers[v]);
		memset(&got, 0, sizeof(got));
		FAIL_UNLESS(haul_request(flow_host, &to, SERVER, &o, sizeof(o), &got, sizeof(got),
				    NULL, HAUL_FOREVER) == sizeof(o));
		FAIL_UNLESS(got.number == 4);
		/* Cut; with no room at all. */
		memset(&got, 0, sizeof(got));
		FAIL_UNLESS(haul_request(flow_host, &to, SERVER, &o, sizeof(o), &got, 12, NULL,
				    HAUL_FOREVER) == sizeof(o));
		FAIL_UNLESS(got.what == REPLY && got.number == 0);
		FAIL_UNLESS(haul_request(flow_host, &to, SERVER, &o, sizeof(o), NULL, 0, NULL,
				    HAUL_FOREVER) == sizeof(o));
		/* 1 + 2 + 4 + 8 s. */
		o.what = NOTHING;
		began = haul_now();
		FAIL_UNLESS(haul_request(flow_host, &to, SERVER, &o, sizeof(o), &got, sizeof(got),
				    &opts, HAUL_FOREVER) == -ETIMEDOUT);
		FAIL_UNLESS(haul_now() == began + 15 * HAUL_S);
		began = haul_now();
		FAIL_UNLESS(haul_request(flow_host, &to, SERVER, &o, sizeof(o), &got, sizeof(got),
				    &opts, haul_in(5 * HAUL_S)) == -ETIMEDOUT);
		FAIL_UNLESS(haul_now() == began + 5 * HAUL_S);
		/* The reply to the first try comes during the third one. */
		o.what = REPLY;
		o.delay = 4 * HAUL_S;
		began = haul_now();
		FAIL_UNLESS(haul_request(flow_host, &to, SERVER, &o, sizeof(o), &got, sizeof(got),
				    &opts, HAUL_FOREVER) == sizeof(o));
		FAIL_UNLESS(haul_now() < began + 5 * HAUL_S);
		o.delay = 0;
		o.what = REFUSED;
		FAIL_UNLESS(haul_request(flow_host, &to, SERVER, &o, sizeof(o), &got, sizeof(got),
				    &opts, HAUL_FOREVER) == -ECONNREFUSED);
		o.what = REPLY;
	}
	to = flow_addr("10.0.0.250");
	FAIL_UNLESS(haul_request(flow_host, &to, SERVER, &o, sizeof(o), &got, sizeof(got),
			    &(struct haul_request_opts){.first_ns = 60 * HAUL_S},
			    HAUL_FOREVER) == -EHOSTUNREACH);
	to = flow_addr("192.0.2.1");
	FAIL_UNLESS(haul_request(flow_host, &to, SERVER, &o, sizeof(o), &got, sizeof(got), NULL,
			    HAUL_FOREVER) == -ENETUNREACH);
	FAIL_UNLESS(flow_stats().open == 0);
}

START_TEST(a_request_is_one_call)
{
	flow_run(requests, _i);
}
END_TEST

static void pings(void)
{
	struct haul_addr to;
	uint64_t ns = 0, began;

	for (unsigned v = 0; v < 2; v++) {
		to = flow_addr(flow_peers[v]);
		FAIL_UNLESS(haul_ping(flow_host, &to, &ns, haul_in(HAUL_S)) == 0);
		FAIL_UNLESS(ns < HAUL_MS);
	}
	to = flow_addr("10.0.0.250");
	FAIL_UNLESS(haul_ping(flow_host, &to, &ns, HAUL_FOREVER) == -EHOSTUNREACH);
	began = haul_now();
	FAIL_UNLESS(haul_ping(flow_host, &to, &ns, haul_in(HAUL_MS)) != 0);
	FAIL_UNLESS(haul_now() <= began + HAUL_MS);
}

START_TEST(a_ping_is_one_call)
{
	flow_run(pings, _i);
}
END_TEST

static void traces(void)
{
	static const char *const prefixes[] = {"10.0.0.", "fd00::"};
	struct haul_addr to, router;
	struct haul_hop hops[10];
	char text[32];

	for (unsigned v = 0; v < 2; v++) {
		snprintf(text, sizeof(text), v ? "%s%x" : "%s%u", prefixes[v], FAR);
		to = flow_addr(text);
		FAIL_UNLESS(haul_traceroute(flow_host, &to, hops, 10, HAUL_FOREVER) == FAR_HOPS);
		for (unsigned i = 0; i < FAR_HOPS; i++) {
			snprintf(text, sizeof(text), v ? "%s%x" : "%s%u", prefixes[v], 201 + i);
			router = i + 1 == FAR_HOPS ? to : flow_addr(text);
			FAIL_UNLESS(i == 2 ? hops[i].addr.version == 0
					   : haul_addr_equal(&hops[i].addr, &router));
		}
		FAIL_UNLESS(haul_traceroute(flow_host, &to, hops, 2, HAUL_FOREVER) == 2);
		FAIL_UNLESS(
			haul_traceroute(flow_host, &to, hops, 10, haul_in(HAUL_S)) == -ETIMEDOUT);
		to = flow_addr(flow_peers[v]);
		FAIL_UNLESS(haul_traceroute(flow_host, &to, hops, 10, HAUL_FOREVER) == 1);
		FAIL_UNLESS(haul_addr_equal(&hops[0].addr, &to));
	}
	FAIL_UNLESS(haul_traceroute(flow_host, &to, hops, 0, HAUL_FOREVER) == -EINVAL);
	to = flow_addr("10.0.0.250");
	FAIL_UNLESS(haul_traceroute(flow_host, &to, hops, 10, HAUL_FOREVER) == -EHOSTUNREACH);
	FAIL_UNLESS(flow_stats().open == 0);
}

START_TEST(a_traceroute_is_one_call)
{
	flow_run(traces, _i);
}
END_TEST

/* Ends of waits. */

static void *wait_for_ever(void *flow)
{
	return (void *)(intptr_t)flow_number(flow, HAUL_FOREVER);
}

static void ends(void)
{
	struct haul_flow *flow;
	struct haul_coro *co;
	void *result;

	FAIL_UNLESS(flow_open(&flow, flow_peers[0], NULL) == 0);
	for (unsigned c = 0; c < CARRIERS; c++) {
		FAIL_UNLESS(haul_spawn_on(haul_carrier(haul_test_runtime(flow_test), c), &co,
				    wait_for_ever, flow, NULL) == 0);
		FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
		haul_cancel(co);
		haul_join(co, &result, HAUL_FOREVER);
		FAIL_UNLESS((intptr_t)result == -ECANCELED);
	}
	{
		HAUL_SCOPE(s, haul_in(3 * HAUL_S), HAUL_SCOPE_ALL);

		FAIL_UNLESS(flow_number(flow, HAUL_FOREVER) == -ETIMEDOUT);
	}
	FAIL_UNLESS(haul_spawn_on(haul_carrier(haul_test_runtime(flow_test), 2), &co, wait_for_ever,
			    flow, NULL) == 0);
	FAIL_UNLESS(
		flow_say(flow, (struct order){.number = 8, .delay = HAUL_S, .carrier = 1}) == 0);
	haul_join(co, &result, HAUL_FOREVER);
	FAIL_UNLESS((intptr_t)result == 8);
	/* The stop. */
	FAIL_UNLESS(haul_spawn_on(haul_carrier(haul_test_runtime(flow_test), 1), &co, wait_for_ever,
			    flow, NULL) == 0);
	FAIL_UNLESS(flow_say(flow, (struct order){.delay = 2 * HAUL_S, .carrier = 1}) == 0);
	FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
	haul_host_stop(flow_host);
	haul_join(co, &result, HAUL_FOREVER);
	FAIL_UNLESS((intptr_t)result == -ECANCELED);
	FAIL_UNLESS(flow_say(flow, (struct order){0}) == -ECANCELED);
	{
		struct haul_flow *other;

		FAIL_UNLESS(flow_open(&other, flow_peers[0], NULL) == -ECANCELED);
	}
	FAIL_UNLESS(haul_sleep(3 * HAUL_S) == 0);
	haul_flow_close(flow);
	/* Another start begins anew. */
	FAIL_UNLESS(haul_host_start(flow_host, haul_test_io(flow_test), line, sizeof(line)) == 0);
	FAIL_UNLESS(flow_open(&flow, flow_peers[0], NULL) == 0);
	FAIL_UNLESS(flow_say(flow, (struct order){.number = 6, .carrier = 2}) == 0);
	FAIL_UNLESS(flow_number(flow, haul_in(HAUL_S)) == 6);
	/* Closed by haul_host_free(), if at all: what the stop leaves is freed. */
	FAIL_UNLESS(flow_say(flow, (struct order){.times = 3, .carrier = 2}) == 0);
	FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
	haul_flow_close(flow);
}

START_TEST(waits_end_by_cancels_scopes_and_the_stop)
{
	flow_run(ends, _i);
}
END_TEST

static void reserved(void)
{
	struct haul_flow *flow;
	struct haul_flow_stats st;

	/* All but a few: those are what flows get. */
	for (unsigned p = 1024; p < 65536; p++)
		if (p % 8192 != 0)
			FAIL_UNLESS(haul_flow_reserve(flow_host, (uint16_t)p) == 0);
	for (unsigned i = 0; i < 2; i++) {
		/* Of carrier 0: 24576 and 49152. */
		FAIL_UNLESS(flow_open(&flow, flow_peers[0], NULL) == 0);
		FAIL_UNLESS(haul_flow_port(flow) == 24576 || haul_flow_port(flow) == 49152);
		FAIL_UNLESS(haul_flow_reserve(flow_host, haul_flow_port(flow)) == -EBUSY);
	}
	FAIL_UNLESS(flow_open(&flow, flow_peers[0], NULL) == -EADDRINUSE);
	haul_flow_get_stats(flow_host, 0, &st);
	FAIL_UNLESS(st.open == 2);
}

START_TEST(reserved_ports_are_the_programs)
{
	flow_run(reserved, _i);
}
END_TEST

/* Random flows of all carriers, which are closed by others, too. */

#define FLOWS 60
#define STEPS 12

static struct {
	struct hauli_random random;
	struct haul_flow *given[FLOWS]; /* to be closed by another */
	struct haul_mutex lock;
	unsigned nb_given, expected, got;
} r;

static unsigned below(unsigned n)
{
	return hauli_random_below(&r.random, n);
}

struct plan {
	unsigned version, steps;
	bool gives;
	struct haul_flow_opts opts;
	struct order orders[STEPS];
	uint64_t patience[STEPS]; /* ns */
};

/* One question at a time, so that what comes, and when, is known. */
static const char *follow(struct haul_flow *flow, const struct plan *p, unsigned i)
{
	static const int errors[WHATS] = {
		[REFUSED] = -ECONNREFUSED, [UNREACHABLE] = -EHOSTUNREACH, [TOO_BIG] = -EMSGSIZE};
	const struct order *o = &p->orders[i];
	uint64_t began;
	int got, expected = errors[o->what] ? errors[o->what] : (int)o->number;

	if (flow_say(flow, *o))
		return "a question was not sent";
	began = haul_now();
	got = flow_number(flow, haul_in(p->patience[i]));
	if (o->what == NOTHING || o->what == CUT || o->delay > p->patience[i]) {
		if (got != -ETIMEDOUT || haul_now() != began + p->patience[i])
			return "a wait did not end at its deadline";
		if (o->what == NOTHING || o->what == CUT)
			return NULL;
		got = flow_number(flow, HAUL_FOREVER);
	}
	if (got != expected)
		return "another reply came";
	if (haul_now() > began + o->delay + HAUL_MS)
		return "a reply came late";
	if (o->what == TWICE && flow_number(flow, HAUL_FOREVER) != expected)
		return "the second reply did not come";
	return flow_number(flow, haul_in(HAUL_MS)) == -ETIMEDOUT ? NULL : "more came";
}

static void *follow_all(void *arg)
{
	const struct plan *p = arg;
	struct haul_flow *flow;
	const char *why = NULL;

	if (flow_open(&flow, flow_peers[p->version], &p->opts))
		return "no flow";
	for (unsigned i = 0; !why && i < p->steps; i++)
		why = follow(flow, p, i);
	if (p->gives) {
		haul_mutex_lock(&r.lock);
		r.given[r.nb_given++] = flow;
		haul_mutex_unlock(&r.lock);
	} else {
		haul_flow_close(flow);
	}
	return (void *)(uintptr_t)why;
}

static void make_plan(struct plan *p)
{
	memset(p, 0, sizeof(*p));
	p->version = below(2);
	p->steps = below(STEPS);
	p->gives = below(3) == 0;
	p->opts = (struct haul_flow_opts){.mailbox = 2 + below(20),
		.idle_ns = below(2) ? 3600 * HAUL_S : 0,
		.hops = (uint8_t)below(256)};
	for (unsigned i = 0; i < p->steps; i++) {
		p->orders[i] = (struct order){.delay = below(3) * below(20) * HAUL_MS,
			.what = below(WHATS),
			.number = below(1 << 20),
			.carrier = below(CARRIERS + 1)};
		if (p->orders[i].carrier == CARRIERS)
			p->orders[i].carrier = HAUL_ANY;
		p->patience[i] = (1 + below(40)) * HAUL_MS + 500000;
	}
}

static void random_flows(void)
{
	static struct plan plans[FLOWS];
	struct haul_coro *cos[FLOWS];
	void *why, *first = NULL;

	r.nb_given = 0;
	for (unsigned i = 0; i < FLOWS; i++) {
		make_plan(&plans[i]);
		FAIL_UNLESS(
			haul_spawn_on(haul_carrier(haul_test_runtime(flow_test), below(CARRIERS)),
				&cos[i], follow_all, &plans[i], NULL) == 0);
	}
	for (unsigned i = 0; i < FLOWS; i++) {
		haul_join(cos[i], &why, HAUL_FOREVER);
		first = first ? first : why;
	}
	if (first)
		fprintf(stderr, "%s\n", (const char *)first);
	FAIL_UNLESS(!first);
	for (unsigned i = 0; i < r.nb_given; i++)
		haul_flow_close(r.given[i]);
	FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
	FAIL_UNLESS(flow_stats().open == 0 && flow_stats().full == 0 && flow_stats().lost == 0);
}

START_TEST(random_flows_get_what_they_ask_for)
{
	hauli_random_init(&r.random, 1 + (uint64_t)_i);
	flow_run(random_flows, _i % 2);
}
END_TEST

SUITE_MAIN("flow", {replies_come_to_the_flow_on_whatever_carrier, 2}, {a_mailbox_is_bounded, 2},
	{only_the_other_end_is_heard, 2}, {icmp_errors_reach_the_flow_that_they_are_about, 2},
	{an_idle_flow_ends, 2}, {a_request_is_one_call, 2}, {a_ping_is_one_call, 2},
	{a_traceroute_is_one_call, 2}, {waits_end_by_cancels_scopes_and_the_stop, 2},
	{reserved_ports_are_the_programs, 2}, {random_flows_get_what_they_ask_for, 20})
