/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dpdk-interrupt: exchanges the MAC addresses of frames and returns them, after the same work as
 * haul-fwd --service, by DPDK alone, and sleeps as DPDK's example l3fwd-power does: after a number
 * of empty polls it arms the receive interrupt of its queue, polls once more, and waits for the
 * interrupt by epoll.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_epoll.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_pause.h>

#include "peer.h"

#define DESCRIPTORS 1024
#define BUFFERS 8191
#define CACHE 256
#define LOOKS_PER_S 100 /* for signals, while there are packets */
#define LINK_WAIT_MS 10000
#define TEXT 512

static const char *spec;
static uint64_t empty_polls = 300;
static uint64_t memory_mb = 128;

static const struct peer_option options[] = {
	{"--port", "SPEC", .text = &spec,
		.help = "tap:NAME, vhost:PATH, virtio-user:PATH, pci:ADDRESS, or a vdev in DPDK's\n"
			"      syntax (net_tap0,iface=t0) (required)"},
	{"--empty-polls", "N", .number = &empty_polls, .min = 1, .max = UINT32_MAX,
		.help = "empty polls before it sleeps (300, as l3fwd-power)"},
	{"--memory", "MIB", .number = &memory_mb, .min = 64, .max = 1 << 16,
		.help = "memory of EAL, in ordinary pages (128)"},
	{0},
};

static struct peer peer = {
	.name = "dpdk-interrupt",
	.purpose = "Returns frames with exchanged MAC addresses, by DPDK with receive interrupts.",
	.example = "  dpdk-interrupt --port tap:t0 --service 1us\n"
		   "At SIGINT or SIGTERM it prints its figures as JSON.\n",
	.options = options,
};

/* haul's port specs whose PMDs have interrupts, or might. */
static const struct kind {
	const char *name, *format;
} kinds[] = {
	{"tap:", "--vdev=net_tap0,iface=%s"},
	{"vhost:", "--vdev=net_vhost0,iface=%s"},
	{"virtio-user:", "--vdev=net_virtio_user0,path=%s"},
	{"afpacket:", "--vdev=net_af_packet0,iface=%s"},
	{"afxdp:", "--vdev=net_af_xdp0,iface=%s"},
	{"memif:", "--vdev=net_memif0,socket=%s"},
	{"pci:", "-a%s"},
	{"net_", "--vdev=net_%s"},
};

static struct {
	uint64_t packets, sent, dropped, polls, empty_polls, arms, waits, wakeups;
} count;

static uint16_t port = RTE_MAX_ETHPORTS; /* ethdev's number */
static bool is_armed_always; /* the PMD cannot arm: its descriptor is readable at any packet */
static struct rte_mempool *pool;

/* The device's argument of EAL. False: the spec names none. */
static bool device_argument(char *text, size_t len)
{
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t prefix = strlen(kinds[i].name);

		if (strncmp(spec, kinds[i].name, prefix) == 0 && spec[prefix]) {
			snprintf(text, len, kinds[i].format, spec + prefix);
			return true;
		}
	}
	return false;
}

static int start_eal(void)
{
	static char device[TEXT], memory[32], lcore[32];
	char *args[] = {(char *)peer.name, lcore, memory, device, "--no-huge", "--no-shconf",
		"--no-telemetry", "--file-prefix=dpdk-interrupt", "--log-level=critical",
		"--no-pci", NULL};
	int n = sizeof(args) / sizeof(args[0]) - 1;

	if (!device_argument(device, sizeof(device))) {
		peer_say(&peer, "--port %s: give a port such as tap:t0; see --help", spec);
		return PEER_USAGE;
	}
	if (strncmp(spec, "pci:", 4) == 0)
		n--; /* without --no-pci */
	snprintf(memory, sizeof(memory), "-m%lu", (unsigned long)memory_mb);
	/* The main thread is the lcore, which EAL binds to a CPU. */
	snprintf(lcore, sizeof(lcore), "--lcores=0@%d",
		peer.cpu == PEER_NO_CPU ? sched_getcpu() : (int)peer.cpu);
	/* EAL takes a user mapped to root, in a namespace, for root, who may write there. */
	if (access("/var/run", W_OK) != 0)
		setenv("RUNTIME_DIRECTORY", "/tmp", 0);
	if (rte_eal_init(n, args) >= 0)
		return PEER_DONE;
	return peer_say(&peer, "--port %s: EAL does not start: %s", spec, rte_strerror(rte_errno));
}

/* vhost has interrupts once its other side has connected. */
static bool wait_for_link(void)
{
	struct rte_eth_link link = {0};
	unsigned i;

	for (i = 0; i < LINK_WAIT_MS && !link.link_status; i++) {
		if (i > 0)
			rte_delay_us_sleep(1000);
		if (rte_eth_link_get_nowait(port, &link) < 0)
			link.link_status = 0;
	}
	return link.link_status;
}

/* Registers the queue's interrupt with the thread's epoll instance, and tries to arm it. */
static int set_up_interrupt(void)
{
	int err =
		rte_eth_dev_rx_intr_ctl_q(port, 0, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD, NULL);
	struct rte_eth_dev_info info = {0};
	struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = gettid()};

	if (rte_eth_dev_info_get(port, &info) < 0)
		info.driver_name = NULL;
	if (err)
		return peer_say(&peer,
			"--port %s: DPDK's %s has no receive interrupts; tap, vhost, virtio-user "
			"and most NICs have",
			spec, info.driver_name ? info.driver_name : "PMD");
	err = rte_eth_dev_rx_intr_enable(port, 0);
	if (err && err != -ENOTSUP)
		return peer_say(&peer, "--port %s: receive interrupts: %s", spec, strerror(-err));
	is_armed_always = err;
	rte_eth_dev_rx_intr_disable(port, 0);
	/* TAP receives only after a signal, which must not go to another thread of the process. */
	if (info.driver_name && strcmp(info.driver_name, "net_tap") == 0)
		(void)fcntl(rte_eth_dev_rx_intr_ctl_q_get_fd(port, 0), F_SETOWN_EX, &owner);
	return PEER_DONE;
}

static int open_port(void)
{
	const struct rte_eth_conf conf = {.intr_conf.rxq = 1};
	uint16_t rx = DESCRIPTORS, tx = DESCRIPTORS;
	int err;

	port = (uint16_t)rte_eth_find_next(0);
	if (port >= RTE_MAX_ETHPORTS)
		return peer_say(&peer,
			"--port %s: DPDK's driver does not take it: is the name or path right, and "
			"may you use it?",
			spec);
	pool = rte_pktmbuf_pool_create(
		"frames", BUFFERS, CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, (int)rte_socket_id());
	if (!pool)
		return peer_say(&peer, "no memory for packets: %s; give more by --memory",
			rte_strerror(rte_errno));
	err = rte_eth_dev_configure(port, 1, 1, &conf);
	if (!err)
		err = rte_eth_dev_adjust_nb_rx_tx_desc(port, &rx, &tx);
	if (!err)
		err = rte_eth_rx_queue_setup(port, 0, rx, rte_socket_id(), NULL, pool);
	if (!err)
		err = rte_eth_tx_queue_setup(port, 0, tx, rte_socket_id(), NULL);
	if (!err)
		err = rte_eth_dev_start(port);
	if (err)
		return peer_say(&peer, "--port %s: %s", spec, rte_strerror(-err));
	rte_eth_promiscuous_enable(port);
	if (!wait_for_link())
		return peer_say(&peer, "--port %s: its link is not up after %u s", spec,
			LINK_WAIT_MS / 1000);
	return set_up_interrupt();
}

/* Signals wake the thread by the same epoll instance. */
static int add_signals(struct rte_epoll_event *ev)
{
	ev->epdata.event = EPOLLIN;
	if (rte_epoll_ctl(RTE_EPOLL_PER_THREAD, EPOLL_CTL_ADD, peer.signals, ev) == 0)
		return PEER_DONE;
	return peer_say(&peer, "epoll: %s", strerror(errno));
}

static void swap_addresses(struct rte_mbuf *pkt)
{
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkt, struct rte_ether_hdr *);
	struct rte_ether_addr to = eth->dst_addr;

	eth->dst_addr = eth->src_addr;
	eth->src_addr = to;
}

static void serve(struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t sent;

	peer_work(&peer, n);
	for (uint16_t i = 0; i < n; i++)
		swap_addresses(pkts[i]);
	sent = rte_eth_tx_burst(port, 0, pkts, n);
	if (sent < n)
		rte_pktmbuf_free_bulk(pkts + sent, n - sent);
	count.packets += n;
	count.sent += sent;
	count.dropped += n - sent;
}

static uint16_t poll_once(void)
{
	struct rte_mbuf *pkts[PEER_BURST_MAX];
	uint16_t n = rte_eth_rx_burst(port, 0, pkts, (uint16_t)peer.burst);

	count.polls++;
	if (n > 0)
		serve(pkts, n);
	else
		count.empty_polls++;
	return n;
}

static bool is_signalled(const struct rte_epoll_event *events, int n)
{
	for (int i = 0; i < n; i++)
		if (events[i].fd == peer.signals)
			return true;
	return false;
}

/* Waits for a packet. Returns false at a signal. */
static bool sleep_until_packet(void)
{
	struct rte_epoll_event events[2];
	bool signalled = false;
	int n;

	count.arms++;
	rte_eth_dev_rx_intr_enable(port, 0);
	/* A packet that came before the interrupt was armed raises none. */
	if (poll_once() == 0) {
		count.waits++;
		n = rte_epoll_wait(RTE_EPOLL_PER_THREAD, events, 2, -1);
		signalled = is_signalled(events, n);
		count.wakeups += n > 0 && !signalled;
	}
	rte_eth_dev_rx_intr_disable(port, 0);
	return !signalled;
}

/* A busy thread never waits, so it looks for signals once in a while. */
static bool sees_signal(uint64_t *next, uint64_t *looks)
{
	struct signalfd_siginfo info;
	uint64_t now = rte_rdtsc();

	if (now < *next)
		return false;
	*next = now + rte_get_tsc_hz() / LOOKS_PER_S;
	++*looks;
	return read(peer.signals, &info, sizeof(info)) == sizeof(info);
}

/* Returns the number of looks for signals. */
static uint64_t loop(void)
{
	uint64_t next = 0, looks = 0, empty = 0;

	for (;;) {
		if (poll_once() > 0) {
			empty = 0;
			if (sees_signal(&next, &looks))
				return looks;
		} else if (++empty >= empty_polls) {
			if (!sleep_until_packet())
				return looks;
			empty = 0;
		} else {
			rte_pause();
		}
	}
}

static int run(void)
{
	struct rte_eth_stats before = {0}, after = {0};
	int rc = peer_begin(&peer);
	uint64_t looks;

	if (rc != PEER_DONE)
		return rc;
	rte_eth_stats_get(port, &before);
	looks = loop();
	rte_eth_stats_get(port, &after);
	const struct peer_figure figures[] = {
		{"packets", count.packets},
		{"bytes", after.ibytes - before.ibytes},
		{"sent", count.sent},
		{"send_failed", count.dropped},
		{"missed", after.imissed - before.imissed + after.rx_nombuf - before.rx_nombuf},
		{"polls", count.polls},
		{"empty_polls", count.empty_polls},
		{"waits", count.waits},
		{"wakeups", count.wakeups},
		{"arms", is_armed_always ? 0 : count.arms},
		/* Without those that the PMD makes in bursts and to arm. */
		{"own_syscalls", count.waits + looks},
		{0},
	};
	return peer_end(&peer, figures);
}

int main(int argc, char **argv)
{
	struct rte_epoll_event signals = {0};
	int rc = PEER_DONE;

	if (!peer_parse(&peer, argc, argv, &rc))
		return rc;
	if (!spec) {
		peer_say(&peer, "give a port by --port; see --help");
		return PEER_USAGE;
	}
	rc = peer_prepare(&peer);
	if (rc == PEER_DONE)
		rc = start_eal();
	if (rc != PEER_DONE)
		return rc;
	rc = open_port();
	if (rc == PEER_DONE)
		rc = add_signals(&signals);
	if (rc == PEER_DONE) {
		peer_set_clock(&peer, rte_get_tsc_hz());
		rc = run();
	}
	if (port < RTE_MAX_ETHPORTS) {
		rte_eth_dev_stop(port);
		rte_eth_dev_close(port);
	}
	rte_mempool_free(pool);
	rte_eal_cleanup();
	return rc;
}
