/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests over a port that do what lines on stdin say, with a line for each: for tests with a
 * kernel's sockets, which send back what they get.
 *	echo ADDR PORT LEN    one question of that length, by haul_request()
 *	send ADDR PORT LEN    a datagram of that length, by haul_host_send_udp()
 *	many ADDR PORT N      N askers on each carrier, of QUESTIONS questions each
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <haul-app/app.h>
#include <haul-dpdk/flow.h>
#include <haul/haul.h>

#define QUESTIONS 20
#define MOST 65536

static const char *ip4, *ip6;
static struct haul_host *host;
static struct haul_reassembly *table;
static char error[256];

static const struct haul_app_option options[] = {
	{"--ip", "ADDR/LEN", HAUL_APP_TEXT, &ip4, .help = "IPv4 address"},
	{"--ip6", "ADDR/LEN", HAUL_APP_TEXT, &ip6, .help = "IPv6 address"},
	{0},
};

static void handle(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (!haul_host_reassemble(host, table, rx, &pkt) && !haul_host_takes(host, rx, pkt))
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
	uint16_t port;
	unsigned number;
	int result;
};

static void fill(unsigned char *data, size_t len, unsigned seed)
{
	for (size_t i = 0; i < len; i++)
		data[i] = (unsigned char)(i * 7 + i / 256 + seed);
}

static void *echo(void *arg)
{
	static unsigned char question[MOST], reply[MOST];
	struct command *c = arg;

	fill(question, c->number, c->number);
	memset(reply, 0, sizeof(reply));
	c->result = haul_request(host, &c->addr, c->port, question, c->number, reply, sizeof(reply),
		NULL, haul_in(20 * HAUL_S));
	if (c->result >= 0 && memcmp(question, reply, c->number) != 0)
		c->result = -EBADMSG;
	return NULL;
}

static void *send(void *arg)
{
	struct command *c = arg;
	struct rte_mbuf *m = rte_pktmbuf_alloc(c->app->pool), *part;
	unsigned left = c->number;

	while (left > 0) {
		unsigned n = left < 1000 ? left : 1000;

		part = rte_pktmbuf_alloc(c->app->pool);
		memset(rte_pktmbuf_append(part, (uint16_t)n), 'x', n);
		(void)rte_pktmbuf_chain(m, part);
		left -= n;
	}
	c->result = haul_host_send_udp(host, m, &c->addr, 4000, c->port, haul_in(20 * HAUL_S));
	if (c->result)
		rte_pktmbuf_free(m);
	return NULL;
}

static atomic_uint right;

static void *ask(void *arg)
{
	const struct command *c = arg;
	unsigned char question[100], reply[100];
	struct haul_coro *me = haul_self();

	for (unsigned i = 0; i < QUESTIONS; i++) {
		size_t len = 20 + i;
		uintptr_t name = (uintptr_t)me;

		fill(question, len, i);
		memcpy(question, &name, sizeof(name));
		right += haul_request(host, &c->addr, c->port, question, len, reply, sizeof(reply),
				 NULL, haul_in(20 * HAUL_S)) == (int)len &&
			memcmp(question, reply, len) == 0;
	}
	return NULL;
}

static void ask_all(struct command *c)
{
	unsigned carriers = haul_carriers(c->app->rt), n = 0;
	struct haul_coro **cos = calloc((size_t)carriers * c->number, sizeof(cos[0]));

	for (unsigned i = 0; cos && i < carriers * c->number; i++)
		n += haul_spawn_on(haul_carrier(c->app->rt, i % carriers), &cos[n], ask, c, NULL) ==
			0;
	for (unsigned i = 0; i < n; i++)
		haul_join(cos[i], NULL, HAUL_FOREVER);
	free(cos);
}

static void run(struct command *c, haul_fn *fn)
{
	struct haul_carrier *last = haul_carrier(c->app->rt, haul_carriers(c->app->rt) - 1);
	struct haul_coro *co;

	c->result = -ECANCELED;
	if (haul_spawn_on(last, &co, fn, c, NULL) == 0)
		haul_join(co, NULL, HAUL_FOREVER);
}

static void obey(struct haul_app *app, const char *line)
{
	struct haul_flow_stats st;
	struct command c = {.app = app};
	char verb[16], addr[64];

	if (sscanf(line, "%15s %63s %hu %u", verb, addr, &c.port, &c.number) != 4 ||
		haul_addr_parse(&c.addr, addr) || c.number > MOST)
		return;
	if (!strcmp(verb, "many")) {
		right = 0;
		ask_all(&c);
		haul_flow_get_stats(host, HAUL_ALL, &st);
		printf("%u right, %lu handed over, %lu full, %lu open\n", right,
			(unsigned long)st.handed_over, (unsigned long)st.full,
			(unsigned long)st.open);
	} else {
		run(&c, !strcmp(verb, "echo") ? echo : send);
		if (c.result < 0)
			printf("%s\n", strerrorname_np(-c.result));
		else
			printf("%d\n", c.result);
	}
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
	if (haul_host_create(&host, NULL, error, sizeof(error)) ||
		(ip4 && haul_host_add_address(host, 0, ip4, error, sizeof(error))) ||
		(ip6 && haul_host_add_address(host, 0, ip6, error, sizeof(error))))
		return haul_app_wrong(app->program, "%s", error);
	return haul_reassembly_create(&table, NULL) ? HAUL_APP_FAILED : HAUL_APP_DONE;
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

/* Pollers have stopped. */
static void carrier_ends(struct haul_app *app, unsigned carrier)
{
	if (carrier == 0)
		haul_reassembly_destroy(table);
}

static void end(struct haul_app *app)
{
	if (host)
		haul_host_free(host);
}

int main(int argc, char **argv)
{
	static const struct haul_app_program program = {
		.name = "flow_probe", .purpose = "Asks what lines say.", .options = {options}};
	struct haul_app_hooks hooks = {.opened = create,
		.started = start,
		.may_end = stop,
		.carrier_ends = carrier_ends,
		.closed = end};

	if (getenv("HAUL_BURSTS"))
		hooks.on_burst = handle_burst;
	else
		hooks.on_packet = handle;
	return haul_app_main(&program, &hooks, argc, argv);
}
