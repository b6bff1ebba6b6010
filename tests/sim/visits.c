/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The example visits, the program itself, as a host: it counts the datagrams of clients in a server
 * that speaks redis's protocol, another host, which dies now and then. A question's answer counts
 * it, so its number is larger than all that were given before the question; no number is given
 * that the server did not count; and once faults have stopped, all questions have answers.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <haul-sim/main.h>
#include <haul-sim/net.h>
#include <haul/sometimes.h>

#include "clients.h"
#include "networks.h"

#define CLIENTS 4
#define TROUBLE 40 /* simulated seconds */
#define CALM 75
#define TRIES 8 /* each of a connection whose server has died fails once */
#define CONNECTIONS 64

int haul_visits_main(int argc, char **argv);

/* What the server keeps over its deaths; and what each client's question has to surpass. */
static unsigned counted[CLIENTS], before[CLIENTS];

struct connection {
	char line[64];
	size_t len;
};

/* False: the connection is at its end. */
static bool serve_line(int fd, char *line)
{
	unsigned address, client;
	char reply[16];
	int n;

	if (sscanf(line, "INCR visits:%x", &address) != 1 || address >> 8 != 0x0a0000)
		haul_sim_fail("the server is asked: %s", line);
	client = (address & 255) - 100;
	if (client >= CLIENTS)
		haul_sim_fail("the server is asked for client %u", client);
	if (HAUL_SOMETIMES("the server is slow"))
		usleep(1500000); /* simulated: longer than visits waits */
	n = snprintf(reply, sizeof(reply), ":%u\r\n", ++counted[client]);
	for (int sent = 0; sent < n;) {
		ssize_t done = send(fd, reply + sent, (size_t)(n - sent), MSG_NOSIGNAL);

		if (done < 0 && errno != EINTR)
			return false;
		sent += done > 0 ? (int)done : 0;
	}
	return true;
}

static bool serve(int fd, struct connection *c)
{
	ssize_t n = recv(fd, c->line + c->len, sizeof(c->line) - 1 - c->len, 0);
	char *end;

	if (n <= 0)
		return n < 0 && errno == EINTR;
	c->len += (size_t)n;
	c->line[c->len] = '\0';
	end = strstr(c->line, "\r\n");
	if (!end)
		return c->len < sizeof(c->line) - 1;
	c->len = 0;
	return serve_line(fd, c->line);
}

/* Its descriptor; -1: a call has failed. */
static int listener(void)
{
	const struct sockaddr_in at = {.sin_family = AF_INET,
		.sin_port = htons(6379),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0 &&
		listen(fd, CONNECTIONS) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static __attribute__((noreturn)) int redis(void *unused)
{
	struct pollfd fds[CONNECTIONS] = {{0}};
	struct connection connections[CONNECTIONS];
	nfds_t n = 1;

	while ((fds[0].fd = listener()) < 0)
		usleep(1000); /* simulated */
	fds[0].events = POLLIN;
	for (;;) {
		if (poll(fds, n, -1) <= 0)
			continue;
		for (nfds_t i = n - 1; i > 0; i--) {
			if (!fds[i].revents || serve(fds[i].fd, &connections[i]))
				continue;
			close(fds[i].fd);
			fds[i] = fds[--n];
			connections[i] = connections[n];
		}
		if (fds[0].revents && n < CONNECTIONS &&
			(fds[n].fd = accept4(fds[0].fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
			fds[n].events = POLLIN;
			fds[n].revents = 0;
			connections[n++].len = 0;
		}
	}
}

static void take(struct client *c, const struct haul_pkt *pkt)
{
	char text[16] = "";
	unsigned n;

	memcpy(text, pkt->payload, pkt->payload_len < 15 ? pkt->payload_len : 15);
	n = (unsigned)strtoul(text, NULL, 10);
	if (n == 0 || n > counted[c->number])
		haul_sim_fail("client %u gets \"%s\", of %u", c->number, text, counted[c->number]);
	if (n > before[c->number])
		haul_event_set(&c->came);
}

static bool ask(struct client *c)
{
	before[c->number] = counted[c->number];
	return client_asks_udp(c, "10.0.0.1", 9, "a datagram that is counted", 26, TRIES);
}

static int visits(void *poller)
{
	static char *argv[] = {"visits", "--port", "sim:visits", "--ip", "10.0.0.1/24",
		"--carriers", "2", "--poller", NULL, NULL};

	argv[sizeof(argv) / sizeof(argv[0]) - 2] = poller;

	return haul_visits_main(sizeof(argv) / sizeof(argv[0]) - 1, argv);
}

static int counts_with(char *poller)
{
	const struct clients kind = {
		.n = CLIENTS, .link = "", .at_most = 10 * HAUL_MS, .ask = ask, .takes = take};
	unsigned answered;

	haul_sim_faults_stop(); /* until all have started */
	haul_sim_net("switch s; link visits s delay=50us");
	haul_sim_host("redis", redis, NULL);
	haul_sim_may_die("redis");
	haul_sim_host("visits", visits, poller);
	clients_start(&kind);
	answered = clients_run(TROUBLE, CALM, "visits");
	haul_sim_kill("redis");
	if (answered < CLIENTS * 20)
		haul_sim_fail("%u answers", answered);
	return 0;
}

static int counts(void)
{
	return counts_with("block");
}

static int counts_while_it_spins(void)
{
	return counts_with("spin");
}

/* Not flipped bits: a number has no checksum of its own. */
#define FAULTS NETWORKS_FAULTS ",no-stack,syscall,sometimes"

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		{"counts", counts, FAULTS, 0},
		{"counts_while_it_spins", counts_while_it_spins, FAULTS, 0},
		{NULL, NULL, NULL, 0},
	};

	return networks_main(argc, argv, tests);
}
