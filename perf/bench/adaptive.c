/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does a packet cost under steady load with an adaptive poller, beside the same poller
 * spinning, and blocking? One operation is a packet received and sent back. The poller and its port
 * stay; only the policy changes from run to run, and the harness's thread sends as fast as it can
 * from the other end of the wire.
 *
 * Runs in a private network with a cable v0-v1: perf/private makes it.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "harness/bed.h"
#include "harness/harness.h"

#define BURST 32
#define SIZE 60
#define TYPE 0x88b6 /* an EtherType for local experiments */
#define RUN_NS (20 * HAUL_MS)
#define RAMP_NS (2 * HAUL_MS)
#define TRIES 25 /* runs until an undisturbed one */
#define PACKETS 1000 /* a run's time is scaled to this number */

static const struct wire {
	const char *port;
	const char *far; /* NULL: the other end is an interface */
} wires[] = {
	{"afpacket:v0"},
	{"afxdp:v0"},
	{"vhost:adaptive.sock", "virtio-user:adaptive.sock"},
};

static uint8_t frame[SIZE] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, TYPE >> 8, TYPE & 0xff};
static int fd = -1; /* socket on an interface */
static clockid_t carrier_clock;
static unsigned disturbed; /* disturbed runs of this case that were kept */

static void back(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_tx_burst(rx->reply, pkts, n);
}

/* The socket receives nothing: replies end in the kernel. */
static int socket_open(const char *iface)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET};
	int on = 1;

	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	at.sll_ifindex = (int)if_nametoindex(iface);
	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)) < 0)
		return -errno;
	return bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 ? -errno : 0;
}

static void *find_clock(void *arg)
{
	pthread_getcpuclockid(pthread_self(), &carrier_clock);
	return NULL;
}

static int setup(uint64_t param)
{
	const struct wire *w = &wires[param];
	int err = perf_bed_hold(w->port, w->far);
	struct haul_coro *finder;

	if (!err)
		err = haul_spawn_on(
			haul_carrier(perf_bed()->rt, 0), &finder, find_clock, NULL, NULL);
	if (!err)
		err = haul_join(finder, NULL, HAUL_FOREVER);
	if (!err && !perf_bed()->io)
		perf_bed_io_start(&(struct haul_io_opts){.on_burst = back});
	if (!err && !w->far && fd < 0)
		err = socket_open("v1");
	return err ? err : perf_bed_pin_to_second();
}

static void teardown(void)
{
	perf_bed_release();
	if (fd >= 0)
		close(fd);
	fd = -1;
	disturbed = 0;
}

static void send_by_socket(void)
{
	struct iovec data = {frame, sizeof(frame)};
	struct mmsghdr messages[BURST];

	memset(messages, 0, sizeof(messages));
	for (unsigned i = 0; i < BURST; i++)
		messages[i].msg_hdr = (struct msghdr){.msg_iov = &data, .msg_iovlen = 1};
	(void)sendmmsg(fd, messages, BURST, 0);
}

/* Also takes the replies. */
static void send_by_port(void)
{
	struct haul_queue q = haul_port_queue(perf_bed()->far, 0);
	struct rte_mbuf *pkts[BURST];
	uint16_t n = rte_eth_rx_burst(q.port_id, q.queue_id, pkts, BURST);
	uint16_t sent;

	rte_pktmbuf_free_bulk(pkts, n);
	if (rte_pktmbuf_alloc_bulk(perf_bed()->pool, pkts, BURST) != 0)
		return;
	for (unsigned i = 0; i < BURST; i++)
		memcpy(rte_pktmbuf_append(pkts[i], SIZE), frame, SIZE);
	sent = rte_eth_tx_burst(q.port_id, q.queue_id, pkts, BURST);
	rte_pktmbuf_free_bulk(pkts + sent, BURST - sent);
}

static void flood(uint64_t ns)
{
	uint64_t end = perf_now() + ns;

	while (perf_now() < end) {
		if (fd >= 0)
			send_by_socket();
		else
			send_by_port();
	}
}

/* A snapshot of counters. */
struct moment {
	uint64_t ns, sender_ns, carrier_ns; /* wall time, and CPU time of both threads */
	struct haul_io_stats io;
	struct haul_io_wait_stats wait;
};

static uint64_t now_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * HAUL_S + (uint64_t)t.tv_nsec;
}

static void look(struct moment *m)
{
	haul_io_get_stats(perf_bed()->io, 0, HAUL_ALL, &m->io);
	haul_io_get_wait_stats(perf_bed()->io, HAUL_ALL, &m->wait);
	m->sender_ns = now_of(CLOCK_THREAD_CPUTIME_ID);
	m->carrier_ns = now_of(carrier_clock);
	m->ns = perf_now();
}

/* True if other programs had one of the CPUs for more than a tenth of the run. */
static bool is_disturbed(const struct moment *a, const struct moment *b)
{
	uint64_t ns = b->ns - a->ns, asleep = b->wait.slept_ns - a->wait.slept_ns;

	return b->sender_ns - a->sender_ns < ns / 10 * 9 ||
		b->carrier_ns - a->carrier_ns + asleep < ns / 10 * 9;
}

static uint64_t run(enum haul_poll_how how)
{
	struct moment a, b;
	unsigned tries = 0;

	perf_bed_io_policy(how);
	do {
		flood(RAMP_NS);
		look(&a);
		flood(RUN_NS);
		look(&b);
	} while (++tries < TRIES && is_disturbed(&a, &b));
	disturbed += is_disturbed(&a, &b);
	perf_extra("empty_share",
		(double)(b.io.empty_polls - a.io.empty_polls) /
			(double)(b.io.polls - a.io.polls + 1));
	perf_extra("sleeps", (double)(b.wait.sleeps - a.wait.sleeps));
	perf_extra("disturbed", disturbed);
	return (b.ns - a.ns) * PACKETS / (b.io.rx_packets - a.io.rx_packets + 1);
}

static uint64_t run_adaptive(uint64_t n)
{
	return run(HAUL_POLL_ADAPTIVE);
}

static uint64_t run_spin(uint64_t n)
{
	return run(HAUL_POLL_SPIN);
}

static uint64_t run_block(uint64_t n)
{
	return run(HAUL_POLL_BLOCK);
}

#define SIDES                                                                                     \
	{                                                                                         \
		{"adaptive", setup, run_adaptive, teardown}, {"spin", setup, run_spin, teardown}, \
			{"block", setup, run_block, teardown},                                    \
	}
#define CASE(kind, number)                                                                         \
	{                                                                                          \
		.name = "adaptive/" kind, .question = "a packet there and back under load, " kind, \
		.sides = SIDES, .param = number, .unit = PACKETS, .max = PACKETS, .cpus = 2,       \
	}

static const struct perf_case cases[] = {
	CASE("afpacket", 0), CASE("afxdp", 1), CASE("vhost", 2), {0}};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
