/* SPDX-License-Identifier: BSD-3-Clause */
/* pinger: pings many addresses at once, each in a coroutine with a deadline of its own, and says
 * how many have answered, and how fast. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <haul-app/app.h>
#include <haul-dpdk/flow.h>
#include <haul/haul.h>

#define AT_ONCE 64 /* pings that begin in a millisecond: queues have room */

static const char *address = "10.77.0.1/24", *gateway = "10.77.0.2", *first = "10.1.0.1";
static uint64_t count = 10000, patience = 3 * HAUL_S;
static const struct haul_app_option options[] = {
	{"--ip", "ADDR/LEN", HAUL_APP_TEXT, &address, .help = "IPv4 address of this host"},
	{"--gateway", "ADDR", HAUL_APP_TEXT, &gateway, .help = "router to all other networks"},
	{"--first", "ADDR", HAUL_APP_TEXT, &first, .help = "IPv4 address to ping first"},
	{"--count", "N", HAUL_APP_NUMBER, &count, .min = 1, .help = "ping so many in a row"},
	{"--deadline", "TIME", HAUL_APP_TIME, &patience, .help = "wait so long for each"},
	{0},
};

static struct haul_host *host; /* lives as long as the process */
static struct haul_addr router, base;

static struct haul_hist answered; /* by round trip time; all pings are of one carrier */
static uint64_t silent, failed;

static int ping(void *arg)
{
	struct haul_addr to = base;
	uint64_t sum = (uintptr_t)arg, ns;
	int err;

	for (unsigned i = 4; i-- > 0; sum >>= 8) /* the address behind the first, by so many */
		to.bytes[i] = (uint8_t)(sum += to.bytes[i]);
	err = haul_ping(host, &to, &ns, haul_in(patience));
	if (err == 0)
		haul_hist_add(&answered, ns, 1);
	else if (err == -ETIMEDOUT)
		silent++;
	else
		failed++;
	return 0;
}

static void ping_all(void)
{
	const struct haul_coro_opts opts = {.name = "ping", .pinned = true};
	HAUL_SCOPE(pings, HAUL_FOREVER, HAUL_SCOPE_ALL);

	for (uintptr_t i = 0; i < count; i++) {
		failed += haul_scope_spawn(&pings, ping, (void *)i, &opts) != 0;
		if (i % AT_ONCE == AT_ONCE - 1)
			haul_sleep(HAUL_MS);
	}
}

static void *run(void *arg)
{
	uint8_t mac[6];
	uint64_t begun;

	/* Else all would wait for the router's link-layer address, each with a packet. */
	while (haul_host_neighbour(host, 0, &router, mac, haul_in(HAUL_S)))
		if (haul_sleep(HAUL_MS))
			return NULL; /* Ctrl-C */
	begun = haul_now();
	ping_all();
	printf("%lu pings in %.2f s: %lu answered, %lu silent, %lu failed\n", count,
		(double)(haul_now() - begun) / HAUL_S, haul_hist_count(&answered), silent, failed);
	printf("round trip: 50 %% %lu us, 99 %% %lu us, longest %lu us\n",
		haul_hist_quantile(&answered, 0.5) / HAUL_US,
		haul_hist_quantile(&answered, 0.99) / HAUL_US, haul_hist_max(&answered) / HAUL_US);
	kill(getpid(), SIGINT); /* ends the program as Ctrl-C does */
	return arg;
}

static void handle(struct haul_rx *rx, struct rte_mbuf *m)
{
	if (!haul_host_takes(host, rx, m))
		haul_drop(rx, &m, 1, HAUL_DROP_NOT_FOR_US);
}

static int started(struct haul_app *app)
{
	char line[256];

	if (haul_addr_parse(&router, gateway) || haul_addr_parse(&base, first) || base.version != 4)
		return haul_app_wrong(app->program, "%s, %s: give addresses", gateway, first);
	if (haul_host_add_address(host, 0, address, line, sizeof(line)) ||
		haul_host_add_route(host, "0.0.0.0/0", gateway, 0, line, sizeof(line)) ||
		haul_host_start(host, app->io, line, sizeof(line)))
		return haul_app_wrong(app->program, "%s", line);
	return haul_spawn_on(haul_carrier(app->rt, 0), NULL, run, NULL, NULL) ? HAUL_APP_FAILED
									      : HAUL_APP_DONE;
}

static bool may_end(struct haul_app *app)
{
	(void)app;
	haul_host_stop(host);
	return true;
}

int main(int argc, char **argv)
{
	static const struct haul_app_program program = {
		.name = "pinger", .purpose = "Pings many addresses at once.", .options = {options}};
	static const struct haul_app_hooks hooks = {
		.on_packet = handle, .started = started, .may_end = may_end};

	return haul_host_create(&host, NULL, NULL, 0) ? HAUL_APP_FAILED
						      : haul_app_main(&program, &hooks, argc, argv);
}
