/* SPDX-License-Identifier: BSD-3-Clause */
/* The peers of bench-wake: a loop on the same PMD, and a loop on the kernel's socket. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "bench/wake.h"

#define BURST 32

static int epoll_of(int fd)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev);
	return epoll;
}

/* Answers questions and frees other packets; false after the last question. */
static bool answer(const struct wake_dpdk *d, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t answers = 0, sent;
	bool more = true;

	for (uint16_t i = 0; i < n; i++) {
		switch (wake_take(rte_pktmbuf_mtod(pkts[i], void *), pkts[i]->data_len)) {
		case WAKE_ANSWER:
			pkts[answers++] = pkts[i];
			break;
		case WAKE_END:
			more = false;
			/* fallthrough */
		default:
			rte_pktmbuf_free(pkts[i]);
		}
	}
	sent = answers ? rte_eth_tx_burst(d->port_id, d->queue_id, pkts, answers) : 0;
	rte_pktmbuf_free_bulk(pkts + sent, answers - sent);
	return more;
}

void *wake_dpdk_loop(void *dpdk)
{
	const struct wake_dpdk *d = dpdk;
	struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = gettid()};
	struct rte_mbuf *pkts[BURST];
	struct epoll_event ev;
	int epoll = epoll_of(d->fd);
	bool more = true;

	if (d->signals)
		fcntl(d->fd, F_SETOWN_EX, &owner);
	while (more) {
		uint16_t n = rte_eth_rx_burst(d->port_id, d->queue_id, pkts, BURST);

		if (n > 0)
			more = answer(d, pkts, n);
		else
			epoll_wait(epoll, &ev, 1, -1);
	}
	close(epoll);
	return NULL;
}

void *wake_socket_loop(void *arg)
{
	int fd = *(int *)arg;
	int epoll = epoll_of(fd);
	enum wake_what what = WAKE_IGNORE;
	struct epoll_event ev;
	uint8_t frame[2048];

	while (what != WAKE_END) {
		ssize_t n = read(fd, frame, sizeof(frame));

		if (n < 0) {
			epoll_wait(epoll, &ev, 1, -1);
			continue;
		}
		what = wake_take(frame, (size_t)n);
		if (what == WAKE_ANSWER && write(fd, frame, (size_t)n) < 0)
			perror("an answer cannot be sent");
	}
	close(epoll);
	return NULL;
}

int wake_socket_open(const char *iface)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* A private EtherType keeps the socket from receiving its own frames. */
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(WAKE_TYPE),
		.sll_ifindex = (int)if_nametoindex(iface),
	};
	int err;

	if (fd < 0)
		return -errno;
	if (at.sll_ifindex != 0 && bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static int set_up(const char *iface)
{
	struct ifreq req = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = 0;

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", iface);
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &req) < 0)
		err = -errno;
	req.ifr_flags = (short)(req.ifr_flags | IFF_UP);
	if (err == 0 && ioctl(fd, SIOCSIFFLAGS, &req) < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

int wake_tap_open(const char *iface)
{
	struct ifreq req = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", iface);
	err = ioctl(fd, TUNSETIFF, &req) < 0 ? -errno : set_up(iface);
	if (err == 0)
		return fd;
	close(fd);
	return err;
}
