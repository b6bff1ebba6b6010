/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What slow handlers do to the others: handlers of 1 us arrive at fixed times, one in a hundred
 * takes 1 ms, and one in 100,000 takes 100 ms. The latency of the short ones, from the time at
 * which each is due to its end, in alternating runs: as it is; with rescues; with
 * haul_maybe_yield() in the slow ones; with yields that the compiler places (BENCH_PLACED: this
 * file is compiled with haul's plugin for gcc); of other runtimes, by programs that are called with
 * the first three arguments and print p50, p99 and p99.9 (build/perf/peer-hogs: Go).
 *
 *	bench-rescue [CARRIERS [RATE-PER-CARRIER [SECONDS [RUNS [PEER...]]]]]
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul/haul.h>
#include <haul/hist.h>

#define SHORT_NS (1 * HAUL_US)
#define SLOW_NS (1 * HAUL_MS)
#define SLOWEST_NS (100 * HAUL_MS)
#define SLOW_ONE_IN 100
#define SLOWEST_ONE_IN 100000
#define CARRIERS_MAX 64
#define PEERS_MAX 8
#define RUNS_MAX 99

static const struct side {
	const char *name;
	uint64_t rescue_ns, interval_ns; /* interval: of haul_maybe_yield(); 0: haul's */
	enum { NEVER, BY_CALL, PLACED } yields;
	unsigned rescuers; /* 0: as many as carriers */
} sides[] = {
	{"as it is", 0, 0, NEVER},
	{"rescue 200us", 200 * HAUL_US, 0, NEVER},
	{"rescue 50us", 50 * HAUL_US, 0, NEVER},
	{"rescue 10us", 10 * HAUL_US, 0, NEVER},
	{"rescue 10us, 4 spare", 10 * HAUL_US, 0, NEVER, 4},
	{"yields", 0, 0, BY_CALL},
	{"yields, 10us", 0, 10 * HAUL_US, BY_CALL},
#ifdef BENCH_PLACED
	{"placed", 0, 0, PLACED},
	{"placed, 10us", 0, 10 * HAUL_US, PLACED},
	{"placed and rescue", 200 * HAUL_US, 10 * HAUL_US, PLACED},
#endif
};
#define SIDES (sizeof(sides) / sizeof(sides[0]))

static uint64_t gap_ns, ends_at;
static const struct side *side;

/* A carrier's arrivals; the histograms of handlers that end on it. */
static struct source {
	struct haul_hist hist;
	uint64_t sent;
} sources[CARRIERS_MAX];

struct handler {
	struct source *source;
	uint64_t due, takes;
};

static inline __attribute__((always_inline)) void compute_for(uint64_t ns, bool yields)
{
	uint64_t end = haul_now() + ns;

	while (haul_now() < end) {
		for (volatile unsigned i = 0; i < 200; i++)
			;
		if (yields)
			haul_maybe_yield(false);
	}
}

static __attribute__((noinline)) HAUL_NO_PLACED_YIELDS void compute(uint64_t ns, bool yields)
{
	compute_for(ns, yields);
}

static __attribute__((noinline)) void compute_placed(uint64_t ns)
{
	compute_for(ns, false);
}

static void *handle(void *arg)
{
	struct handler h = *(struct handler *)arg;
	uint64_t late;

	free(arg);
	if (side->yields == PLACED)
		compute_placed(h.takes);
	else
		compute(h.takes, h.takes > SHORT_NS && side->yields == BY_CALL);
	if (h.takes > SHORT_NS)
		return NULL;
	haul_pin(); /* at home, where the histogram is */
	late = haul_now() - h.due;
	haul_hist_add(&h.source->hist, late, 1);
	return NULL;
}

static uint64_t takes(uint64_t number)
{
	if (number % SLOWEST_ONE_IN == SLOWEST_ONE_IN / 2)
		return SLOWEST_NS;
	return number % SLOW_ONE_IN == SLOW_ONE_IN / 2 ? SLOW_NS : SHORT_NS;
}

/* On its carrier, as a poller that spins: what is due is spawned, however late that is noticed. */
static void *arrive(void *arg)
{
	struct source *s = arg;
	uint64_t due = haul_now();

	while (due < ends_at) {
		struct handler *h;

		while (haul_now() < due)
			haul_yield();
		h = malloc(sizeof(*h));
		if (!h)
			abort();
		*h = (struct handler){s, due, takes(s->sent++)};
		if (haul_spawn(NULL, handle, h, NULL) != 0)
			abort();
		due += gap_ns;
	}
	return NULL;
}

struct figures {
	double p50, p99, p999, rescues;
};

static struct figures run(unsigned carriers, uint64_t seconds)
{
	struct haul_plan_opts plan_opts = {.carriers = carriers};
	struct haul_runtime_opts opts = {.steal = HAUL_STEAL_GLOBAL,
		.rescue_after_ns = side->rescue_ns,
		.rescuers = side->rescuers,
		.poll_interval_ns = side->interval_ns,
		.watchdog_ns = HAUL_FOREVER};
	const struct haul_coro_opts pinned = {.pinned = true};
	struct haul_coro *arrivals[CARRIERS_MAX];
	struct haul_runtime *rt;
	struct haul_plan *plan;
	struct haul_hist all = {{0}};
	struct figures f = {0};
	char why[256];

	if (haul_plan_create(&plan, &plan_opts, why, sizeof(why)) != 0)
		exit((fprintf(stderr, "%s\n", why), 1));
	opts.plan = plan;
	if (haul_start(&rt, &opts, why, sizeof(why)) != 0)
		exit((fprintf(stderr, "%s\n", why), 1));
	ends_at = haul_now() + seconds * HAUL_S;
	for (unsigned i = 0; i < carriers; i++) {
		memset(&sources[i], 0, sizeof(sources[i]));
		haul_spawn_on(haul_carrier(rt, i), &arrivals[i], arrive, &sources[i], &pinned);
	}
	for (unsigned i = 0; i < carriers; i++)
		haul_join(arrivals[i], NULL, HAUL_FOREVER);
	for (unsigned i = 0; i < carriers; i++) {
		struct haul_carrier_stats st;

		haul_carrier_get_stats(haul_carrier(rt, i), &st);
		f.rescues += (double)st.rescues;
	}
	haul_stop(rt, HAUL_FOREVER);
	for (unsigned i = 0; i < carriers; i++)
		haul_hist_merge(&all, &sources[i].hist);
	f.p50 = (double)haul_hist_quantile(&all, 0.5) / 1e3;
	f.p99 = (double)haul_hist_quantile(&all, 0.99) / 1e3;
	f.p999 = (double)haul_hist_quantile(&all, 0.999) / 1e3;
	haul_plan_destroy(plan);
	return f;
}

static struct figures run_peer(const char *program, char **argv)
{
	struct figures f = {0};
	char command[512];
	FILE *said;

	snprintf(command, sizeof(command), "'%s' %s %s %s", program, argv[1], argv[2], argv[3]);
	said = popen(command, "r");
	if (!said || fscanf(said, "%lf %lf %lf", &f.p50, &f.p99, &f.p999) != 3 || pclose(said) != 0)
		exit((fprintf(stderr, "%s failed\n", command), 1));
	return f;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const struct figures *f, size_t offset, unsigned n)
{
	double values[RUNS_MAX];

	for (unsigned i = 0; i < n; i++)
		values[i] = *(const double *)((const char *)&f[i] + offset);
	qsort(values, n, sizeof(values[0]), compare);
	return values[n / 2];
}

static uint64_t number(int argc, char **argv, int i, uint64_t otherwise, uint64_t most)
{
	char *end;
	uint64_t n;

	if (argc <= i)
		return otherwise;
	n = strtoull(argv[i], &end, 10);
	if (*end || n == 0 || n > most)
		exit((fprintf(stderr, "%s: give a number from 1 to %" PRIu64 "\n", argv[i], most),
			2));
	return n;
}

static void print(const char *name, const struct figures *f, unsigned runs)
{
	printf("%-20s %9.1f %9.1f %9.1f %9.0f\n", name,
		median(f, offsetof(struct figures, p50), runs),
		median(f, offsetof(struct figures, p99), runs),
		median(f, offsetof(struct figures, p999), runs),
		median(f, offsetof(struct figures, rescues), runs));
}

int main(int argc, char **argv)
{
	static struct figures f[SIDES + PEERS_MAX][RUNS_MAX];
	unsigned carriers = (unsigned)number(argc, argv, 1, 1, CARRIERS_MAX);
	uint64_t rate = number(argc, argv, 2, 20000, 1000000);
	uint64_t seconds = number(argc, argv, 3, 5, 3600);
	unsigned runs = (unsigned)number(argc, argv, 4, 5, RUNS_MAX);
	size_t peers = argc > 5 ? (size_t)argc - 5 : 0;

	if (peers > PEERS_MAX)
		exit((fprintf(stderr, "give %d peers at most\n", PEERS_MAX), 2));
	gap_ns = HAUL_S / rate;
	for (unsigned r = 0; r < runs; r++) {
		for (size_t i = 0; i < SIDES; i++) {
			side = &sides[i];
			f[i][r] = run(carriers, seconds);
		}
		for (size_t i = 0; i < peers; i++)
			f[SIDES + i][r] = run_peer(argv[5 + i], argv);
	}
	printf("%u carriers, %" PRIu64 " handlers a second each: us, medians of %u runs\n",
		carriers, rate, runs);
	printf("%-20s %9s %9s %9s %9s\n", "", "p50", "p99", "p99.9", "rescues");
	for (size_t i = 0; i < SIDES; i++)
		print(sides[i].name, f[i], runs);
	for (size_t i = 0; i < peers; i++)
		print(argv[5 + i], f[SIDES + i], runs);
	return 0;
}
