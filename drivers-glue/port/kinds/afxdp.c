/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * afxdp: queues of an interface through XDP sockets, one DPDK device for each, because the PMD
 * takes several queues only of interfaces that report their number, which veth does not.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "linux/iface.h"
#include "linux/offloads.h"
#include "linux/sockets.h"
#include "linux/xdp_queue.h"
#include "linux/xdp_rings.h"
#include "linux/xdp_stats.h"
#include "port/kinds/list.h"

#define RING_MIN 512
#define RING_DEFAULT 2048 /* also the most that the PMD fills */
#define FILLED 2048 /* buffers that the PMD gives the kernel at once */
#define DONE_SIZE 2048 /* sent buffers that wait to be freed */
#define SEND_WAIT_US 200000
#define SEND_LOOK_US 1000

struct afxdp {
	struct hauli_sockets before; /* the sockets before a queue is set up */
	struct hauli_xdp_left **left; /* [queues] */
};

/* Loads an empty program to check that loading is permitted. */
static bool may_load(void)
{
	static const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (uintptr_t)code,
		.insn_cnt = sizeof(code) / sizeof(code[0]),
		.license = (uintptr_t) "",
	};
	long fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	if (fd >= 0)
		close((int)fd);
	return fd >= 0 || (errno != EPERM && errno != EACCES);
}

static int check_iface(const struct haul_port *port, char *errbuf, size_t errlen)
{
	const char *name = port->spec.main;
	char peer[IFNAMSIZ];
	int err = hauli_port_check_iface(port, errbuf, errlen);

	if (err)
		return err;
	if (!hauli_iface_has_link(name) && hauli_iface_is_veth(name, peer))
		return hauli_spec_fail(&port->spec, -ENETDOWN, errbuf, errlen,
			"the other end of %s is down; ip link set %s up", name,
			peer[0] ? peer : "PEER");
	if (!may_load())
		return hauli_spec_fail(&port->spec, -EPERM, errbuf, errlen,
			"loading XDP programs is not allowed; run as root (a user namespace is not "
			"enough), or use afpacket:%s",
			name);
	return 0;
}

/* veth passes on packets that the sender has not finished. */
static void note_offloads(struct haul_port *port)
{
	const unsigned all = HAULI_OFFLOAD_SENDING | HAULI_OFFLOAD_RECEIVING;
	char peer[IFNAMSIZ], list[64];

	if (!hauli_iface_is_veth(port->iface, peer))
		return;
	hauli_iface_offloads(port->iface, all, list, sizeof(list));
	if (list[0])
		hauli_port_note(port, "offloads break XDP; ethtool -K %s %s", port->iface, list);
	if (!peer[0])
		return;
	hauli_iface_offloads(peer, all, list, sizeof(list));
	if (list[0])
		hauli_port_note(port, "offloads break XDP; ethtool -K %s %s", peer, list);
}

/* Packets on other queues go to the kernel; start_queue says that the user wants that. */
static void note_queues(struct haul_port *port, unsigned have)
{
	char peer[IFNAMSIZ], right[48];
	bool veth = hauli_iface_is_veth(port->iface, peer);
	unsigned n = port->queues;

	if (n == have || hauli_spec_get(&port->spec, "start_queue"))
		return;
	if (veth)
		snprintf(right, sizeof(right), "rx %u tx %u", n, n);
	else
		snprintf(right, sizeof(right), "combined %u", n);
	hauli_port_note(port, "%s has %u queues, packets of %u go to the kernel; ethtool -L %s %s",
		port->iface, have, have - n, port->iface, right);
}

/* Software interfaces must copy. */
static bool copies(const struct haul_port *port)
{
	return !hauli_iface_has_device(port->iface);
}

/*
 * Where packets are copied anyway, polling the NIC outside of the receive call makes an empty poll
 * ten times slower, and stalls veth. Without copies it must be on: else the PMD sleeps up to a
 * second when the kernel has no buffers.
 */
static void add_mode(const struct haul_port *port, struct hauli_vdev *v)
{
	bool copied = copies(port) || hauli_spec_number(&port->spec, "force_copy", 0);

	if (copied && !hauli_spec_get(&port->spec, "busy_budget"))
		hauli_vdev_args(v, ",busy_budget=0");
	if (copied && !hauli_spec_get(&port->spec, "force_copy"))
		hauli_vdev_args(v, ",force_copy=1");
}

static int busy(const struct haul_port *port, char *errbuf, size_t errlen)
{
	return hauli_spec_fail(&port->spec, -EBUSY, errbuf, errlen,
		"another program has queues of %s, or left its XDP program there; end it, or ip "
		"link set %s xdp off",
		port->iface, port->iface);
}

/* Sends no frame in several segments: the PMD would send only the first one's memory. */
static void sizes(struct haul_port *port)
{
	port->tx = (struct hauli_frame_sizes){
		.least = RTE_ETHER_HDR_LEN,
		.most = hauli_iface_mtu(port->iface) + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN,
		.segs = 1,
	};
	port->rx_most = hauli_port_buffer(port) - XDP_PACKET_HEADROOM;
}

static int prepare(struct haul_port *port, char *errbuf, size_t errlen)
{
	unsigned first = (unsigned)hauli_spec_number(&port->spec, "start_queue", 0);
	unsigned have = hauli_iface_queues(port->spec.main);
	int err = check_iface(port, errbuf, errlen);

	if (err < 0)
		return err;
	if (first >= have)
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"interface %s has no queue %u; its last is %u", port->spec.main, first,
			have - 1);
	snprintf(port->iface, sizeof(port->iface), "%s", port->spec.main);
	port->queues = RTE_MIN(port->queues, have - first);
	err = hauli_port_vdevs(port, port->queues, errbuf, errlen);
	if (err < 0)
		return err;
	for (unsigned i = 0; i < port->queues; i++) {
		struct hauli_vdev *v = &port->vdevs[i];

		hauli_vdev_args(v, "iface=%s,start_queue=%u", port->iface, first + i);
		hauli_spec_pass_on(&port->spec, v->args, sizeof(v->args));
		add_mode(port, v);
	}
	sizes(port);
	note_offloads(port);
	note_queues(port, hauli_iface_rx_queues(port->iface));
	return 0;
}

static uint16_t ring_size(uint16_t rx_ring, uint16_t tx_ring)
{
	uint32_t size = rte_align32pow2(RTE_MAX(rx_ring, tx_ring));

	if (size == 0 || size > RING_DEFAULT)
		return RING_DEFAULT;
	return size < RING_MIN ? RING_MIN : (uint16_t)size;
}

/* The PMD uses the size of the receive ring for both. */
static void rings(uint16_t *rx_ring, uint16_t *tx_ring)
{
	*rx_ring = ring_size(*rx_ring, *tx_ring);
	*tx_ring = *rx_ring;
}

static unsigned held(unsigned rx_ring, unsigned tx_ring)
{
	return FILLED + ring_size((uint16_t)rx_ring, (uint16_t)tx_ring) + DONE_SIZE;
}

/*
 * The kernel gets the pool's memory as one piece with the total size of the buffers, and takes no
 * buffer outside of it.
 */
static bool is_compact(const struct rte_mempool *pool)
{
	const struct rte_mempool_memhdr *chunk = STAILQ_FIRST(&pool->mem_list);
	size_t each = pool->header_size + pool->elt_size + pool->trailer_size;
	size_t most = pool->populated_size * each + (size_t)sysconf(_SC_PAGESIZE);

	return pool->nb_mem_chunks == 1 && chunk->len <= most;
}

/* The interface's queue of the port's queue q. The arguments of a raw vdev are the user's. */
static unsigned queue_of(const struct haul_port *port, unsigned q)
{
	bool one_each = port->nb_vdevs > 1;
	const char *first = strstr(port->vdevs[one_each ? q : 0].args, "start_queue=");

	return (first ? (unsigned)strtoul(first + strlen("start_queue="), NULL, 10) : 0) +
		(one_each ? 0 : q);
}

static int queue_begins(struct haul_port *port, unsigned q, char *errbuf, size_t errlen)
{
	struct afxdp *x = port->own;

	if (!is_compact(port->opts.pool))
		return hauli_spec_fail(&port->spec, -EINVAL, errbuf, errlen,
			"the packet pool is not contiguous in memory (%u pieces); make a smaller "
			"one by haul_pool_create(), or use --no-huge",
			port->opts.pool->nb_mem_chunks);
	if (copies(port) && hauli_xdp_queue_wait(port->iface, queue_of(port, q)) == -EBUSY)
		return busy(port, errbuf, errlen);
	if (!x) {
		port->own = x = calloc(1, sizeof(*x));
		port->fds = calloc(port->queues, sizeof(port->fds[0]));
		if (x)
			x->left = calloc(port->queues, sizeof(x->left[0]));
		if (!x || !x->left || !port->fds)
			return hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen, "no memory");
		for (unsigned i = 0; i < port->queues; i++)
			port->fds[i] = -1;
	}
	hauli_sockets_list(&x->before, AF_XDP);
	return 0;
}

static int queue_ready(struct haul_port *port, unsigned q, char *errbuf, size_t errlen)
{
	const struct afxdp *x = port->own;
	struct hauli_sockets now = {0};

	hauli_sockets_list(&now, AF_XDP);
	hauli_sockets_subtract(&now, &x->before);
	if (now.n == 1)
		port->fds[q] = now.fds[0];
	hauli_sockets_free(&now);
	return 0;
}

static int explain(const struct haul_port *port, const char *line, char *errbuf, size_t errlen)
{
	const char *name = port->iface;
	unsigned size = port->opts.pool->size;

	if (rte_mempool_avail_count(port->opts.pool) < FILLED)
		return hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen,
			"the packet pool of %u is too small: each queue needs %u, and as many "
			"again for packets in flight",
			size, FILLED);
	if (name[0] && hauli_iface_has_xdp(name))
		return busy(port, errbuf, errlen);
	return 0;
}

/* Gives the kernel time to send its packets; each call frees sent ones. */
static void flush(const struct haul_port *port, unsigned q, uint16_t size)
{
	struct haul_queue queue = haul_port_queue(port, q);

	for (unsigned us = 0; us < SEND_WAIT_US; us += SEND_LOOK_US) {
		(void)rte_eth_tx_burst(queue.port_id, queue.queue_id, NULL, 0);
		if (!hauli_xdp_rings_sending(port->fds[q], size))
			break;
		rte_delay_us_sleep(SEND_LOOK_US);
	}
	(void)rte_eth_tx_burst(queue.port_id, queue.queue_id, NULL, 0);
}

static void release(struct haul_port *port)
{
	struct afxdp *x = port->own;
	uint16_t size = ring_size(port->opts.rx_ring, port->opts.tx_ring);

	for (unsigned q = 0; x && port->fds && q < port->queues; q++) {
		if (port->fds[q] < 0)
			continue;
		if (port->vdevs[0].started)
			flush(port, q, size);
		x->left[q] = hauli_xdp_rings_read(port->fds[q], size, port->opts.pool);
	}
}

static void closed(struct haul_port *port)
{
	struct afxdp *x = port->own;

	if (!x)
		return;
	for (unsigned q = 0; x->left && q < port->queues; q++)
		hauli_xdp_left_free(x->left[q]);
	hauli_sockets_free(&x->before);
	free(x->left);
	free(x);
}

static uint64_t missed(const struct haul_port *port)
{
	uint64_t n = 0;

	for (unsigned q = 0; port->fds && q < port->queues; q++)
		n += hauli_xdp_stats_ring_full(port->fds[q]);
	return n;
}

static const struct hauli_key keys[] = {
	{"start_queue", HAULI_VALUE_NUMBER, 0, 1023, ""},
	{"busy_budget", HAULI_VALUE_NUMBER, 0, 65535},
	{"force_copy", HAULI_VALUE_FLAG},
	{"xdp_prog", HAULI_VALUE_TEXT},
	{NULL},
};

static void look(const struct haul_port *port, char *what, size_t size)
{
	if (!hauli_iface_has_xdp(port->iface))
		snprintf(what, size,
			"the XDP program of %s was removed, so packets go to the kernel",
			port->iface);
}

static const char *const vdev_ifaces[] = {"iface", NULL};

const struct hauli_kind hauli_kind_afxdp = {
	.name = "afxdp",
	.form = "afxdp:INTERFACE",
	.help = "queues of a kernel interface; needs root [start_queue=N,force_copy=1]",
	.driver = "net_af_xdp",
	.vdev_ifaces = vdev_ifaces,
	.main = HAULI_MAIN_INTERFACE,
	.keys = keys,
	.promiscuous = true,
	.prints = true,
	.filter = true,
	.above_nic = true,
	.missed = missed,
	.look = look,
	.hands_back = true,
	.prepare = prepare,
	.sizes = sizes,
	.rings = rings,
	.queue_begins = queue_begins,
	.queue_ready = queue_ready,
	.explain = explain,
	.release = release,
	.wait_on = HAULI_PORT_WAIT_ON_SOCKET,
	.wait_name = "AF_XDP socket",
	.closed = closed,
	.held = held,
};
