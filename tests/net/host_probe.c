/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host that does what lines on stdin say, and prints a line for each: for tests with a kernel as
 * the neighbour.
 *	ask ADDR MS       its link-layer address, or an error
 *	look ADDR         its state, and its link-layer address
 *	send ADDR PORT    a datagram
 *	add ADDR/LEN      an address
 *	route PREFIX GW   a route
 *	state ADDR        of an address of its own: enum haul_address_state
 *	kernel IFACE      the addresses and routes of an interface
 *	stats             counters
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <haul-app/app.h>
#include <haul-dpdk/host.h>
#include <haul/build.h>
#include <haul/haul.h>

static const char *ip4, *ip6;
static bool detect;
static uint64_t reachable = 30000, delay = 5000, retrans = 1000;
static struct haul_host *host;
static char error[256];

static const struct haul_app_option options[] = {
	{"--ip", "ADDR/LEN", HAUL_APP_TEXT, &ip4, .help = "IPv4 address"},
	{"--ip6", "ADDR/LEN", HAUL_APP_TEXT, &ip6, .help = "IPv6 address"},
	{"--detect", NULL, HAUL_APP_FLAG, &detect, .help = "duplicate addresses"},
	{"--reachable", "MS", HAUL_APP_NUMBER, &reachable, .max = 1000000, .help = "mean time"},
	{"--delay", "MS", HAUL_APP_NUMBER, &delay, .max = 1000000, .help = "before a question"},
	{"--retrans", "MS", HAUL_APP_NUMBER, &retrans, .max = 1000000, .help = "between questions"},
	{0},
};

static void handle(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (!haul_host_takes(host, rx, pkt))
		haul_drop(rx, &pkt, 1, HAUL_DROP_NOT_FOR_US);
}

static void handle_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		handle(rx, pkts[i]);
}

struct command {
	struct haul_app *app;
	struct haul_addr addr;
	uint64_t number;
	uint8_t mac[6];
	int err;
};

static void *ask(void *arg)
{
	struct command *c = arg;

	c->err = haul_host_neighbour(host, 0, &c->addr, c->mac, haul_in(c->number * HAUL_MS));
	return NULL;
}

static void *send(void *arg)
{
	struct command *c = arg;
	struct rte_mbuf *m = rte_pktmbuf_alloc(c->app->pool);

	memcpy(rte_pktmbuf_append(m, 5), "hello", 5);
	c->err = haul_host_send_udp(
		host, m, &c->addr, 4000, (uint16_t)c->number, haul_in(10 * HAUL_S));
	if (c->err)
		rte_pktmbuf_free(m);
	return NULL;
}

static void run(struct command *c, haul_fn *fn)
{
	struct haul_coro *co;

	if (haul_spawn_on(
		    haul_carrier(c->app->rt, haul_carriers(c->app->rt) - 1), &co, fn, c, NULL) == 0)
		haul_join(co, NULL, HAUL_FOREVER);
}

static void print_mac(const uint8_t m[6])
{
	printf(" %02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
}

static void print_stats(void)
{
	struct haul_host_stats s;

	haul_host_get_stats(host, HAUL_ALL, &s);
	printf("neighbours %" PRIu64 " asked %" PRIu64 " answered %" PRIu64 " learned %" PRIu64
	       " changed %" PRIu64 " failed %" PRIu64 " ignored %" PRIu64 " duplicates %" PRIu64
	       " not_sent %" PRIu64,
		s.neighbours, s.asked, s.answered, s.learned, s.changed, s.failed, s.ignored,
		s.duplicates, s.not_sent);
}

static void print_error(int err)
{
	printf("%s", err ? error : "done");
}

static void obey(struct haul_app *app, const char *line)
{
	struct command c = {.app = app};
	char verb[16], a[64] = "", b[64] = "";

	if (sscanf(line, "%15s %63s %63s", verb, a, b) < 1)
		return;
	(void)haul_addr_parse(&c.addr, a);
	c.number = strtoull(b, NULL, 10);
	if (!strcmp(verb, "ask")) {
		run(&c, ask);
		printf("%s", c.err ? strerrorname_np(-c.err) : "has");
		if (!c.err)
			print_mac(c.mac);
	} else if (!strcmp(verb, "look")) {
		printf("%s", haul_neighbour_state_name(haul_host_look(host, 0, &c.addr, c.mac)));
		print_mac(c.mac);
	} else if (!strcmp(verb, "send")) {
		run(&c, send);
		printf("%s", c.err ? strerrorname_np(-c.err) : "sent");
	} else if (!strcmp(verb, "add")) {
		print_error(haul_host_add_address(host, 0, a, error, sizeof(error)));
	} else if (!strcmp(verb, "route")) {
		print_error(haul_host_add_route(host, a, b, 0, error, sizeof(error)));
	} else if (!strcmp(verb, "state")) {
		printf("%d", haul_host_address_state(host, 0, &c.addr));
	} else if (!strcmp(verb, "kernel")) {
		int n = haul_host_read_kernel(host, 0, a, error, sizeof(error));

		printf("%d %s", n, n < 0 ? error : "");
	} else if (!strcmp(verb, "stats")) {
		print_stats();
	}
	printf("\n");
	fflush(stdout);
}

/* Lines come one at a time, as each waits for its answer. */
static void read_line(struct haul_app *app, int fd, void *arg)
{
	char line[256];
	ssize_t n = read(fd, line, sizeof(line) - 1);

	if (n <= 0) {
		haul_app_watch(app, fd, NULL, NULL);
		haul_app_end(app);
		return;
	}
	line[n] = '\0';
	obey(app, line);
}

static int create(struct haul_app *app)
{
	const struct haul_host_opts opts = {.reachable_ns = reachable * HAUL_MS,
		.delay_ns = delay * HAUL_MS,
		.retrans_ns = retrans * HAUL_MS,
		.detect_duplicates = detect};

	if (haul_host_create(&host, &opts, error, sizeof(error)) ||
		(ip4 && haul_host_add_address(host, 0, ip4, error, sizeof(error))) ||
		(ip6 && haul_host_add_address(host, 0, ip6, error, sizeof(error))))
		return haul_app_wrong(app->program, "%s", error);
	return HAUL_APP_DONE;
}

static int start(struct haul_app *app)
{
	if (haul_host_start(host, app->io, error, sizeof(error)))
		return haul_app_wrong(app->program, "%s", error);
	haul_app_watch(app, STDIN_FILENO, read_line, NULL);
	printf("started\n");
	fflush(stdout);
	return HAUL_APP_DONE;
}

static bool stop(struct haul_app *app)
{
	haul_host_stop(host);
	return true;
}

static void end(struct haul_app *app)
{
	if (host)
		haul_host_free(host);
}

int main(int argc, char **argv)
{
	static const struct haul_app_program program = {
		.name = "host_probe", .purpose = "A host that obeys lines.", .options = {options}};
	struct haul_app_hooks hooks = {
		.opened = create, .started = start, .may_end = stop, .closed = end};

	if (getenv("HAUL_BURSTS"))
		hooks.on_burst = handle_burst;
	else
		hooks.on_packet = handle;
	return haul_app_main(&program, &hooks, argc, argv);
}
