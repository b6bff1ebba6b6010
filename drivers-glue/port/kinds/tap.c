/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tap: an interface that is a NIC to the kernel; haul is the other end of its wire.
 *
 * The PMD reads a queue only after a real-time signal that the kernel sends when packets come. The
 * signal goes to the process, so any thread may take it, and the polling thread may look too early;
 * so haul directs each queue's signal to the thread that polls it. The PMD sets O_ASYNC, which
 * makes the signals; it stays as it is.
 *
 * The signal's handler adds one to a count that all queues share, and a poll reads its queue only
 * if the count differs from the one that it saw last. So packets may lie unread until the next
 * signal:
 * - The addition is not atomic. A thread that is preempted in the middle of it stores an old count
 *   later, and the next signal leads to a count that another thread has seen already.
 * - If RLIMIT_SIGPENDING signals are pending for the user, the kernel sends SIGIO instead, which
 *   ends a program that has no handler for it.
 * - A packet handler may block the signal.
 * - A poll that finds no packet buffer drops a packet, and remembers the new count all the same.
 * The handler is a function like any other, so haul calls it: on SIGIO, after a wait in vain
 * (nudge()), and every LOOK_US if packets lie in a queue (look()). This addition may be lost to a
 * concurrent one, too; then the next look makes up for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_eal.h>
#include <rte_ethdev.h>

#include "linux/iface.h"
#include "port/kinds/list.h"
#include "port/kinds/tap_hand_over.h"

#define CONTROL "/dev/net/tun"
/* At its start the PMD puts the descriptors of all queues, both ways, into one message to other
 * processes, without a check for room: for 8 in DPDK 22.11, for 253 since 24.11. */
#define QUEUES (RTE_MP_MAX_FD_NUM / 2)
#define LOOK_US 50000

static void (*count)(int sig); /* the PMD's handler. Constant once a port is started */

/* Sizes follow from the PMD's MTU: the kernel's interface may have another one. */
static void sizes(struct haul_port *port)
{
	unsigned mtu = port->config.mtu ? port->config.mtu : RTE_ETHER_MTU;

	port->tx.most = mtu + RTE_ETHER_MAX_VLAN_FRAME_LEN - RTE_ETHER_MTU;
	port->rx_most = hauli_port_buffer(port);
}

/*
 * The kernel lets any number of programs share a TAP with several queues. An existing TAP may have
 * been prepared by the user (ip tuntap add), but a TAP with a link is used by a program.
 */
static int prepare(struct haul_port *port, char *errbuf, size_t errlen)
{
	int err;

	if (!port->opts.offer && hauli_iface_has_link(port->spec.main))
		return hauli_spec_fail(&port->spec, -EBUSY, errbuf, errlen,
			"interface %s is in use; choose another name", port->spec.main);
	port->queues = RTE_MIN(port->queues, (unsigned)QUEUES);
	err = hauli_port_vdevs(port, 1, errbuf, errlen);
	if (err < 0)
		return err;
	hauli_vdev_args(&port->vdevs[0], "iface=%s", port->spec.main);
	if (hauli_tap_taken_begin(port) < 0)
		return hauli_spec_fail(&port->spec, -ENOMEM, errbuf, errlen, "no memory");
	hauli_spec_pass_on(&port->spec, port->vdevs[0].args, sizeof(port->vdevs[0].args));
	snprintf(port->iface, sizeof(port->iface), "%s", port->spec.main);
	sizes(port);
	return 0;
}

/* Its descriptors chain buffers for packets larger than one buffer; ours are not larger. */
static void rings(uint16_t *rx_ring, uint16_t *tx_ring)
{
	*rx_ring = 1;
	*tx_ring = 1;
}

/*
 * The PMD reports the kernel's address as its own. Two stations on one wire need two addresses:
 * haul's end gets the next one, marked as locally administered. The PMD knows the kernel's address
 * only, and since DPDK 26.03 it drops packets for others, unless promiscuous.
 */
static int ready(struct haul_port *port, char *errbuf, size_t errlen)
{
	hauli_tap_taken_ready(port);
	port->mac.addr_bytes[0] |= RTE_ETHER_LOCAL_ADMIN_ADDR;
	port->mac.addr_bytes[RTE_ETHER_ADDR_LEN - 1] ^= 1;
	return 0;
}

static void adopt(struct haul_port *port, unsigned q)
{
	int fd = hauli_tap_fd(port, q);
	struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = gettid()};

	if (fd >= 0)
		(void)fcntl(fd, F_SETOWN_EX, &owner);
}

/* The next poll of each queue reads it. Any thread. Without a buffer it would drop a packet. */
static void make_read(const struct haul_port *port)
{
	if (count && rte_mempool_avail_count(port->opts.pool) > 0)
		count(0);
}

static void nudge(const struct haul_port *port, unsigned q)
{
	make_read(port);
}

/* Runs on EAL's interrupt thread: a spinning poller would pay for a system call. */
static void look(void *arg)
{
	const struct haul_port *port = arg;
	struct pollfd fds[QUEUES];
	nfds_t n = 0;

	for (unsigned q = 0; q < port->queues && n < QUEUES; q++)
		fds[n++] = (struct pollfd){.fd = hauli_tap_fd(port, q), .events = POLLIN};
	if (poll(fds, n, 0) > 0)
		make_read(port);
	(void)rte_eal_alarm_set(LOOK_US, look, arg); /* fails without memory only */
}

/* NULL: all real-time signals were in use. Then the PMD needs none. */
static void (*find_handler(const struct haul_port *port))(int)
{
	int fd = hauli_tap_fd(port, 0);
	int sig = fd < 0 ? 0 : fcntl(fd, F_GETSIG);
	struct sigaction sa;

	if (sig <= 0 || sigaction(sig, NULL, &sa) < 0 || (sa.sa_flags & SA_SIGINFO) ||
		sa.sa_handler == SIG_DFL || sa.sa_handler == SIG_IGN)
		return NULL;
	return sa.sa_handler;
}

/* Takes the signals beyond the limit. What the program itself does on SIGIO stays. */
static void catch_overflow(void)
{
	struct sigaction sa;

	if (sigaction(SIGIO, NULL, &sa) < 0 || (sa.sa_flags & SA_SIGINFO) ||
		sa.sa_handler != SIG_DFL)
		return;
	sa = (struct sigaction){.sa_flags = SA_RESTART, .sa_handler = count};
	(void)sigaction(SIGIO, &sa, NULL);
}

static int started(struct haul_port *port)
{
	void (*handler)(int) = find_handler(port);

	if (!handler)
		return 0;
	count = handler;
	catch_overflow();
	return rte_eal_alarm_set(LOOK_US, look, port);
}

static void stops(struct haul_port *port)
{
	(void)rte_eal_alarm_cancel(look, port);
}

/* Repeats the PMD's request to the kernel, to get the kernel's error. */
static int ask(const char *name)
{
	struct ifreq req = {.ifr_flags = IFF_TAP | IFF_MULTI_QUEUE};
	int fd = open(CONTROL, O_RDWR | O_CLOEXEC);
	int err;

	if (fd < 0)
		return errno;
	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", name);
	err = ioctl(fd, TUNSETIFF, &req) < 0 ? errno : 0;
	close(fd);
	return err;
}

static int explain(const struct haul_port *port, const char *line, char *errbuf, size_t errlen)
{
	const char *name = port->spec.main;
	int err = port->spec.main[0] ? ask(name) : 0;

	if (err == 0)
		return 0;
	if (access(CONTROL, R_OK | W_OK) < 0)
		return hauli_spec_fail(&port->spec, -err, errbuf, errlen,
			CONTROL " cannot be opened (%s); modprobe tun, and let this user use it",
			strerror(err));
	if (err == EPERM)
		return hauli_spec_fail(&port->spec, -err, errbuf, errlen,
			"making an interface needs CAP_NET_ADMIN; run as root, or in a private "
			"network namespace: unshare -rn");
	if (err == EINVAL)
		return hauli_spec_fail(&port->spec, -err, errbuf, errlen,
			"there is an interface %s that is no TAP with several queues; choose "
			"another name, or ip link del %s",
			name, name);
	return hauli_spec_fail(&port->spec, -err, errbuf, errlen, "interface %s cannot be made: %s",
		name, strerror(err));
}

/* The kernel takes a frame at once or not at all: too long, no Ethernet header, no memory. */
static bool has_room(const struct haul_port *port, unsigned q, const struct rte_mbuf *pkt)
{
	return true;
}

static uint64_t missed(const struct haul_port *port)
{
	return hauli_iface_unsent(port->iface);
}

static unsigned backlog(const struct haul_port *port)
{
	return hauli_iface_backlog(port->iface);
}

static unsigned held(unsigned rx_ring, unsigned tx_ring)
{
	return 1;
}

static const struct hauli_key keys[] = {
	{"mac", HAULI_VALUE_MAC},
	{"remote", HAULI_VALUE_TEXT},
	{NULL},
};

static const char *const vdev_ifaces[] = {"iface", "remote", NULL};

const struct hauli_kind hauli_kind_tap = {
	.name = "tap",
	.form = "tap:NAME[,mac=ADDR]",
	.help = "a new kernel interface NAME (mac: of the kernel's end); up to 4 queues, "
		"more with DPDK 24.11 or later",
	.driver = "net_tap",
	.vdev_ifaces = vdev_ifaces,
	.main = HAULI_MAIN_INTERFACE,
	.keys = keys,
	.rx_interrupts = true,
	.promiscuous = true,
	.takes_queues = true,
	.prepare = prepare,
	.sizes = sizes,
	.rings = rings,
	.ready = ready,
	.explain = explain,
	.adopt = adopt,
	.nudge = nudge,
	.started = started,
	.stops = stops,
	.queues_most = QUEUES,
	.has_room = has_room,
	.hands_back = true,
	.tries_flows = true,
	.hand_over = &hauli_tap_hand_over,
	.closed = hauli_tap_taken_end,
	.backlog = backlog,
	.missed = missed,
	.wait_on = HAULI_PORT_WAIT_ON_DESCRIPTOR,
	.wait_name = "TAP descriptor",
	.held = held,
};
