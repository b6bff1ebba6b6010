/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The example balancer, the program itself, as a host: clients ask a service over it, and the
 * servers behind it die now and then. A client's flow stays with its server while that is up, as
 * the balancer itself says; those who come later go where rendezvous hashing says; nothing is sent
 * to a server that is down, to another one or client than it is for, or more often than it came;
 * and once faults have stopped, all servers are up, and all questions have answers.
 */
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include <haul-dpdk/flow.h>
#include <haul-sim/main.h>
#include <haul-sim/net.h>
#include <haul-sim/node.h>

#include "clients.h"
#include "networks.h"

#define CLIENTS 5
#define SERVERS 3
#define PORTS 8 /* of a client: so many flows, each some questions long */
#define FIRST_PORT 5000
#define STAY 12 /* questions */
#define TROUBLE 60 /* simulated seconds */
#define CALM 110
#define TRIES 8 /* also without faults links lose */
#define DATAGRAMS (1 << 17)
#define IDLE (60 * HAUL_S) /* of a flow of the balancer, which needs not be exact */
/* The longest that a packet is under way within the balancer, which waits for a neighbour for a
 * second, and may be slow. */
#define WITHIN (4 * HAUL_S)
#define CHECK (2 * HAUL_S) /* from one check to the next */

int haul_balancer_main(int argc, char **argv);

/* What clients send, and servers send back. */
struct datagram {
	uint32_t serial, client, id;
	uint16_t port; /* of the client */
	uint16_t server; /* that answers, from 1 on; 0: a question */
};

struct times {
	uint8_t questions_came, questions_left, answers_came, answers_left;
};

static struct times times[DATAGRAMS]; /* at the balancer, by serial number */
static uint32_t serial;

struct server {
	unsigned number;
	struct haul_sim_node *node;
	bool is_down; /* as the balancer says, as the next two */
	uint64_t since;
	unsigned downs;
	uint64_t answered_at; /* the last answer to a check that came to the balancer */
};

static struct server servers[SERVERS];
static unsigned nb_wrong_checks; /* words of the balancer with no faults */

/* Of a client's flow. */
static struct conversation {
	unsigned server; /* from 1 on; 0: none */
	unsigned downs; /* of the server at the last packet */
	uint64_t at; /* of that packet */
	uint8_t choices[1 << SERVERS]; /* by the set of servers that were up, from 1 on; 0: none */
} conversations[CLIENTS][PORTS];

static unsigned servers_up(void)
{
	unsigned up = 0;

	for (unsigned i = 0; i < SERVERS; i++)
		up |= (unsigned)!servers[i].is_down << i;
	return up;
}

static uint64_t last_change(void)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < SERVERS; i++)
		at = servers[i].since > at ? servers[i].since : at;
	return at;
}

/* In the place of libc's: the balancer says who is up. */
void warnx(const char *format, ...)
{
	char text[128], state[8];
	unsigned number;
	struct server *s;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (sscanf(text, "10.0.0.%u is %7s", &number, state) != 2 || number - 11 >= SERVERS)
		haul_sim_fail("the balancer says: %s", text);
	s = &servers[number - 11];
	if (s->is_down != (strcmp(state, "up") == 0))
		haul_sim_fail("the balancer says once more: %s", text);
	s->is_down = !s->is_down;
	s->downs += s->is_down;
	s->since = haul_now();
	if (clients_are_calm())
		nb_wrong_checks++;
}

/* Of two sets of servers, a server that is in both wins in both, or in none. */
static void look_at_choice(struct conversation *c, unsigned client, unsigned port)
{
	unsigned up = servers_up(), server = c->server;

	if (haul_now() - last_change() < WITHIN)
		return; /* it may have been chosen before */
	c->choices[up] = (uint8_t)server;
	for (unsigned set = 0; set < 1 << SERVERS; set++) {
		unsigned other = c->choices[set];

		if (other && other != server && up >> (other - 1) & 1 && set >> (server - 1) & 1)
			haul_sim_fail("client %u port %u: server %u of the set %u, but %u of %u",
				client, port, server, up, other, set);
	}
}

static void look_at_question(const struct datagram *d, unsigned server)
{
	struct conversation *c;
	struct server *s = &servers[server - 1], *old;

	if (d->client >= CLIENTS || d->server != 0 || (unsigned)d->port - FIRST_PORT >= PORTS)
		haul_sim_fail("no question goes to server %u", server);
	if (++times[d->serial].questions_left > times[d->serial].questions_came)
		haul_sim_fail("question %u is sent on %u times", d->serial,
			times[d->serial].questions_left);
	if (s->is_down && haul_now() - s->since > WITHIN)
		haul_sim_fail("server %u is down, and is asked %u", server, d->serial);
	if (!s->is_down && haul_now() - s->answered_at > 2 * CHECK + WITHIN)
		haul_sim_fail("server %u has long been silent, and is asked %u", server, d->serial);
	c = &conversations[d->client][d->port - FIRST_PORT];
	old = c->server ? &servers[c->server - 1] : NULL;
	if (old && old != s && old->downs == c->downs && haul_now() - c->at < IDLE - HAUL_S)
		haul_sim_fail("client %u port %u moves from server %u to %u", d->client, d->port,
			c->server, server);
	if (old != s || haul_now() - c->at > IDLE + IDLE / 8 + HAUL_S) {
		c->server = server;
		look_at_choice(c, d->client, d->port);
	}
	c->downs = s->downs;
	c->at = haul_now();
}

static void look_at_answer(const struct datagram *d, unsigned client, unsigned port)
{
	if (d->client != client || d->port != port || d->server == 0)
		haul_sim_fail("client %u port %u gets what is for client %u port %u", client, port,
			d->client, d->port);
	if (++times[d->serial].answers_left > times[d->serial].answers_came)
		haul_sim_fail(
			"answer %u is sent on %u times", d->serial, times[d->serial].answers_left);
}

/* False: no datagram of ours. */
static bool read_frame(const struct haul_sim_frame *frame, struct rte_ipv4_hdr *ip,
	struct rte_udp_hdr *udp, struct datagram *d, bool *is_check)
{
	const uint8_t *at = frame->data + sizeof(struct rte_ether_hdr);

	if (frame->len < sizeof(struct rte_ether_hdr) + sizeof(*ip) + sizeof(*udp) + 3 ||
		frame->data[12] != 8 || frame->data[13] != 0)
		return false;
	memcpy(ip, at, sizeof(*ip));
	memcpy(udp, at + sizeof(*ip), sizeof(*udp));
	at += sizeof(*ip) + sizeof(*udp);
	*is_check = memcmp(at, "up?", 3) == 0;
	if (ip->next_proto_id != IPPROTO_UDP ||
		rte_be_to_cpu_16(udp->dgram_len) != sizeof(*udp) + sizeof(*d))
		return ip->next_proto_id == IPPROTO_UDP && *is_check;
	memcpy(d, at, sizeof(*d));
	if (d->serial > serial)
		haul_sim_fail("nobody has sent number %u", d->serial);
	return true;
}

static void see(const struct haul_sim_frame *frame, void *arg)
{
	bool leaves = frame->fate == HAUL_SIM_SENT && strcmp(frame->from, "balancer") == 0;
	bool comes = frame->fate == HAUL_SIM_ARRIVED && strcmp(frame->to, "balancer") == 0;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	struct datagram d;
	bool is_check;
	unsigned to, from;

	if ((!leaves && !comes) || !read_frame(frame, &ip, &udp, &d, &is_check))
		return;
	to = rte_be_to_cpu_32(ip.dst_addr) & 255;
	from = rte_be_to_cpu_32(ip.src_addr) & 255;
	if (comes && is_check && from - 11 < SERVERS)
		servers[from - 11].answered_at = frame->at;
	else if (comes && !is_check && d.server == 0)
		times[d.serial].questions_came++;
	else if (comes && !is_check)
		times[d.serial].answers_came++;
	else if (leaves && !is_check && to - 11 < SERVERS)
		look_at_question(&d, to - 10);
	else if (leaves && !is_check)
		look_at_answer(&d, to - 100, rte_be_to_cpu_16(udp.dst_port));
}

/* Answers checks, and questions. */
static void serve(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct server *s = rx->arg;
	struct haul_net_if nif;
	struct haul_pkt pkt;
	struct datagram d;

	if (haul_host_takes(s->node->host, rx, mbuf))
		return;
	if (haul_net_parse(&pkt, mbuf) != HAUL_NET_OK ||
		haul_host_for_us(s->node->host, rx, &pkt, &nif) != HAUL_NET_OK ||
		pkt.proto != HAUL_PROTO_UDP || rte_be_to_cpu_16(pkt.udp->dst_port) != 7) {
		haul_drop(rx, &mbuf, 1, HAUL_DROP_CONSUMED);
		return;
	}
	if ((rte_be_to_cpu_32(pkt.ip4->src_addr) & 255) != 1)
		haul_sim_fail("server %u is asked by another host", s->number + 1);
	if (pkt.payload_len == sizeof(d)) {
		memcpy(&d, pkt.payload, sizeof(d));
		d.server = (uint16_t)(s->number + 1);
		haul_udp_set_payload(&pkt, &d, sizeof(d));
	}
	haul_udp_reply(&nif, &pkt);
	haul_send_or_drop(rx, rx->reply, mbuf);
}

static __attribute__((noreturn)) int server(void *arg)
{
	struct server *s = arg;

	numbered_node_start(&s->node, 's', s->number, 11 + s->number, serve, s);
	for (;;)
		sleep(1000); /* simulated, until it is killed */
}

static uint16_t port_of(const struct client *c)
{
	return (uint16_t)(FIRST_PORT + c->id / STAY * (c->number + 1) % PORTS);
}

static void take(struct client *c, const struct haul_pkt *pkt)
{
	struct datagram d;

	if (pkt->payload_len != sizeof(d))
		haul_sim_fail("client %u gets %u bytes", c->number, pkt->payload_len);
	memcpy(&d, pkt->payload, sizeof(d));
	if (rte_be_to_cpu_16(pkt->udp->src_port) != 7 ||
		(rte_be_to_cpu_32(pkt->ip4->src_addr) & 255) != 1)
		haul_sim_fail("client %u gets an answer of another host", c->number);
	if (d.client != c->number || d.id > c->id || d.port != rte_be_to_cpu_16(pkt->udp->dst_port))
		haul_sim_fail("client %u gets the answer to question %u of client %u", c->number,
			d.id, d.client);
	if (d.id == c->id)
		haul_event_set(&c->came);
}

static void send_question(struct client *c, const struct haul_addr *to)
{
	struct datagram d = {.client = c->number, .id = c->id, .port = port_of(c)};
	struct rte_mbuf *m = rte_pktmbuf_alloc(c->node->pool);

	if (!m)
		return;
	if (++serial == DATAGRAMS)
		haul_sim_fail("too many questions");
	d.serial = serial;
	memcpy(rte_pktmbuf_append(m, sizeof(d)), &d, sizeof(d));
	if (haul_host_send_udp(c->node->host, m, to, d.port, 7, haul_in(HAUL_S)) != 0)
		rte_pktmbuf_free(m);
}

static bool ask(struct client *c)
{
	struct haul_addr to;

	haul_addr_parse(&to, "10.0.0.1");
	for (unsigned i = 0; i < TRIES; i++) {
		send_question(c, &to);
		if (haul_event_wait(&c->came, haul_in(2 * HAUL_S)) == 0)
			return true;
	}
	return false;
}

static int balancer(void *unused)
{
	static const char *const carriers[] = {"1", "2", "3"};
	const char *argv[] = {"balancer", "--port", "sim:balancer", "--ip", "10.0.0.1/24",
		"--server", "10.0.0.11", "--server", "10.0.0.12", "--server", "10.0.0.13",
		"--carriers", carriers[haul_sim_seed() % 3], "--period", "0", NULL};

	return haul_balancer_main(sizeof(argv) / sizeof(argv[0]) - 1, (char **)argv);
}

static void start_servers(void)
{
	for (unsigned i = 0; i < SERVERS; i++) {
		char name[16];

		servers[i] = (struct server){.number = i, .answered_at = haul_now()};
		snprintf(name, sizeof(name), "s%u", i);
		haul_sim_net("link s%u s delay=%ums jitter=1ms", i, 1 + i);
		haul_sim_host(name, server, &servers[i]);
		haul_sim_may_die(name);
	}
}

/* With all servers up, each has some of the flows. */
static void look_at_shares(void)
{
	unsigned shares[SERVERS + 1] = {0};

	for (unsigned client = 0; client < CLIENTS; client++)
		for (unsigned port = 0; port < PORTS; port++)
			shares[conversations[client][port].choices[(1 << SERVERS) - 1]]++;
	for (unsigned i = 1; i <= SERVERS; i++)
		if (CLIENTS * PORTS - shares[0] > 10 && shares[i] == 0)
			haul_sim_fail(
				"server %u has none of %u flows", i, CLIENTS * PORTS - shares[0]);
}

static int balance(void)
{
	const struct clients kind = {.n = CLIENTS,
		.link = "loss=1%",
		.at_most = 20 * HAUL_MS,
		.ask = ask,
		.takes = take};
	unsigned answered;

	haul_sim_faults_stop(); /* until all have started */
	haul_sim_net("switch s; link balancer s delay=50us");
	haul_sim_watch(see, NULL);
	start_servers();
	haul_sim_host("balancer", balancer, NULL);
	clients_start(&kind);
	answered = clients_run(TROUBLE, CALM, "balancer");
	haul_sim_watch(NULL, NULL);
	for (unsigned i = 0; i < SERVERS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "s%u", i);
		haul_sim_kill(name);
	}
	if (servers_up() != (1 << SERVERS) - 1 || nb_wrong_checks > 0)
		haul_sim_fail(
			"of all servers that are up, set %u is; %u words of it with no faults",
			servers_up(), nb_wrong_checks);
	look_at_shares();
	if (answered < CLIENTS * 20)
		haul_sim_fail("%u answers", answered);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		/* A host that starts without memory or descriptors does not start; and of flipped
		 * bits the example's datagrams know nothing. */
		{"balance", balance, NETWORKS_FAULTS, 0},
		{NULL, NULL, NULL, 0},
	};

	return networks_main(argc, argv, tests);
}
