/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does stealing gain if one of two queues gets nine tenths of the packets, and what does it
 * cost if both get the same number? And which way uses two carriers best if a port has one queue:
 * stealing, or passing packets on by their flow? One operation is a packet; its handler computes
 * for a given time and sends it back.
 *
 * In paced cases the time is not per operation: it is the run's 99th percentile of packet latency.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <haul-dpdk/eal.h>
#include <haul-dpdk/io.h>
#include <haul-dpdk/pool.h>
#include <haul/haul.h>

#include "bench/skew-wire.h"
#include "harness/eal.h"
#include "harness/harness.h"

#define CARRIERS 2
#define CIRCLING 256 /* packets, if they are not paced */
#define PACED 4096 /* the most packets, if they are paced */
#define RAMP_NS (20 * HAUL_MS)
#define RUN_NS (50 * HAUL_MS) /* doubled if packets are paced */
#define TRIES 12 /* runs until an undisturbed one */
#define PACKETS 1000 /* a run's time is scaled to this number */

static const struct load {
	unsigned queues, share; /* share: of queue 0, in percent */
	unsigned ns; /* computing time of a handler */
	unsigned percent; /* load, as a part of both carriers' time; 0: not paced */
} loads[] = {
	{2, 90, 1000}, {2, 90, 5000}, {2, 90, 20000}, {2, 90, 50000}, /* 0 to 3 */
	{2, 50, 200}, {2, 50, 1000}, {2, 50, 20000}, /* 4 to 6 */
	{1, 100, 1000}, {1, 100, 5000}, {1, 100, 20000}, {1, 100, 50000}, /* 7 to 10 */
	{2, 90, 5000, 45}, {2, 90, 20000, 45}, {2, 90, 50000, 45}, /* 11 to 13 */
	{2, 90, 2000}, /* 14 */
};

/* Options and totals of each side. */
static struct how {
	enum haul_steal steal;
	enum haul_send_order send_order;
	enum haul_io_spread spread;
	struct skew_counts sum;
	uint64_t stolen, ns;
} off = {HAUL_STEAL_OFF, HAUL_ORDER_FLOW, HAUL_SPREAD_OFF},
  by_flow = {HAUL_STEAL_CLUSTER, HAUL_ORDER_FLOW, HAUL_SPREAD_OFF},
  by_any = {HAUL_STEAL_CLUSTER, HAUL_ORDER_ANY, HAUL_SPREAD_OFF},
  by_spread = {HAUL_STEAL_OFF, HAUL_ORDER_FLOW, HAUL_SPREAD_PACKETS};

static const struct load *load;
static unsigned holders; /* sides that are set up */
static struct haul_plan *plan;
static struct rte_mempool *pool;
static struct haul_runtime *rt;
static struct haul_io *io;
static pid_t threads[CARRIERS];
static unsigned disturbed; /* disturbed runs of this case that were kept */
static char why[256];

static void handle(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	uint64_t until = haul_now() + load->ns;

	while (haul_now() < until)
		;
	if (haul_send(rx->reply, pkt) != 0)
		haul_drop(rx, &pkt, 1, HAUL_DROP_STOPPING);
}

static int hold(const struct load *l)
{
	struct skew_wire wire = {.queues = l->queues, .share = l->share, .packets = CIRCLING};

	if (holders++ > 0)
		return 0;
	load = l;
	if (l->percent) {
		wire.packets = PACED;
		wire.gap_ns = (uint64_t)l->ns * 100 / l->percent / CARRIERS;
	}
	plan = perf_eal(CARRIERS);
	if (!plan)
		return -EINVAL;
	pool = haul_pool_create(PERF_EAL_MBUFS, why, sizeof(why));
	return perf_say(pool ? skew_wire_open(&wire, pool, why, sizeof(why)) : -ENOMEM, why);
}

static int set_up(struct how *how, uint64_t param)
{
	memset(&how->sum, 0, sizeof(how->sum));
	how->stolen = how->ns = 0;
	return hold(&loads[param]);
}

static void release(void)
{
	if (--holders > 0)
		return;
	skew_wire_close();
	rte_mempool_free(pool);
	disturbed = 0;
}

static void *find_thread(void *arg)
{
	*(pid_t *)arg = (pid_t)syscall(SYS_gettid);
	return NULL;
}

static void start(const struct how *how)
{
	struct haul_port *port = skew_wire_port();
	const struct haul_io_opts opts = {.ports = &port,
		.nb_ports = 1,
		.pool = pool,
		.on_packet = handle,
		.send_order = how->send_order,
		.spread = how->spread};
	const struct haul_runtime_opts rt_opts = {
		.plan = plan, .launcher = haul_eal_launcher(), .steal = how->steal};
	const struct haul_coro_opts pinned = {.pinned = true};
	struct haul_coro *co;

	perf_must(haul_start(&rt, &rt_opts, NULL, 0), "haul_start");
	for (unsigned i = 0; i < CARRIERS; i++) {
		perf_must(
			haul_spawn_on(haul_carrier(rt, i), &co, find_thread, &threads[i], &pinned),
			"haul_spawn_on");
		perf_must(haul_join(co, NULL, HAUL_FOREVER), "haul_join");
	}
	skew_wire_fill();
	perf_must(haul_io_start(&io, rt, &opts, why, sizeof(why)), why);
}

static void stop(void)
{
	perf_must(haul_io_stop(io, 10 * HAUL_S, why, sizeof(why)), why);
	perf_must(haul_stop(rt, 10 * HAUL_S), "the carriers do not end");
	skew_wire_drain();
	perf_must(haul_io_free(io, why, sizeof(why)), why);
}

/* A snapshot of counters. */
struct moment {
	uint64_t ns, stolen, waited_ns; /* waited: for a CPU that ran another thread */
	struct skew_counts counts;
};

/* Reads the second figure of the thread's schedstat. */
static uint64_t waited_of(pid_t thread)
{
	unsigned long long waited = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", thread);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%*u %llu", &waited) != 1)
		waited = 0;
	fclose(file);
	return waited;
}

static void look(struct moment *m)
{
	m->stolen = m->waited_ns = 0;
	for (unsigned i = 0; i < CARRIERS; i++) {
		struct haul_carrier_stats st;

		haul_carrier_get_stats(haul_carrier(rt, i), &st);
		m->stolen += st.stolen;
		m->waited_ns += waited_of(threads[i]);
	}
	skew_wire_count(&m->counts);
	m->ns = perf_now();
}

static void nap(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / HAUL_S), (long)(ns % HAUL_S)};

	nanosleep(&t, NULL);
}

static bool is_disturbed(const struct moment *a, const struct moment *b)
{
	/* A hundredth of the packets decides a 99th percentile. */
	return b->waited_ns - a->waited_ns > (b->ns - a->ns) / (load->percent ? 500 : 20);
}

/* Subtracts a from b. */
static void take_off(struct moment *b, const struct moment *a)
{
	b->ns -= a->ns;
	b->stolen -= a->stolen;
	b->counts.packets -= a->counts.packets;
	b->counts.reordered -= a->counts.reordered;
	for (unsigned i = 0; i < SKEW_BUCKETS; i++)
		b->counts.took[i] -= a->counts.took[i];
}

static void report(struct how *how, const struct moment *m)
{
	how->ns += m->ns;
	how->stolen += m->stolen;
	how->sum.packets += m->counts.packets;
	how->sum.reordered += m->counts.reordered;
	for (unsigned i = 0; i < SKEW_BUCKETS; i++)
		how->sum.took[i] += m->counts.took[i];
	perf_extra("p50_us", (double)skew_percentile(how->sum.took, 0.5) / 1000);
	perf_extra("p99_us", (double)skew_percentile(how->sum.took, 0.99) / 1000);
	perf_extra("p99.9_us", (double)skew_percentile(how->sum.took, 0.999) / 1000);
	perf_extra("pps", (double)how->sum.packets * 1e9 / (double)how->ns);
	perf_extra("stolen_per_s", (double)how->stolen * 1e9 / (double)how->ns);
	perf_extra("reordered", (double)how->sum.reordered);
	perf_extra("disturbed", disturbed);
}

static uint64_t run(struct how *how)
{
	static struct moment a, b;
	unsigned tries = 0;

	start(how);
	do {
		nap(RAMP_NS);
		look(&a);
		nap(load->percent ? 2 * RUN_NS : RUN_NS);
		look(&b);
	} while (++tries < TRIES && is_disturbed(&a, &b));
	stop();
	disturbed += is_disturbed(&a, &b);
	take_off(&b, &a);
	report(how, &b);
	return load->percent ? skew_percentile(b.counts.took, 0.99) * PACKETS
			     : b.ns * PACKETS / (b.counts.packets + 1);
}

#define SIDE(how)                               \
	static int set_up_##how(uint64_t param) \
	{                                       \
		return set_up(&how, param);     \
	}                                       \
	static uint64_t run_##how(uint64_t n)   \
	{                                       \
		return run(&how);               \
	}
SIDE(off)
SIDE(by_flow)
SIDE(by_any)
SIDE(by_spread)

#define OFF                                         \
	{                                           \
		"off", set_up_off, run_off, release \
	}
#define FLOW                                                     \
	{                                                        \
		"stealing", set_up_by_flow, run_by_flow, release \
	}
#define ANY                                                     \
	{                                                       \
		"any order", set_up_by_any, run_by_any, release \
	}
#define SPREAD                                                     \
	{                                                          \
		"spread", set_up_by_spread, run_by_spread, release \
	}

#define CASE(number, title, what, ...)                                                      \
	{                                                                                   \
		.name = "skew/" title, .question = what, .sides = {__VA_ARGS__}, .cpus = 2, \
		.param = number, .unit = PACKETS, .max = PACKETS,                           \
	}

static const struct perf_case cases[] = {
	CASE(0, "1us", "a packet of 1 us, nine tenths on one of two queues", FLOW, OFF, ANY),
	CASE(14, "2us", "a packet of 2 us, nine tenths on one of two queues", FLOW, OFF, ANY),
	CASE(1, "5us", "a packet of 5 us, nine tenths on one of two queues", FLOW, OFF, ANY),
	CASE(2, "20us", "a packet of 20 us, nine tenths on one of two queues", FLOW, OFF, ANY),
	CASE(3, "50us", "a packet of 50 us, nine tenths on one of two queues", FLOW, OFF, ANY),
	CASE(4, "even-200ns", "a packet of 200 ns, half on each of two queues", FLOW, OFF, ANY),
	CASE(5, "even-1us", "a packet of 1 us, half on each of two queues", FLOW, OFF, ANY),
	CASE(6, "even-20us", "a packet of 20 us, half on each of two queues", FLOW, OFF, ANY),
	CASE(7, "one-queue-1us", "a packet of 1 us, one queue", SPREAD, OFF, FLOW),
	CASE(8, "one-queue-5us", "a packet of 5 us, one queue", SPREAD, OFF, FLOW),
	CASE(9, "one-queue-20us", "a packet of 20 us, one queue", SPREAD, OFF, FLOW),
	CASE(10, "one-queue-50us", "a packet of 50 us, one queue", SPREAD, OFF, FLOW),
	CASE(11, "paced-5us", "as skew/5us, at 45 % of what two carriers can: p99", FLOW, OFF, ANY),
	CASE(12, "paced-20us", "as skew/20us, at 45 % of what two carriers can: p99", FLOW, OFF,
		ANY),
	CASE(13, "paced-50us", "as skew/50us, at 45 % of what two carriers can: p99", FLOW, OFF,
		ANY),
	{0}};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
