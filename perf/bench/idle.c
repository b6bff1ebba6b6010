/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server with many idle connections, of which one in a hundred gets a request each second, at
 * random: what do hibernation and its policy do over two hours? Virtual time, so it takes as long
 * as the work takes. Prints resident bytes of each connection, how many hibernate, and the thaws of
 * a second. Not a case of the harness, since each run is one long history.
 * usage: idle-connections [SECONDS [CONNECTIONS [HIBERNATE_AFTER_S]]]; 0 s: none hibernates
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <haul/haul.h>

#include "harness/memory.h"

#define LINES 12

static struct haul_coro **connections;
static unsigned long seconds = 7200, n = 100000, after_s = 10;
static unsigned long requests, lost;
static double resident_before;

static void *connection(void *arg)
{
	unsigned long served = 0, began = requests;

	while (haul_park(HAUL_FOREVER) == 0)
		served++;
	lost += served > requests - began; /* it is on the stack while it waits */
	return arg;
}

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void print_line(unsigned long s, double cpu)
{
	static uint64_t thaws_before;
	struct haul_carrier_stats st;

	haul_carrier_get_stats(haul_carrier_self(), &st);
	printf("%7lu %12.0f %12llu %14.1f %12.2f\n", s,
		(perf_memory("VmRSS:") - resident_before) / (double)n,
		(unsigned long long)(st.hibernations - st.thaws),
		(double)(st.thaws - thaws_before) / ((double)seconds / LINES), cpu);
	thaws_before = st.thaws;
}

static void *serve(void *arg)
{
	const struct haul_coro_opts opts = {.name = "connection", .hibernates = true};
	uint64_t random = 1, at = haul_now();

	for (unsigned long i = 0; i < n; i++)
		if (haul_spawn(&connections[i], connection, NULL, &opts))
			return arg;
	for (unsigned long s = 1; s <= seconds; s++) {
		haul_sleep_until(at += HAUL_S);
		for (unsigned long i = 0; i < n / 100; i++) {
			random = random * 6364136223846793005 + 1442695040888963407;
			haul_unpark(connections[(random >> 33) % n]);
			requests++;
		}
		if (s % (seconds / LINES) == 0)
			print_line(s, cpu_s());
	}
	for (unsigned long i = 0; i < n; i++) {
		haul_cancel(connections[i]);
		haul_join(connections[i], NULL, HAUL_FOREVER);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct haul_runtime *rt;
	struct haul_plan *plan;
	struct haul_coro *co;
	void *failed;

	seconds = argc > 1 ? strtoul(argv[1], NULL, 0) : seconds;
	n = argc > 2 ? strtoul(argv[2], NULL, 0) : n;
	after_s = argc > 3 ? strtoul(argv[3], NULL, 0) : after_s;
	connections = calloc(n, sizeof(connections[0]));
	if (!connections || seconds < LINES ||
		haul_plan_create(&plan, &(struct haul_plan_opts){.carriers = 1}, NULL, 0))
		return 1;
	for (unsigned long i = 0; i < n; i++)
		connections[i] = (struct haul_coro *)connections; /* resident from the start */
	if (haul_start(&rt,
		    &(struct haul_runtime_opts){.plan = plan,
			    .virtual_time = true,
			    .watchdog_ns = HAUL_FOREVER,
			    .hibernate_after_ns = after_s * HAUL_S},
		    NULL, 0))
		return 1;
	haul_plan_destroy(plan);
	resident_before = perf_memory("VmRSS:");
	printf("%7s %12s %12s %14s %12s\n", "second", "bytes each", "hibernating", "thaws a second",
		"CPU seconds");
	if (haul_spawn_on(haul_carrier(rt, 0), &co, serve, NULL, NULL) ||
		haul_join(co, &failed, HAUL_FOREVER) || failed || haul_stop(rt, HAUL_FOREVER))
		return 1;
	free(connections);
	return lost > 0;
}
