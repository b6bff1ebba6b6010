/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The example pinger, the program itself, as a host: it pings hosts behind a router, of which some
 * never answer. What it prints is what was on its link: each address is pinged, and no other; who
 * has answered, at most those whose replies arrived; how fast; and with no faults, or with faults
 * that stop, and a router that dies until then, nobody who answers is called silent.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <haul-sim/main.h>
#include <haul-sim/net.h>
#include <haul-sim/node.h>
#include <haul/haul.h>
#include <haul/net.h>

#include <rte_byteorder.h>
#include <rte_icmp.h>
#include <rte_ip.h>

#include "networks.h"
#include "printed.h"

#define TARGETS 300
#define AT_ONCE 64 /* begin in a millisecond */
#define FIRST 0x0a0100c8 /* 10.1.0.200: addresses go on in the next byte */
#define TROUBLE 15 /* simulated seconds */
#define HANDLING (200 * HAUL_US) /* of a packet, at most, when nothing is slow */

int haul_pinger_main(int argc, char **argv);

static struct target {
	unsigned requests;
	uint64_t first, last, answered; /* when; 0: not */
} targets[TARGETS];

/* What it has printed. */
static unsigned long count, answered, silent, failed, median_us, p99_us, longest_us;
static double seconds;
static unsigned lines;
static uint64_t said_at;
static const char *deadline;

static bool is_silent(unsigned target)
{
	return target % 7 == 3;
}

static unsigned nb_silent(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TARGETS; i++)
		n += is_silent(i);
	return n;
}

/* The address at an offset of a frame, as a number of a target. */
static unsigned target_at(const uint8_t *data, unsigned offset)
{
	uint32_t ip;

	memcpy(&ip, data + offset, sizeof(ip));
	return ntohl(ip) - FIRST;
}

static void see(const struct haul_sim_frame *frame, void *arg)
{
	const uint8_t *d = frame->data;
	struct target *t;
	unsigned n;

	if (frame->len < 42 || d[12] != 8 || d[13] != 0 || d[23] != IPPROTO_ICMP)
		return;
	if (frame->fate == HAUL_SIM_SENT && strcmp(frame->from, "pinger") == 0) {
		n = target_at(d, 30);
		if (d[34] != RTE_IP_ICMP_ECHO_REQUEST || n >= TARGETS)
			haul_sim_fail("ICMP type %u goes to %u.%u.%u.%u", d[34], d[30], d[31],
				d[32], d[33]);
		t = &targets[n];
		t->first = t->requests++ == 0 ? frame->at : t->first;
		t->last = frame->at;
	} else if (frame->fate == HAUL_SIM_ARRIVED && strcmp(frame->to, "pinger") == 0) {
		n = target_at(d, 26);
		if (n < TARGETS && targets[n].answered == 0)
			targets[n].answered = frame->at;
	}
}

/* Is all hosts behind it, which take their time. */
static void route(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct haul_sim_node *node = rx->arg;
	struct haul_net_if nif = {.ip4_prefix = 32};
	struct haul_pkt pkt;
	unsigned n;

	if (haul_host_takes(node->host, rx, mbuf))
		return;
	if (haul_net_parse(&pkt, mbuf) == HAUL_NET_OK && pkt.proto == HAUL_PROTO_ICMP) {
		n = rte_be_to_cpu_32(pkt.ip4->dst_addr) - FIRST;
		memcpy(nif.mac, &pkt.eth->dst_addr, sizeof(nif.mac));
		memcpy(nif.ip4, &pkt.ip4->dst_addr, sizeof(nif.ip4));
		if (n < TARGETS && !is_silent(n) &&
			haul_sleep(n * 20 * HAUL_US) == 0 && /* simulated */
			haul_icmp_echo_reply(&nif, &pkt) == HAUL_NET_OK) {
			haul_send_or_drop(rx, rx->reply, mbuf);
			return;
		}
	}
	haul_drop(rx, &mbuf, 1, HAUL_DROP_CONSUMED);
}

static __attribute__((noreturn)) int router(void *unused)
{
	const struct haul_sim_node_opts opts = {.name = "router",
		.address = "10.77.0.2/24",
		.io = {.on_packet = route, .policy = {.how = HAUL_POLL_BLOCK}},
		.mbufs = 2048,
		.ring = 256};
	struct haul_sim_node *node;

	haul_sim_node_start(&node, &opts);
	for (;;)
		sleep(1000); /* simulated, until it is killed */
}

static void see_line(const char *line)
{
	if (sscanf(line, "%lu pings in %lf s: %lu answered, %lu silent, %lu failed", &count,
		    &seconds, &answered, &silent, &failed) == 5) {
		lines++;
		said_at = haul_now();
	} else if (sscanf(line, "round trip: 50 %% %lu us, 99 %% %lu us, longest %lu us",
			   &median_us, &p99_us, &longest_us) == 3) {
		lines++;
	}
}

static int pinger(void *unused)
{
	static const char *const carriers[] = {"1", "2", "3"};
	const char *argv[] = {"pinger", "--port", "sim:pinger", "--first", "10.1.0.200", "--count",
		"300", "--deadline", deadline, "--carriers", carriers[haul_sim_seed() % 3],
		"--period", "0", "--screen", "off", NULL};
	int rc;

	static_assert(TARGETS == 300, "--count");
	printed_begin(see_line);
	rc = haul_pinger_main(sizeof(argv) / sizeof(argv[0]) - 1, (char **)argv);
	printed_end();
	return rc;
}

static unsigned nb_answered(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TARGETS; i++)
		n += targets[i].answered != 0;
	return n;
}

static void start(void)
{
	haul_sim_net("link pinger router delay=1ms; link router > pinger jitter=2ms");
	haul_sim_watch(see, NULL);
	haul_sim_host("router", router, NULL);
}

static void end(void)
{
	if (haul_sim_wait("pinger") != 0)
		haul_sim_fail("pinger does not end well");
	haul_sim_watch(NULL, NULL);
	if (lines != 2)
		haul_sim_fail("%u lines of results", lines);
	if (count != TARGETS || answered + silent + failed != TARGETS || answered > nb_answered())
		haul_sim_fail("of %lu pings %lu are answered, by %u hosts, %lu silent, %lu failed",
			count, answered, nb_answered(), silent, failed);
	if (silent > nb_silent())
		haul_sim_fail(
			"%lu hosts are silent, but only %u do not answer", silent, nb_silent());
	if (median_us > p99_us || p99_us > longest_us)
		haul_sim_fail("round trips of %lu, %lu, %lu us", median_us, p99_us, longest_us);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Us, rounded down, of a histogram: never less, and up to 1/32 more. */
static void look_at_time(const char *name, unsigned long us, uint64_t ns)
{
	if (us < ns / HAUL_US || us > (ns + ns / 32 + HANDLING) / HAUL_US)
		haul_sim_fail("round trip, %s: %lu us, but it is %" PRIu64, name, us, ns / HAUL_US);
}

static void look_at_times(void)
{
	uint64_t times[TARGETS];
	unsigned n = 0;

	for (unsigned i = 0; i < TARGETS; i++)
		if (targets[i].answered)
			times[n++] = targets[i].answered - targets[i].first;
	qsort(times, n, sizeof(times[0]), compare);
	look_at_time("50 %", median_us, times[(n + 1) / 2 - 1]);
	look_at_time("99 %", p99_us, times[(n * 99 + 99) / 100 - 1]);
	look_at_time("longest", longest_us, times[n - 1]);
	if ((uint64_t)(seconds * 1000) + 20 < (said_at - targets[0].first) / HAUL_MS ||
		(uint64_t)(seconds * 1000) > (said_at - targets[0].first) / HAUL_MS + 20)
		haul_sim_fail("in %.2f s, but it took %" PRIu64 " ms", seconds,
			(said_at - targets[0].first) / HAUL_MS);
}

/* No faults: who answers has one request, others one each second until the deadline. */
static void look_at_requests(void)
{
	for (unsigned i = 0; i < TARGETS; i++) {
		const struct target *t = &targets[i];

		if (t->requests != (is_silent(i) ? 3u : 1u))
			haul_sim_fail("%u requests to host %u", t->requests, i);
		if (is_silent(i) && (t->last - t->first + 5 * HAUL_MS) / (10 * HAUL_MS) != 200)
			haul_sim_fail("host %u is asked within %" PRIu64 " ms", i,
				(t->last - t->first) / HAUL_MS);
		if (i >= AT_ONCE && t->first - targets[i - AT_ONCE].first < 900 * HAUL_US)
			haul_sim_fail("hosts %u to %u are asked within %" PRIu64 " us", i - AT_ONCE,
				i, (t->first - targets[i - AT_ONCE].first) / HAUL_US);
	}
}

static int calm(void)
{
	haul_sim_faults_stop();
	deadline = "3s";
	start();
	haul_sim_host("pinger", pinger, NULL);
	end();
	haul_sim_kill("router");
	if (answered != TARGETS - nb_silent() || failed > 0)
		haul_sim_fail("of %u hosts that answer %lu have answered, %lu failed",
			TARGETS - nb_silent(), answered, failed);
	look_at_times();
	look_at_requests();
	return 0;
}

/* The router dies, and is known not to be there before the deadline. */
static int gone(void)
{
	haul_sim_faults_stop();
	deadline = "90s";
	start();
	haul_sim_host("pinger", pinger, NULL);
	while (targets[0].first == 0)
		usleep(100); /* simulated */
	usleep(haul_sim_seed() % 10 * 1000); /* simulated */
	haul_sim_kill("router");
	end();
	if (answered != nb_answered() || silent > 0)
		haul_sim_fail("%u have answered, but %lu are said to, %lu are silent",
			nb_answered(), answered, silent);
	return 0;
}

static int recovers(void)
{
	haul_sim_faults_stop(); /* until all have started */
	deadline = "60s";
	start();
	haul_sim_may_die("router");
	haul_sim_host("pinger", pinger, NULL);
	usleep(haul_sim_seed() % 7 * 100000); /* simulated: it may ping already */
	networks_trouble(TROUBLE, 0);
	end();
	haul_sim_kill("router");
	if (answered + failed < TARGETS - nb_silent())
		haul_sim_fail("%lu have answered, %lu failed", answered, failed);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		/* All but flipped bits: a wrong address in ARP is believed. */
		{"calm", calm, "none", 0},
		{"gone", gone, "none", 0},
		{"recovers", recovers, NETWORKS_FAULTS, 0},
		{NULL, NULL, NULL, 0},
	};

	return networks_main(argc, argv, tests);
}
