/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Balancing on real carriers and ports: a packet program whose handler keeps its carrier for a time
 * without its CPU (it sleeps in the kernel), so that four carriers have four times of one carrier's
 * capacity on machines with fewer CPUs, too. The packets come from a thread here, through an
 * interface: their flows are those of load.h, at a steady rate.
 */
#include <linux/if_packet.h>
#include <math.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <rte_mbuf.h>

#include <haul-app/app.h>
#include <haul-dpdk/io.h>
#include <haul/hist.h>
#include <haul/runtime.h>

#include "load.h"
#include "ovs.h"

#define BATCH 8u
#define FRAME 60u

/* The frame. */
struct frame {
	uint8_t to[6], from[6];
	uint16_t type;
	uint8_t version_length, tos;
	uint16_t length, id, offset;
	uint8_t ttl, protocol;
	uint16_t checksum;
	uint32_t source, target;
	uint16_t source_port, target_port, udp_length, udp_checksum;
	uint32_t epoch, number; /* of the flow, which is the source port */
	uint64_t sent_at;
} __attribute__((packed));

static struct {
	const char *interface;
	uint64_t rate, service_ns, queues;
	unsigned shape;
	bool ovs;
} options = {.interface = "v1", .rate = 6000, .service_ns = 400 * HAUL_US, .queues = 16};

static struct {
	pthread_t thread;
	int socket;
	atomic_bool stops;
	atomic_ulong sent;
	struct hauli_random random;
	double upto[FLOWS]; /* sums of weights */
	uint32_t number[FLOWS];
	struct frame frames[BATCH];
} sender;

static struct {
	struct haul_hist waits[CARRIERS_MAX];
	_Atomic(uint64_t) last[FLOWS]; /* the epoch and number of its last packet */
	atomic_ulong disorder;
} handled;

/* A flow gets its packets on one carrier at a time. */
static void check_order(const struct frame *f)
{
	uint64_t now = (uint64_t)f->epoch << 32 | f->number;
	uint64_t was = atomic_exchange(&handled.last[ntohs(f->source_port) % FLOWS], now);

	if (was >> 32 == f->epoch && was > now)
		atomic_fetch_add(&handled.disorder, 1);
}

static void serve(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	const struct timespec service = {.tv_nsec = (long)options.service_ns};
	struct haul_hist *waits = &handled.waits[rx->carrier];

	for (uint16_t i = 0; i < n; i++) {
		const struct frame *f = rte_pktmbuf_mtod(pkts[i], const struct frame *);

		if (pkts[i]->data_len >= sizeof(*f) && f->udp_checksum == 0 &&
			f->type == htons(ETHERTYPE_IP)) {
			check_order(f);
			clock_nanosleep(CLOCK_MONOTONIC, 0, &service, NULL);
			haul_hist_add(waits, haul_now() - f->sent_at, 1);
		}
		haul_drop(rx, &pkts[i], 1, HAUL_DROP_CONSUMED);
	}
}

static unsigned draw_flow(void)
{
	double at = (double)(hauli_random_next(&sender.random) >> 11) * 0x1p-53;
	unsigned low = 0, high = FLOWS - 1;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (sender.upto[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void fill(struct frame *f, uint32_t epoch)
{
	unsigned flow = draw_flow();

	*f = (struct frame){.to = {2, 0, 0, 0, 0, 1},
		.from = {2, 0, 0, 0, 0, 2},
		.type = htons(ETHERTYPE_IP),
		.version_length = 0x45,
		.length = htons(sizeof(*f) - 14),
		.ttl = 64,
		.protocol = IPPROTO_UDP,
		.source = htonl(0x0a000000 + epoch),
		.target = htonl(0x0a800001),
		.source_port = htons((uint16_t)flow),
		.target_port = htons(7),
		.udp_length = htons(sizeof(*f) - 34),
		.epoch = epoch,
		.number = sender.number[flow]++,
		.sent_at = haul_now()};
}

/* The flows of Zipf's law, moving, are others each second. */
static void send_batch(uint64_t began)
{
	uint64_t epoch = options.shape == MOVING ? (haul_now() - began) / HAUL_S : 0;
	struct iovec iov[BATCH];
	struct mmsghdr msgs[BATCH];
	int n;

	memset(msgs, 0, sizeof(msgs));
	for (unsigned i = 0; i < BATCH; i++) {
		fill(&sender.frames[i], (uint32_t)epoch);
		iov[i] = (struct iovec){&sender.frames[i], sizeof(sender.frames[i])};
		msgs[i].msg_hdr.msg_iov = &iov[i];
		msgs[i].msg_hdr.msg_iovlen = 1;
	}
	n = sendmmsg(sender.socket, msgs, BATCH, 0);
	if (n > 0)
		atomic_fetch_add(&sender.sent, (unsigned long)n);
}

/* All from one CPU: the kernel hands frames over by CPU. */
static void *send_all(void *arg)
{
	uint64_t began = haul_now(), next = began;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
	(void)prctl(PR_SET_TIMERSLACK, 1);
	while (!atomic_load(&sender.stops)) {
		uint64_t now = haul_now();

		if (now < next) {
			struct timespec pause = {.tv_nsec = (long)(next - now)};

			clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
			continue;
		}
		send_batch(began);
		next += BATCH * HAUL_S / options.rate;
	}
	return NULL;
}

static int open_interface(const struct haul_app *app)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(options.interface)};

	sender.socket = socket(AF_PACKET, SOCK_RAW, 0);
	if (sender.socket >= 0 && to.sll_ifindex > 0 &&
		bind(sender.socket, (struct sockaddr *)&to, sizeof(to)) == 0)
		return HAUL_APP_DONE;
	haul_app_say(app->program, "%s: %m", options.interface);
	return HAUL_APP_FAILED;
}

static int set_slack(struct haul_app *app, unsigned carrier)
{
	return prctl(PR_SET_TIMERSLACK, 1) == 0 ? HAUL_APP_DONE : HAUL_APP_FAILED;
}

static int parsed(struct haul_app *app, struct haul_io_opts *io)
{
	app->rx_queues = (unsigned)options.queues;
	return HAUL_APP_DONE;
}

static int started(struct haul_app *app)
{
	double weights[FLOWS], sum = 0;
	int err = open_interface(app);

	if (err)
		return err;
	if (options.ovs) {
		err = ovs_begin(app);
		if (err)
			return err;
	}
	hauli_random_init(&sender.random, 1);
	flow_weights((enum shape)options.shape, 4, weights);
	for (unsigned f = 0; f < FLOWS; f++)
		sender.upto[f] = sum += weights[f];
	return pthread_create(&sender.thread, NULL, send_all, NULL) == 0 ? HAUL_APP_DONE
									 : HAUL_APP_FAILED;
}

/* What is on its way is served. */
static bool may_end(struct haul_app *app)
{
	static bool stopped;

	if (!stopped && sender.thread) {
		atomic_store(&sender.stops, true);
		pthread_join(sender.thread, NULL);
		stopped = true;
	}
	return true;
}

static void add_results(struct haul_app *app, struct haul_app_json *object)
{
	static struct haul_hist all;

	for (unsigned c = 0; c < CARRIERS_MAX; c++)
		haul_hist_merge(&all, &handled.waits[c]);
	haul_app_json_number(object, "sent", (int64_t)atomic_load(&sender.sent));
	haul_app_json_number(object, "served", (int64_t)haul_hist_count(&all));
	haul_app_json_number(object, "disorder", (int64_t)atomic_load(&handled.disorder));
	haul_app_json_number(object, "p50_ns", (int64_t)haul_hist_quantile(&all, 0.5));
	haul_app_json_number(object, "p99_ns", (int64_t)haul_hist_quantile(&all, 0.99));
	haul_app_json_number(object, "ovs_moves", (int64_t)ovs_moves());
}

static void closed(struct haul_app *app)
{
	ovs_end();
	if (sender.socket > 0)
		close(sender.socket);
}

int main(int argc, char **argv)
{
	static const struct haul_app_option table[] = {
		{"--interface", "NAME", HAUL_APP_TEXT, &options.interface,
			.help = "packets are sent through"},
		{"--rate", "N", HAUL_APP_NUMBER, &options.rate, .min = 100, .max = 1000000,
			.help = "packets per second"},
		{"--shape", "even|elephant|zipf|moving", HAUL_APP_CHOICE, &options.shape,
			.help = "of the load"},
		{"--service", "TIME", HAUL_APP_TIME, &options.service_ns, .min = 1,
			.max = 100 * HAUL_MS, .help = "of a packet"},
		{"--rxq", "N", HAUL_APP_NUMBER, &options.queues, .min = 1, .max = 1024,
			.help = "receive queues"},
		{"--ovs", NULL, HAUL_APP_FLAG, &options.ovs,
			.help = "move by the rule of Open vSwitch"},
		{0},
	};
	static const struct haul_app_program program = {.name = "balance-served",
		.purpose = "Serves a skewed load on a few carriers.",
		.options = {table}};
	static const struct haul_app_hooks hooks = {.on_burst = serve,
		.parsed = parsed,
		.carrier_begins = set_slack,
		.started = started,
		.may_end = may_end,
		.json = add_results,
		.closed = closed};

	return haul_app_main(&program, &hooks, argc, argv);
}
