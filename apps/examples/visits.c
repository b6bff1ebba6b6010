/* SPDX-License-Identifier: BSD-3-Clause */
/* visits: answers each datagram with the number of datagrams that its sender has sent, which a
 * redis server counts. While a packet waits for that server, its carrier polls on. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>

#include <haul-app/app.h>
#include <haul/fd.h>
#include <haul/net.h>

#define CONNECTIONS 32 /* to the server, at most */

static const char *address = "10.77.0.1/24", *server_ip = "127.0.0.1";
static uint64_t server_port = 6379;
static struct haul_net_if nifs[HAUL_APP_PORTS_MAX]; /* our addresses on each port */
static struct sockaddr_in server = {.sin_family = AF_INET};
static struct haul_chan *connections; /* idle ones; -1: to be made */

static const struct haul_app_option options[] = {
	{"--ip", "ADDR/LEN", HAUL_APP_TEXT, &address, .help = "IPv4 address to answer for"},
	{"--redis", "ADDR", HAUL_APP_TEXT, &server_ip, .help = "IPv4 address of the redis server"},
	{"--redis-port", "N", HAUL_APP_NUMBER, &server_port, .min = 1, .max = 65535,
		.help = "its TCP port"},
	{0},
};

enum { ANSWERED, FAILED };
static const struct haul_app_counter counters[] = {{.name = "answered"}, {.name = "failed"}, {0}};

/* One request, of a line, and its reply, up to the end of a line. Its length, or an error. */
static ssize_t request(int fd, const char *line, char *reply, size_t room, uint64_t deadline)
{
	size_t left = strlen(line), got = 0;
	ssize_t n;

	while ((n = haul_fd_send(fd, line, left, 0, deadline)) > 0 && (left -= (size_t)n) > 0)
		line += n;
	while (n > 0 && (got == 0 || reply[got - 1] != '\n') && got < room) {
		n = haul_fd_recv(fd, reply + got, room - got, 0, deadline);
		got += n > 0 ? (size_t)n : 0;
	}
	return n > 0 ? (ssize_t)got : n < 0 ? n : -ECONNRESET;
}

/* Asks on a connection that is idle, and waits for one if there is none. */
static ssize_t ask(const char *line, char *reply, size_t room)
{
	uint64_t deadline = haul_in(HAUL_S);
	int fd, err = haul_chan_recv(connections, &fd, deadline);
	ssize_t n;

	if (err)
		return err;
	if (fd < 0) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		err = haul_fd_connect(fd, (struct sockaddr *)&server, sizeof(server), deadline);
	}
	n = err ? err : request(fd, line, reply, room, deadline);
	if (n < 0) {
		(void)haul_fd_close(fd);
		fd = -1;
	}
	(void)haul_chan_send(connections, &fd, 0); /* there is room for all */
	return n;
}

static void answer(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct haul_pkt pkt;
	enum haul_verdict v = haul_net_parse(&pkt, mbuf);
	char line[64], reply[64];
	ssize_t n = 0;

	if (v == HAUL_NET_OK && pkt.proto == HAUL_PROTO_UDP && pkt.ip_version == 4) {
		snprintf(line, sizeof(line), "INCR visits:%08x\r\n", ntohl(pkt.ip4->src_addr));
		n = ask(line, reply, sizeof(reply)); /* ":17\r\n" */
	}
	haul_app_count(FAILED, n < 0);
	if (v == HAUL_NET_OK)
		v = haul_net_answer(&nifs[rx->port], &pkt); /* the packet is now the reply */
	if (v == HAUL_NET_OK && n != 0 &&
		(n < 4 || haul_udp_set_payload(&pkt, reply + 1, (size_t)n - 3) != 0))
		v = HAUL_NET_UNSUPPORTED;
	if (v != HAUL_NET_OK)
		haul_drop_verdict(rx, mbuf, v);
	else if (haul_send(rx->reply, mbuf) != 0)
		haul_drop(rx, &mbuf, 1, HAUL_DROP_STOPPING);
	else
		haul_app_count(ANSWERED, 1);
}

static int opened(struct haul_app *app)
{
	const int none = -1;

	server.sin_port = htons((uint16_t)server_port);
	if (inet_pton(AF_INET, server_ip, &server.sin_addr) != 1)
		return haul_app_wrong(app->program, "--redis %s: not an address", server_ip);
	for (unsigned i = 0; i < app->nb_ports; i++) {
		struct rte_ether_addr mac = haul_port_mac(app->ports[i]);

		memcpy(nifs[i].mac, mac.addr_bytes, sizeof(nifs[i].mac));
		if (haul_net_set_ip4(&nifs[i], address) != 0)
			return haul_app_wrong(app->program, "--ip %s: not an address", address);
	}
	if (haul_chan_create(&connections, sizeof(int), CONNECTIONS) != 0)
		return haul_app_wrong(app->program, "no memory");
	for (unsigned i = 0; i < CONNECTIONS; i++)
		(void)haul_chan_send(connections, &none, 0);
	return HAUL_APP_DONE;
}

int main(int argc, char **argv)
{
	static const struct haul_app_program program = {.name = "visits",
		.purpose = "Counts the datagrams of each sender in a redis server.",
		.options = {options}};
	static const struct haul_app_hooks hooks = {
		.on_packet = answer, .counters = counters, .opened = opened};

	return haul_app_main(&program, &hooks, argc, argv);
}
