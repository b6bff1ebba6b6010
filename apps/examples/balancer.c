/* SPDX-License-Identifier: BSD-3-Clause */
/* balancer: spreads the clients of a UDP service over its servers. A coroutine for each client has
 * a flow to a server; one for each server asks whether it is up. */
#include <err.h>
#include <errno.h>

#include <rte_jhash.h>

#include <haul-app/app.h>
#include <haul-dpdk/flow.h>
#include <haul/haul.h>

#define SERVERS 64
#define PORT 7 /* of the service, and of the servers */
#define CHECK_NS (2 * HAUL_S) /* with a second try after one */

static struct haul_app_texts names; /* from the command line */
static const char *address = "10.77.0.1/24";
static const struct haul_app_option options[] = {
	{"--ip", "ADDR/LEN", HAUL_APP_TEXT, &address, .help = "address of the service"},
	{"--server", "ADDR", HAUL_APP_TEXTS, &names, .help = "a server behind it; repeat it"}, {0}};

static struct haul_host *host; /* lives as long as the process */
static struct server {
	struct haul_addr addr;
	struct haul_event down; /* set while it does not answer */
} servers[SERVERS];

/* Rendezvous hashing: each server makes a bid for the client, and of those that are up the highest
 * wins. So no clients move but those of a server that goes down, or comes back. */
static struct server *choose(const struct haul_flow *client, struct server *all)
{
	struct haul_addr from = haul_flow_peer_address(client);
	uint32_t key = haul_flow_peer_port(client);
	uint64_t best = 0; /* a bid, and behind it the number of the server, from 1 on */

	for (unsigned i = 0; i < sizeof(from.bytes); i++)
		key = 31 * key + from.bytes[i];
	for (unsigned i = 0; i < names.n; i++)
		if (!haul_event_is_set(&all[i].down))
			best = RTE_MAX(best, (uint64_t)rte_jhash_1word(i, key) << 8 | (i + 1));
	return best ? &all[best % 256 - 1] : NULL;
}

static void serve(struct haul_flow *client, void *arg)
{
	struct server *server = choose(client, arg);
	struct haul_flow *flow;
	struct rte_mbuf *m;
	int i;

	if (server && !haul_flow_open(&flow, host, &server->addr, PORT, NULL)) {
		struct haul_flow *from[] = {client, flow}, *to[] = {flow, client};
		struct haul_case cases[] = {haul_case_flow_recv(client, &m),
			haul_case_flow_recv(flow, &m), haul_case_event(&server->down)};

		/* Until the client is idle, the server goes down, or the program ends. */
		while ((i = haul_select(cases, 3, HAUL_FOREVER)) >= 0 && i < 2 && !cases[i].err)
			if (!m)
				(void)haul_flow_error(from[i]); /* ICMP: the next check finds out */
			else if (haul_flow_send(to[i], m, haul_in(HAUL_S)))
				rte_pktmbuf_free(m);
		haul_flow_close(flow);
	}
	haul_flow_close(client); /* its next packet begins a new one, with a server that is up */
}

static void *check(void *arg)
{
	struct server *s = arg;
	char reply[64], text[HAUL_ADDR_TEXT];

	for (uint64_t at = haul_in(0); haul_sleep_until(at) == 0; at += CHECK_NS) {
		int n = haul_request(
			host, &s->addr, PORT, "up?", 3, reply, sizeof(reply), NULL, at + CHECK_NS);

		if (n == -ECANCELED)
			break; /* the program ends */
		if ((n < 0) != haul_event_is_set(&s->down))
			warnx("%s is %s", haul_addr_text(&s->addr, text), n < 0 ? "down" : "up");
		(n < 0 ? haul_event_set : haul_event_reset)(&s->down);
	}
	return NULL;
}

static void handle(struct haul_rx *rx, struct rte_mbuf *m)
{
	if (!haul_host_takes(host, rx, m))
		haul_drop(rx, &m, 1, HAUL_DROP_NOT_FOR_US);
}

static int started(struct haul_app *app)
{
	char line[256];

	if (haul_host_add_address(host, 0, address, line, sizeof(line)) ||
		haul_host_start(host, app->io, line, sizeof(line)))
		return haul_app_wrong(app->program, "%s", line);
	for (unsigned i = 0; i < names.n; i++)
		if (i >= SERVERS || haul_addr_parse(&servers[i].addr, names.items[i]) ||
			haul_spawn_on(haul_carrier(app->rt, 0), NULL, check, &servers[i], NULL))
			return haul_app_wrong(app->program, "--server %s", names.items[i]);
	return haul_flow_listen(host, PORT, serve, servers, NULL) ? HAUL_APP_FAILED : HAUL_APP_DONE;
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
		.name = "balancer", .purpose = "Balances a UDP service.", .options = {options}};
	static const struct haul_app_hooks hooks = {
		.on_packet = handle, .started = started, .may_end = may_end};

	return haul_host_create(&host, NULL, NULL, 0) ? HAUL_APP_FAILED
						      : haul_app_main(&program, &hooks, argc, argv);
}
