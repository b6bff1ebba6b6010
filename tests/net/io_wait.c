/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wake-ups of a blocked poller by other events than a received packet: a hand-over from the RPS
 * source, a packet to send for an RPS target, a sender that continues, a call on a descriptor. Ring
 * ports cannot be waited on, so pollers sleep in short steps here; the test can make a carrier wait
 * for ever instead: then a missing wake-up hangs the test.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include <haul/fd.h>

#include "io/drain.h"
#include "io/state.h"
#include "io/wait.h"
#include "io_bed.h"
#include "sched/state/self.h"

#define FLOW_AT 11 /* the last byte of the source's MAC address */
#define NUMBERS 24

static struct {
	struct bed bed;
	atomic_bool for_ever[BED_CARRIERS]; /* the carrier's waits have no end */
	atomic_bool waits[BED_CARRIERS]; /* the carrier is in such a wait */
	atomic_uint handled[BED_CARRIERS], back;
	atomic_bool hold, held; /* by a handler on carrier 1 */
	bool full; /* port 0's NIC is full, until a parked poller polls it; carrier 0's */
	atomic_uint sent;
	int ends[2]; /* of a pipe */
	atomic_uint read; /* bytes, by calls that wait */
	bool refuse; /* to take more descriptors into an epoll set */
} s;

/* Replaces libc's function. */
int epoll_pwait2(
	int fd, struct epoll_event *events, int n, const struct timespec *most, const sigset_t *set)
{
	const struct haul_carrier *c = hauli_self();
	int got;

	if (!c || !s.for_ever[c->id])
		return (int)syscall(SYS_epoll_pwait2, fd, events, n, most, set, _NSIG / 8);
	s.waits[c->id] = true;
	got = (int)syscall(SYS_epoll_pwait2, fd, events, n, NULL, set, _NSIG / 8);
	s.waits[c->id] = false;
	return got;
}

/* The same. */
int epoll_ctl(int set, int op, int fd, struct epoll_event *event)
{
	if (s.refuse && op == EPOLL_CTL_ADD) {
		errno = ENOSPC;
		return -1;
	}
	return (int)syscall(SYS_epoll_ctl, set, op, fd, event);
}

static void open_with(const char *const *ports, unsigned queues)
{
	memset(&s, 0, sizeof(s));
	bed_open_with(&s.bed, ports, queues, HAUL_STEAL_OFF);
}

static void start(haul_packet_fn *on_packet)
{
	struct haul_io_opts opts = bed_io_opts(&s.bed);

	opts.on_packet = on_packet;
	opts.policy = (struct haul_poll_policy){.how = HAUL_POLL_SLEEP, .ns = HAUL_MS};
	bed_start(&s.bed, &opts);
}

static void wait_for_ever(unsigned carrier)
{
	s.for_ever[carrier] = true;
	WAIT_UNTIL(s.waits[carrier]);
}

static void *send_one(void *arg)
{
	uint32_t number = (uint32_t)(uintptr_t)arg;
	struct rte_mbuf *pkt = bed_packet(&s.bed, number);

	rte_pktmbuf_mtod(pkt, char *)[FLOW_AT] = (char)number;
	ck_assert_int_eq(haul_send(haul_io_txq(s.bed.io, 0, 0), pkt), 0);
	return NULL;
}

/* A poller that ends bounds its waits. */
static void close_bed(void)
{
	s.for_ever[0] = s.for_ever[1] = false;
	bed_close(&s.bed, HAUL_FOREVER);
}

static void *run_on(unsigned carrier, haul_fn *fn, void *arg)
{
	struct haul_coro *co;
	void *result;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(s.bed.rt, carrier), &co, fn, arg, NULL), 0);
	ck_assert_int_eq(haul_join(co, &result, HAUL_FOREVER), 0);
	return result;
}

/* Forwards packets from port 0; they come back on port 1. */
static void forward(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (rx->port == 1) {
		rte_pktmbuf_free(pkt);
		s.back++;
		return;
	}
	s.handled[rx->carrier]++;
	while (rx->carrier == 1 && s.hold) {
		s.held = true;
		haul_yield();
	}
	if (haul_send(rx->peer, pkt) != 0)
		haul_drop(rx, &pkt, 1, HAUL_DROP_STOPPING);
}

static unsigned handled(void)
{
	return s.handled[0] + s.handled[1];
}

static const char *const two_ports[] = {"ring:", "ring:", NULL};

/* Sends one packet of each flow while the RPS target waits. */
START_TEST(a_hand_over_ends_the_wait_of_an_rps_target)
{
	open_with(two_ports, 1);
	start(forward);
	for (uintptr_t number = 0; number < NUMBERS; number++) {
		wait_for_ever(1);
		run_on(0, send_one, (void *)number);
		WAIT_UNTIL(s.back == number + 1);
	}
	ck_assert_uint_gt(s.handled[1], 0);
	close_bed();
}
END_TEST

/* Sends packets of one flow after another, until the RPS target holds one. */
static void hold_one(void)
{
	s.hold = true;
	for (uintptr_t number = 0; !s.held; number++) {
		run_on(0, send_one, (void *)number);
		WAIT_UNTIL(handled() == number + 1);
		WAIT_UNTIL(s.back == s.handled[0]);
	}
}

START_TEST(packet_for_a_tx_proxy_ends_its_wait)
{
	open_with(two_ports, 1);
	start(forward);
	hold_one();
	wait_for_ever(0);
	s.hold = false;
	WAIT_UNTIL(s.back == handled());
	close_bed();
}
END_TEST

static bool is_drained(unsigned carrier)
{
	return hauli_u32_published_get(&s.bed.io->pollers[carrier]->drained) != 0;
}

/* Runs on carrier 0: "drains" if the carrier's poller is the drain. */
static void *drains(void *arg)
{
	const struct haul_coro *poller = hauli_self()->poller.coro;

	return poller && poller->fn == hauli_drain ? "drains" : NULL;
}

/* Returns the error, or NULL. */
static void *stop(void *arg)
{
	struct bed *bed = &s.bed;

	if (haul_io_stop(bed->io, HAUL_FOREVER, bed->errbuf, sizeof(bed->errbuf)) == 0)
		return NULL;
	return bed->errbuf;
}

static uint64_t rounds(unsigned carrier)
{
	struct haul_carrier_stats st;

	haul_carrier_get_stats(haul_carrier(s.bed.rt, carrier), &st);
	return st.rounds;
}

/* A registered poller has a turn in each complete round of its carrier. */
START_TEST(a_tx_proxy_sends_until_its_targets_have_drained)
{
	pthread_t stopper;
	bool too_early;
	uint64_t enough;
	void *wrong;

	open_with(two_ports, 1);
	start(forward);
	hold_one();
	ck_assert_int_eq(pthread_create(&stopper, NULL, stop, NULL), 0);
	while (!run_on(0, drains, NULL) && !is_drained(0))
		;
	enough = rounds(0) + 10;
	while (rounds(0) < enough)
		run_on(0, drains, NULL);
	too_early = is_drained(0);
	s.hold = false;
	pthread_join(stopper, &wrong);
	ck_assert(!too_early);
	ck_assert_pstr_eq(wrong, NULL);
	ck_assert_uint_eq(bed_stats(&s.bed, 1, HAUL_ALL).tx_packets, handled());
	ck_assert_msg(bed_take_down(&s.bed) == 0, "%s", s.bed.errbuf);
}
END_TEST

static uint16_t take_when_parked(
	uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, void *arg)
{
	if (hauli_inbox_is_asleep(&hauli_self()->mail.inbox))
		s.full = false;
	return s.full ? 0 : n;
}

static uint16_t receive_nothing(
	uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, uint16_t max, void *arg)
{
	rte_pktmbuf_free_bulk(pkts, n);
	return 0;
}

static void *send_more_than_there_is_room_for(void *arg)
{
	s.full = true;
	for (; s.sent <= BED_BUFFER; s.sent++)
		send_one(NULL);
	return NULL;
}

static void drop(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	rte_pktmbuf_free(pkt);
}

/* The recheck before the wait finds no packet, but room for a sender. */
START_TEST(a_look_that_lets_a_sender_go_on_ends_the_wait)
{
	const void *rx, *tx;
	struct haul_queue q;

	open_with((const char *const[]){"ring:", NULL}, BED_CARRIERS);
	q = haul_port_queue(s.bed.ports[0], 0);
	tx = rte_eth_add_tx_callback(q.port_id, q.queue_id, take_when_parked, NULL);
	rx = rte_eth_add_rx_callback(q.port_id, q.queue_id, receive_nothing, NULL);
	ck_assert(tx && rx);
	start(drop);
	wait_for_ever(0);
	/* Nothing else is sent to the carrier before this has ended. */
	ck_assert_int_eq(haul_spawn_on(haul_carrier(s.bed.rt, 0), NULL,
				 send_more_than_there_is_room_for, NULL, NULL),
		0);
	WAIT_UNTIL(s.sent == BED_BUFFER + 1);
	ck_assert_pstr_eq(stop(NULL), NULL);
	rte_eth_remove_tx_callback(q.port_id, q.queue_id, tx);
	rte_eth_remove_rx_callback(q.port_id, q.queue_id, rx);
	ck_assert_msg(bed_take_down(&s.bed) == 0, "%s", s.bed.errbuf);
}
END_TEST

static void *read_one(void *arg)
{
	char c;

	s.read += haul_fd_read(s.ends[0], &c, 1, HAUL_FOREVER) == 1;
	return NULL;
}

static void open_pipe(void)
{
	open_with((const char *const[]){"ring:", NULL}, BED_CARRIERS);
	ck_assert_int_eq(pipe2(s.ends, O_CLOEXEC), 0);
	start(drop);
}

static void close_pipe(void)
{
	close(s.ends[0]);
	close(s.ends[1]);
	close_bed();
}

START_TEST(a_call_on_a_descriptor_ends_the_wait)
{
	open_pipe();
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(s.bed.rt, 0), NULL, read_one, NULL, NULL), 0);
		wait_for_ever(0);
		ck_assert_int_eq(write(s.ends[1], "x", 1), 1);
		WAIT_UNTIL(s.read == i + 1);
	}
	close_pipe();
}
END_TEST

/* A user may watch no more descriptors: the poller does not wait while calls do. */
START_TEST(without_room_in_the_set_a_poller_spins_while_calls_wait)
{
	open_pipe();
	s.for_ever[0] = true;
	s.refuse = true;
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(s.bed.rt, 0), NULL, read_one, NULL, NULL), 0);
		usleep(10000); /* nothing tells whether the call waits */
		ck_assert_int_eq(write(s.ends[1], "x", 1), 1);
		WAIT_UNTIL(s.read == i + 1);
	}
	s.refuse = false;
	close_pipe();
}
END_TEST

/* A wake-up is sticky, but is one: a poller that was woken may wait again. */
START_TEST(a_wake_up_ends_one_wait)
{
	struct hauli_io_wait w;

	memset(&s, 0, sizeof(s));
	ck_assert_int_eq(hauli_io_wait_open(&w), 0);
	ck_assert_uint_eq(hauli_io_wait(&w, 0), 0);
	for (int i = 0; i < 3; i++) {
		hauli_io_wait_wake(&w);
		hauli_io_wait_wake(&w);
		ck_assert_uint_eq(hauli_io_wait(&w, HAUL_FOREVER), HAULI_IO_WAIT_END_WOKEN);
		ck_assert_uint_eq(hauli_io_wait(&w, 0), 0);
	}
	hauli_io_wait_close(&w);
}
END_TEST

BED_MAIN("io_wait", {a_wake_up_ends_one_wait}, {a_hand_over_ends_the_wait_of_an_rps_target},
	{packet_for_a_tx_proxy_ends_its_wait}, {a_tx_proxy_sends_until_its_targets_have_drained},
	{a_look_that_lets_a_sender_go_on_ends_the_wait}, {a_call_on_a_descriptor_ends_the_wait},
	{without_room_in_the_set_a_poller_spins_while_calls_wait})
