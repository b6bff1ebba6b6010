/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that sends what it receives, and counts the gaps between its bursts: those of its own.
 * The time for which its thread waited for a CPU is no part of them. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <haul-app/app.h>

#define SHORTEST (20 * HAUL_US)

static const uint64_t limits[] = {
	SHORTEST, 100 * HAUL_US, 500 * HAUL_US, 2 * HAUL_MS, 10 * HAUL_MS};
static const struct haul_app_counter counters[] = {
	{"gaps_20us"}, {"gaps_100us"}, {"gaps_500us"}, {"gaps_2ms"}, {"gaps_10ms"}, {NULL}};

static struct lane {
	uint64_t last, waited;
	int schedstat;
} __attribute__((aligned(128))) lanes[HAUL_CARRIERS_MAX];

/* The time for which this thread has waited for a CPU, in ns; 0 where the kernel does not say. */
static uint64_t waited(const struct lane *l)
{
	unsigned long long n = 0;
	char text[96];
	ssize_t len = pread(l->schedstat, text, sizeof(text) - 1, 0);

	if (len > 0) {
		text[len] = '\0';
		sscanf(text, "%*u %llu", &n);
	}
	return n;
}

static void count_gap(struct lane *l, uint64_t gap)
{
	uint64_t all = waited(l), delay = all - l->waited;

	l->waited = all;
	gap = gap > delay ? gap - delay : 0;
	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]) && gap >= limits[i]; i++)
		haul_app_count(i, 1);
}

static void handle(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	struct lane *l = &lanes[rx->carrier];
	uint64_t now = haul_now();

	if (l->last > 0 && now - l->last >= SHORTEST) {
		count_gap(l, now - l->last);
		now = haul_now(); /* without what that took */
	}
	l->last = now;
	haul_tx_burst(rx->reply, pkts, n);
}

static int carrier_begins(struct haul_app *app, unsigned carrier)
{
	struct lane *l = &lanes[carrier];

	l->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	l->waited = waited(l);
	return HAUL_APP_DONE;
}

int main(int argc, char **argv)
{
	static const struct haul_app_program program = {.name = "gaps"};
	static const struct haul_app_hooks hooks = {
		.on_burst = handle, .counters = counters, .carrier_begins = carrier_begins};

	return haul_app_main(&program, &hooks, argc, argv);
}
