/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel-epoll: returns UDP datagrams through a kernel socket, after the same work as haul-fwd
 * --service. It sleeps in epoll_wait(), receives by recvmmsg() and sends by sendmmsg(), which is
 * how a server on sockets saves system calls.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sock_diag.h>

#include "peer.h"

#define PAYLOAD_MAX 2048
#define BUFFER (8 << 20) /* of the socket, as far as net.core.rmem_max lets */
#define BURSTS_MAX 16 /* between two looks for signals */

static const char *interface, *address = "0.0.0.0";
static uint64_t port = 9; /* the generator's */

static const struct peer_option options[] = {
	{"--interface", "NAME", .text = &interface, .help = "the kernel interface (required)"},
	{"--address", "IP", .text = &address, .help = "the IPv4 address to receive at (any)"},
	{"--udp-port", "N", .number = &port, .min = 1, .max = UINT16_MAX,
		.help = "the UDP port to receive at (9)"},
	{0},
};

static struct peer peer = {
	.name = "kernel-epoll",
	.purpose = "Returns UDP datagrams to their senders, through a kernel socket and epoll.",
	.example =
		"The interface needs the address to which the generator sends, and the kernel the\n"
		"generator's, which answers no ARP. With haul-fwd's addresses:\n"
		"  ip addr add 198.18.0.2/24 dev v1\n"
		"  ip neigh replace 198.18.0.1 lladdr MAC-OF-GENERATOR dev v1\n"
		"  kernel-epoll --interface v1 --service 1us\n"
		"  haul-fwd --port afpacket:v0 --mode generate --eth-peer 0,MAC-OF-v1\n"
		"At SIGINT or SIGTERM it prints its figures as JSON.\n",
	.options = options,
};

static struct {
	uint64_t packets, sent, send_failed, bytes, polls, empty_polls, waits, wakeups, syscalls;
} count;

/* A burst: the same buffers receive and send. */
static struct burst {
	struct mmsghdr msgs[PEER_BURST_MAX];
	struct iovec iovs[PEER_BURST_MAX];
	struct sockaddr_in from[PEER_BURST_MAX];
	uint8_t payloads[PEER_BURST_MAX][PAYLOAD_MAX];
} burst;

static int open_socket(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int size = BUFFER;

	if (inet_pton(AF_INET, address, &at.sin_addr) != 1)
		peer_say(&peer, "--address %s: give an IPv4 address", address);
	else if (fd < 0)
		peer_say(&peer, "socket: %s", strerror(errno));
	else if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface,
			 (socklen_t)strlen(interface) + 1) != 0)
		peer_say(&peer, "--interface %s: %s", interface, strerror(errno));
	else if (bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0)
		peer_say(&peer, "UDP port %lu of %s: %s", (unsigned long)port, address,
			strerror(errno));
	else {
		/* The second option needs CAP_NET_ADMIN; net.core.rmem_max does not limit it. */
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
		setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static int open_epoll(int fd)
{
	int ep = epoll_create1(EPOLL_CLOEXEC);
	int fds[] = {fd, peer.signals};

	for (unsigned i = 0; ep >= 0 && i < 2; i++) {
		struct epoll_event ev = {.events = EPOLLIN, .data.fd = fds[i]};

		if (epoll_ctl(ep, EPOLL_CTL_ADD, fds[i], &ev) != 0) {
			close(ep);
			ep = -1;
		}
	}
	if (ep < 0)
		peer_say(&peer, "epoll: %s", strerror(errno));
	return ep;
}

static void set_up_burst(void)
{
	for (unsigned i = 0; i < peer.burst; i++) {
		burst.iovs[i].iov_base = burst.payloads[i];
		burst.msgs[i].msg_hdr = (struct msghdr){
			.msg_name = &burst.from[i], .msg_iov = &burst.iovs[i], .msg_iovlen = 1};
	}
}

static int receive(int fd)
{
	for (unsigned i = 0; i < peer.burst; i++) {
		burst.iovs[i].iov_len = PAYLOAD_MAX;
		burst.msgs[i].msg_hdr.msg_namelen = sizeof(burst.from[i]);
	}
	count.syscalls++;
	count.polls++;
	return recvmmsg(fd, burst.msgs, (unsigned)peer.burst, MSG_DONTWAIT, NULL);
}

/* Messages that the kernel does not take are dropped, as a packet program drops at a full ring. */
static void send_back(int fd, unsigned n)
{
	unsigned done = 0;

	for (unsigned i = 0; i < n; i++) {
		burst.iovs[i].iov_len = burst.msgs[i].msg_len;
		count.bytes += burst.msgs[i].msg_len;
	}
	while (done < n) {
		int sent = sendmmsg(fd, burst.msgs + done, n - done, MSG_DONTWAIT);

		count.syscalls++;
		count.sent += sent > 0 ? (unsigned)sent : 0;
		count.send_failed += sent <= 0;
		done += sent > 0 ? (unsigned)sent : 1;
	}
}

/* False: the socket has failed. */
static bool serve(int fd)
{
	for (unsigned i = 0; i < BURSTS_MAX; i++) {
		int n = receive(fd);

		if (n <= 0) {
			count.empty_polls++;
			return n == 0 || errno == EAGAIN || errno == EINTR;
		}
		count.packets += (unsigned)n;
		peer_work(&peer, (unsigned)n);
		send_back(fd, (unsigned)n);
		if ((unsigned)n < peer.burst)
			break;
	}
	return true;
}

static int loop(int ep, int fd)
{
	for (;;) {
		struct epoll_event events[2];
		int n = epoll_wait(ep, events, 2, -1);

		count.syscalls++;
		count.waits++;
		for (int i = 0; i < n; i++) {
			if (events[i].data.fd != fd)
				return PEER_DONE; /* a signal */
			count.wakeups++;
			if (!serve(fd))
				return peer_say(&peer, "%s: %s", interface, strerror(errno));
		}
	}
}

/* Datagrams for which the socket's buffer had no room. */
static uint64_t missed(int fd)
{
	uint32_t info[SK_MEMINFO_VARS] = {0};
	socklen_t size = sizeof(info);

	return getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &size) == 0 ? info[SK_MEMINFO_DROPS]
									: 0;
}

static int run(int fd, int ep)
{
	int rc, printed;

	set_up_burst();
	rc = peer_begin(&peer);
	if (rc == PEER_DONE)
		rc = loop(ep, fd);
	const struct peer_figure figures[] = {
		{"packets", count.packets},
		{"bytes", count.bytes},
		{"sent", count.sent},
		{"send_failed", count.send_failed},
		{"missed", missed(fd)},
		{"polls", count.polls},
		{"empty_polls", count.empty_polls},
		{"waits", count.waits},
		{"wakeups", count.wakeups},
		{"syscalls", count.syscalls},
		{0},
	};
	printed = peer_end(&peer, figures);
	return rc == PEER_DONE ? printed : rc;
}

int main(int argc, char **argv)
{
	int rc = PEER_DONE, fd, ep;

	if (!peer_parse(&peer, argc, argv, &rc))
		return rc;
	if (!interface) {
		peer_say(&peer, "give an interface by --interface; see --help");
		return PEER_USAGE;
	}
	rc = peer_prepare(&peer);
	fd = rc == PEER_DONE ? open_socket() : -1;
	ep = fd >= 0 ? open_epoll(fd) : -1;
	if (ep < 0)
		return PEER_FAILED;
	rc = run(fd, ep);
	close(ep);
	close(fd);
	return rc;
}
