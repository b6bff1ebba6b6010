/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * afpacket: an interface of the kernel's through packet sockets, which share its packets by flow.
 * Each socket must be read, or the packets of its flows are lost: each carrier has one.
 *
 * When its ring is full the PMD waits until the socket is writable, for ever if need be. The socket
 * is writable while less than half of its send buffer is in use. With a send buffer that is large
 * enough the packets of one ring cannot use half of it: then the PMD returns, and unsent packets
 * belong to the caller again.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "linux/iface.h"
#include "linux/offloads.h"
#include "linux/sockets.h"
#include "port/kinds/list.h"

#define FRAMES_DEFAULT 512
#define FRAME_SIZE 2048 /* a packet buffer's size: the PMD takes no more */
/* Bytes that the kernel reserves at the head of a frame, before the packet. It truncates packets
 * that do not fit into the rest, and the PMD does not check that. */
#define RX_HEADERS 66
#define TX_HEADERS (TPACKET2_HDRLEN - sizeof(struct sockaddr_ll))
#define FRAME_TRUESIZE 8192 /* of a packet in the kernel, at most */

struct afpacket {
	struct hauli_sockets before; /* the sockets before the PMD's */
	pthread_mutex_t lock;
	uint64_t missed; /* under lock: a read resets the kernel's figures */
};

static unsigned frames(const struct haul_port *port)
{
	unsigned ring = RTE_MAX(port->opts.rx_ring, port->opts.tx_ring);

	return (unsigned)hauli_spec_number(&port->spec, "framecnt", ring ? ring : FRAMES_DEFAULT);
}

static int check_iface(const struct haul_port *port, char *errbuf, size_t errlen)
{
	const char *name = port->spec.main;

	if (!hauli_iface_index(name))
		return hauli_spec_fail(&port->spec, -ENODEV, errbuf, errlen,
			"there is no interface %s; ip link shows those that there are", name);
	if (!(hauli_iface_flags(name) & IFF_UP))
		return hauli_spec_fail(&port->spec, -ENETDOWN, errbuf, errlen,
			"interface %s is down; ip link set %s up", name, name);
	return 0;
}

/* Sockets get packets that the sender has not finished, and packets that the receiver has
 * merged. */
static void note_offloads(struct haul_port *port)
{
	const char *name = port->iface;
	char peer[IFNAMSIZ], list[64];

	hauli_iface_offloads(name, HAULI_OFFLOAD_RECEIVING, list, sizeof(list));
	if (list[0])
		hauli_port_note(port,
			"the kernel merges packets before haul receives them; ethtool -K %s %s",
			name, list);
	if (!hauli_iface_is_veth(name, peer) || !peer[0])
		return;
	hauli_iface_offloads(peer, HAULI_OFFLOAD_SENDING, list, sizeof(list));
	if (list[0])
		hauli_port_note(port,
			"packets from %s arrive with unfinished checksums; ethtool -K %s %s", peer,
			peer, list);
}

static int prepare(struct haul_port *port, char *errbuf, size_t errlen)
{
	struct hauli_vdev *v;
	struct afpacket *a;
	int err = check_iface(port, errbuf, errlen);

	if (err == 0)
		err = hauli_port_vdevs(port, 1, errbuf, errlen);
	if (err < 0)
		return err;
	v = &port->vdevs[0];
	snprintf(port->iface, sizeof(port->iface), "%s", port->spec.main);
	hauli_vdev_args(v, "iface=%s,qpairs=%u,framesz=%u,framecnt=%u", port->spec.main,
		port->queues, FRAME_SIZE, frames(port));
	hauli_spec_pass_on(&port->spec, v->args, sizeof(v->args));
	note_offloads(port);
	/* The kernel drops other frames silently. */
	port->tx = (struct hauli_frames){
		.least = RTE_ETHER_HDR_LEN,
		.most = RTE_MIN(hauli_iface_mtu(port->iface) + RTE_ETHER_HDR_LEN,
			(uint32_t)(FRAME_SIZE - TX_HEADERS)),
		.tag = RTE_VLAN_HLEN,
		.segs = UINT16_MAX,
	};
	port->rx_most = FRAME_SIZE - RX_HEADERS - 1;
	port->own = a = calloc(1, sizeof(*a));
	if (!a)
		return hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen, "no memory");
	pthread_mutex_init(&a->lock, NULL);
	hauli_sockets_list(&a->before, AF_PACKET);
	return 0;
}

static void enlarge_buffer(int fd, unsigned nb_frames)
{
	int size = (int)(nb_frames * 2 * FRAME_TRUESIZE);

	/* The first option needs privilege; the second stays below the system's limit. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

/* The descriptors to wait on; in the order of queues. */
static int keep_sockets(
	struct haul_port *port, const struct hauli_sockets *now, char *errbuf, size_t errlen)
{
	port->fds = calloc(now->n, sizeof(port->fds[0]));
	if (!port->fds)
		return hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen, "no memory");
	memcpy(port->fds, now->fds, now->n * sizeof(port->fds[0]));
	return 0;
}

/* The PMD has opened one socket per queue since prepare(). */
static int ready(struct haul_port *port, char *errbuf, size_t errlen)
{
	const struct afpacket *a = port->own;
	struct hauli_sockets now = {0};
	int err;

	if (!a)
		return 0;
	hauli_sockets_list(&now, AF_PACKET);
	hauli_sockets_subtract(&now, &a->before);
	for (unsigned i = 0; i < now.n; i++)
		enlarge_buffer(now.fds[i], frames(port));
	err = now.n == port->queues ? keep_sockets(port, &now, errbuf, errlen) : 0;
	hauli_sockets_free(&now);
	return err;
}

static uint64_t missed(const struct haul_port *port)
{
	struct afpacket *a = port->own;
	uint64_t sum;

	if (!a || !port->fds)
		return 0;
	pthread_mutex_lock(&a->lock);
	for (unsigned q = 0; q < port->queues; q++) {
		struct tpacket_stats st;
		socklen_t len = sizeof(st);

		if (getsockopt(port->fds[q], SOL_PACKET, PACKET_STATISTICS, &st, &len) == 0)
			a->missed += st.tp_drops;
	}
	sum = a->missed;
	pthread_mutex_unlock(&a->lock);
	return sum;
}

static void closed(struct haul_port *port)
{
	struct afpacket *a = port->own;

	if (!a)
		return;
	hauli_sockets_free(&a->before);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static int explain(const struct haul_port *port, const char *line, char *errbuf, size_t errlen)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	return hauli_spec_fail(&port->spec, -errno, errbuf, errlen,
		"packet sockets need CAP_NET_RAW; run as root, or in a private network namespace: "
		"unshare -rn");
}

/* The PMD copies. */
static unsigned held(unsigned rx_ring, unsigned tx_ring)
{
	return 0;
}

static const struct hauli_key keys[] = {
	{"framecnt", HAULI_VALUE_NUMBER, 2, 65536, ""},
	{"qdisc_bypass", HAULI_VALUE_FLAG},
	{NULL},
};

const struct hauli_kind hauli_kind_afpacket = {
	.name = "afpacket",
	.form = "afpacket:INTERFACE",
	.help = "any kernel interface, also used by the kernel [framecnt=N: ring size]",
	.driver = "net_af_packet",
	.main = HAULI_MAIN_INTERFACE,
	.keys = keys,
	.stamps = true, /* from DPDK 23.07 on, by an offload */
	.promiscuous = true,
	.filter = true,
	.prepare = prepare,
	.ready = ready,
	.closed = closed,
	.explain = explain,
	.held = held,
	.backlog = frames,
	.missed = missed,
	.wait_on = HAULI_WAIT_ON_SOCKET,
	.wait_name = "AF_PACKET socket",
};
