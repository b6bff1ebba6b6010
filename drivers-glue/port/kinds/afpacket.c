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
#include <fcntl.h>
#include <limits.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "linux/iface.h"
#include "linux/offloads.h"
#include "linux/sockets.h"
#include "linux/turns.h"
#include "port/hand_over.h"
#include "port/kinds/list.h"

#define FRAMES_DEFAULT 512u
#define FRAMES_HAND_OVER 8192u
#define RING_BYTES (2u << 20)
#define FRAME_SIZE 2048 /* of the PMD's ring, and the most that a usual packet buffer holds */
/* Bytes that the kernel reserves at the head of a frame, before the packet. It truncates packets
 * that do not fit into the rest, and the PMD does not check that. */
#define RX_HEADERS 66
#define TX_HEADERS (TPACKET2_HDRLEN - sizeof(struct sockaddr_ll))
#define BLOCK_SIZE 4096u /* the PMD's default */
#define UNDER_WAY_US 1000
#define FRAME_TRUESIZE 8192 /* of a packet in the kernel, at most */

struct afpacket {
	struct hauli_sockets before; /* the sockets before the PMD's */
	unsigned frame_size;
	uint64_t missed; /* a read resets the kernel's figures */
	int turn, choice; /* words of filters, while the port is handed over; else 0 */
};

/* A frame of the ring holds one of the wished MTU, and the bytes that the kernel reserves. The PMD
 * expects frames to fill a block, and the kernel wants blocks of whole pages. */
static unsigned frame_size(const struct haul_port *port)
{
	unsigned most = port->config.mtu + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN + RX_HEADERS + 1;

	return most <= FRAME_SIZE ? FRAME_SIZE : RTE_ALIGN_CEIL(most, BLOCK_SIZE);
}

/* The frames of a ring, of each direction; they fill whole blocks. By default there are fewer long
 * frames: the user may lock little memory. */
static unsigned frames(const struct haul_port *port)
{
	unsigned ring = RTE_MAX(port->opts.rx_ring, port->opts.tx_ring);
	unsigned usual = port->opts.hand_over
		? FRAMES_HAND_OVER
		: RTE_MIN(FRAMES_DEFAULT, RING_BYTES / frame_size(port));

	return (unsigned)hauli_spec_number(&port->spec, "framecnt",
		ring ? RTE_ALIGN_CEIL(ring, BLOCK_SIZE / FRAME_SIZE) : usual);
}

/* The size of the ring's frames; of a raw vdev, as its arguments say. */
static unsigned ring_frame(const struct haul_port *port)
{
	const struct afpacket *a = port->own;
	const char *given = a ? NULL : strstr(port->vdevs[0].args, "framesz=");

	if (a)
		return a->frame_size;
	return given ? (unsigned)strtoul(given + strlen("framesz="), NULL, 10) : FRAME_SIZE;
}

/* The kernel drops longer and shorter frames silently. */
static void sizes(struct haul_port *port)
{
	unsigned size = ring_frame(port);

	port->tx = (struct hauli_frame_sizes){
		.least = RTE_ETHER_HDR_LEN,
		.most = RTE_MIN(hauli_iface_mtu(port->iface) + RTE_ETHER_HDR_LEN,
			(uint32_t)(size - TX_HEADERS)),
		.tag = RTE_VLAN_HLEN,
		.segs = UINT16_MAX,
	};
	port->rx_most = size - RX_HEADERS - 1;
}

/* The PMD has no function for it, and admits 1,500 although its ring may have longer frames. */
static int set_mtu(struct haul_port *port, unsigned mtu, char *errbuf, size_t errlen)
{
	unsigned around = RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN + RX_HEADERS + 1;
	unsigned most = ring_frame(port) > around ? ring_frame(port) - around : 0;
	int err;

	if (mtu > most)
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"MTU %u: the ring's frames hold up to %u; start with --mtu %u", mtu, most,
			mtu);
	err = hauli_iface_set_mtu(port->iface, mtu);
	if (err < 0)
		return hauli_spec_fail(&port->spec, err, errbuf, errlen,
			"MTU %u: the kernel refuses it for %s: %s", mtu, port->iface,
			strerror(-err));
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
	int err = hauli_port_check_iface(port, errbuf, errlen);

	if (err == 0)
		err = hauli_port_vdevs(port, 1, errbuf, errlen);
	if (err < 0)
		return err;
	v = &port->vdevs[0];
	snprintf(port->iface, sizeof(port->iface), "%s", port->spec.main);
	port->own = a = calloc(1, sizeof(*a));
	if (!a)
		return hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen, "no memory");
	a->frame_size = frame_size(port);
	hauli_vdev_args(v, "iface=%s,qpairs=%u,framesz=%u,blocksz=%u,framecnt=%u", port->spec.main,
		port->queues, a->frame_size, RTE_ALIGN_CEIL(a->frame_size, BLOCK_SIZE),
		frames(port));
	hauli_spec_pass_on(&port->spec, v->args, sizeof(v->args));
	note_offloads(port);
	sizes(port);
	hauli_sockets_list(&a->before, AF_PACKET);
	return 0;
}

static void enlarge_buffer(int fd, unsigned nb_frames, unsigned truesize)
{
	uint64_t wished = (uint64_t)nb_frames * 2 * truesize;
	int size = (int)RTE_MIN(wished, (uint64_t)INT_MAX / 2); /* the kernel doubles it */

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

static void take_filters(struct haul_port *port)
{
	struct afpacket *a = port->own;

	if (!a || !port->fds) /* a raw vdev: it was never offered */
		return;
	for (unsigned q = 0; q < port->queues; q++)
		hauli_turns_detach(port->fds[q]);
	if (a->turn)
		close(a->turn);
	if (a->choice)
		close(a->choice);
	a->turn = a->choice = 0;
}

static int no_filter(const struct haul_port *port, int err, char *errbuf, size_t errlen)
{
	return hauli_spec_fail(&port->spec, err, errbuf, errlen,
		"no filters, which it would be handed over by: %s%s", strerror(-err),
		err == -EPERM ? "; run as root, or with CAP_BPF" : "");
}

/* Copies of the words. 0 or -errno. */
static int offer_words(const struct afpacket *a, struct haul_port_offer *offer)
{
	const int words[] = {a->turn, a->choice};

	for (unsigned i = 0; i < RTE_DIM(words); i++) {
		int fd = fcntl(words[i], F_DUPFD_CLOEXEC, 0);

		if (fd < 0) {
			fd = -errno;
			while (offer->nb_fds > 0)
				close(offer->fds[--offer->nb_fds]);
			return fd;
		}
		offer->fds[offer->nb_fds++] = fd;
	}
	return 0;
}

/* Older: the other's sockets choose, and ours follow; as they do not exist yet, ours get all. */
static int offer(struct haul_port *port, struct haul_port_offer *offer, char *errbuf, size_t errlen)
{
	struct afpacket *a = port->own;
	int err = a && port->fds ? 0 : -ENOTSUP;

	if (err)
		return no_filter(port, err, errbuf, errlen);
	a->turn = hauli_turns_word(false);
	a->choice = a->turn < 0 ? a->turn : hauli_turns_word(true);
	err = RTE_MIN(a->choice, 0);
	for (unsigned q = 0; q < port->queues && err == 0; q++)
		err = hauli_turns_older(port->fds[q], a->choice);
	if (err == 0)
		err = offer_words(a, offer);
	if (err == 0)
		return 0;
	a->turn = RTE_MAX(a->turn, 0);
	a->choice = RTE_MAX(a->choice, 0);
	take_filters(port);
	return no_filter(port, err, errbuf, errlen);
}

/* A packet that was chosen before is in a ring soon: its CPU does not leave the kernel for that. */
static void leave(struct haul_port *port)
{
	const struct afpacket *a = port->own;

	if (!a)
		return;
	(void)hauli_turns_word_set(a->turn, 1);
	rte_delay_us_sleep(UNDER_WAY_US);
}

/* The kernel reports a socket as readable until the frame that it wrote last is read. */
static bool is_drained(const struct haul_port *port)
{
	for (unsigned q = 0; port->fds && q < port->queues; q++) {
		struct pollfd p = {.fd = port->fds[q], .events = POLLIN};

		if (poll(&p, 1, 0) > 0)
			return false;
	}
	return true;
}

/* Newer: nothing until it is our turn. */
static int begin_newer(struct haul_port *port, char *errbuf, size_t errlen)
{
	const struct haul_port_offer *offer = port->opts.offer;
	int err = port->fds ? 0 : -ENOTSUP;

	for (unsigned q = 0; q < port->queues && err == 0; q++)
		err = hauli_turns_newer(port->fds[q], offer->fds[0], offer->fds[1]);
	return err < 0 ? no_filter(port, err, errbuf, errlen) : 0;
}

/* The kernel tells whether they are words. */
static int check(const struct haul_port *port, const struct haul_port_offer *offer, char *errbuf,
	size_t errlen)
{
	return offer->nb_fds == 2 ? 0 : no_filter(port, -EBADF, errbuf, errlen);
}

static int take(struct haul_port *port, char *errbuf, size_t errlen)
{
	take_filters(port);
	return 0;
}

static const struct hauli_hand_over hand_over = {
	.offer = offer,
	.keep = take_filters,
	.leave = leave,
	.is_drained = is_drained,
	.check = check,
	.take = take,
};

/* Frees what came too early: until the PMD has bound a socket it gets the packets of all
 * interfaces, until it has joined the others a copy of theirs, and until it has a filter those of
 * the other process. */
static int started(struct haul_port *port)
{
	struct rte_mbuf *m;

	for (unsigned q = 0; q < port->queues; q++)
		while (rte_eth_rx_burst(port->vdevs[0].port_id, (uint16_t)q, &m, 1) == 1)
			rte_pktmbuf_free(m);
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
		enlarge_buffer(now.fds[i], frames(port),
			RTE_MAX((unsigned)FRAME_TRUESIZE, 2 * a->frame_size));
	err = now.n == port->queues ? keep_sockets(port, &now, errbuf, errlen) : 0;
	if (err == 0 && port->opts.offer)
		err = begin_newer(port, errbuf, errlen);
	hauli_sockets_free(&now);
	return err;
}

/* Versions of the PMD (26.07 is one) read them, too: then each packet is counted by one of both. */
static uint64_t missed(const struct haul_port *port)
{
	struct afpacket *a = port->own;

	if (!a || !port->fds)
		return 0;
	for (unsigned q = 0; q < port->queues; q++) {
		struct tpacket_stats st;
		socklen_t len = sizeof(st);

		if (getsockopt(port->fds[q], SOL_PACKET, PACKET_STATISTICS, &st, &len) == 0)
			a->missed += st.tp_drops;
	}
	return a->missed;
}

static void closed(struct haul_port *port)
{
	struct afpacket *a = port->own;

	if (!a)
		return;
	hauli_sockets_free(&a->before);
	free(a);
}

static int explain(const struct haul_port *port, const char *line, char *errbuf, size_t errlen)
{
	int fd;

	if (strstr(line, "mmap failed"))
		return hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen,
			"%u queues of %u frames of %u bytes are more memory than this user may "
			"lock; raise ulimit -l, or use a smaller framecnt",
			port->queues, 2 * frames(port), frame_size(port));
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

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
	{"framecnt", HAULI_VALUE_NUMBER, 2, 65536, "", BLOCK_SIZE / FRAME_SIZE},
	{"qdisc_bypass", HAULI_VALUE_FLAG},
	{NULL},
};

static const char *const vdev_ifaces[] = {"iface", NULL};

const struct hauli_kind hauli_kind_afpacket = {
	.name = "afpacket",
	.form = "afpacket:INTERFACE",
	.help = "any kernel interface, also used by the kernel [framecnt=N: ring size, even]",
	.driver = "net_af_packet",
	.vdev_ifaces = vdev_ifaces,
	.main = HAULI_MAIN_INTERFACE,
	.keys = keys,
	.stamps = true, /* from DPDK 23.07 on, by an offload */
	.promiscuous = true,
	.filter = true,
	.above_nic = true,
	.hand_over = &hand_over,
	.prepare = prepare,
	.set_mtu = set_mtu,
	.sizes = sizes,
	.ready = ready,
	.started = started,
	.closed = closed,
	.explain = explain,
	.held = held,
	.backlog = frames,
	.missed = missed,
	.wait_on = HAULI_PORT_WAIT_ON_SOCKET,
	.wait_name = "AF_PACKET socket",
};
