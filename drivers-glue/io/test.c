/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of handlers. A port is an ethdev of the null PMD, whose burst functions are replaced by
 * two of a wire, as in spreading: one takes what the test has fed, from a hand-over, the other one
 * notes what was sent. Nothing comes from outside, so pollers may be in virtual time: one that
 * finds nothing listens to its hand-overs and lets its carrier sleep, and a quiet runtime is one in
 * which no frame is on its way (sched/look/quiet.c).
 *
 * Carriers run in parallel within an instant, so frames of one instant are taken when it is over,
 * in an order that does not depend on who was first.
 */
#include <haul-dpdk/test.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/eal.h>
#include <haul-dpdk/pool.h>
#include <haul/net.h>
#include <haul/sync.h>

#include "base/assert.h"
#include "io/packet.h"
#include "io/state.h"

#define CARRIERS_MAX 64
#define MBUFS 4096
#define STACK (248 << 10)
#define PATIENCE (10 * HAUL_S) /* real time for coroutines to end */
#define NO_TEST "NULL is given; give what haul_test_start() has given"

/* Between the test and a carrier's queues of a port. */
struct wire {
	struct hauli_handover in; /* fed and not received yet */
	/* Constant. */
	struct haul_test *t;
	unsigned port, carrier;
	struct rte_eth_fp_ops ops;
	void *queue, *no_callbacks;

	/* Sent and not taken yet, oldest first. Under the lock of the test. */
	struct haul_test_frame *frames;
	size_t first, end, room;
};

struct haul_test {
	/* Constant. */
	struct haul_runtime *rt;
	struct haul_io *io;
	struct rte_mempool *pool;
	struct haul_port *ports[HAUL_TEST_PORTS_MAX];
	unsigned nb_ports, nb_carriers;
	struct wire **wires; /* [nb_ports][nb_carriers] */

	pthread_mutex_t lock; /* of what was sent */
	struct haul_event came; /* a frame was sent since the taker has looked */
};

static bool is_running; /* a test. The thread that starts and stops */

static uint16_t receive(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct wire *w = queue;
	struct hauli_node *node;
	uint16_t got = 0;

	if (hauli_handover_is_empty(&w->in))
		hauli_handover_listen(&w->in);
	while (got < n && (node = hauli_handover_take(&w->in)))
		pkts[got++] = hauli_pkt_of(node);
	return got;
}

/* Room for n more frames. Under the lock. */
static bool make_room(struct wire *w, uint16_t n)
{
	struct haul_test_frame *more;

	if (w->first == w->end)
		w->first = w->end = 0;
	if (w->room - w->end >= n)
		return true;
	more = realloc(w->frames, 2 * (w->room + n) * sizeof(*more));
	if (!more)
		return false;
	w->frames = more;
	w->room = 2 * (w->room + n);
	return true;
}

static uint16_t note_sent(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct wire *w = queue;
	uint64_t now = haul_now();

	pthread_mutex_lock(&w->t->lock);
	if (!make_room(w, n))
		n = 0;
	for (uint16_t i = 0; i < n; i++)
		w->frames[w->end++] = (struct haul_test_frame){
			.pkt = pkts[i], .port = w->port, .carrier = w->carrier, .at = now};
	pthread_mutex_unlock(&w->t->lock);
	haul_event_set(&w->t->came);
	return n;
}

static struct wire *wire_of(const struct haul_test *t, unsigned port, unsigned carrier)
{
	return t->wires[port * t->nb_carriers + carrier];
}

static bool begins_earlier(const struct wire *a, const struct wire *b)
{
	return a->frames[a->first].at < b->frames[b->first].at;
}

/* The wire with the first frame of a port, or of HAUL_ANY; NULL: there is none. Under the
 * lock. */
static struct wire *first_sent(const struct haul_test *t, unsigned port)
{
	unsigned begin = port == HAUL_ANY ? 0 : port * t->nb_carriers;
	unsigned end = port == HAUL_ANY ? t->nb_ports * t->nb_carriers : begin + t->nb_carriers;
	struct wire *first = NULL;

	for (unsigned i = begin; i < end; i++) {
		struct wire *w = t->wires[i];

		if (w->first < w->end && (!first || begins_earlier(w, first)))
			first = w;
	}
	return first;
}

/* Takes the first frame if it was sent before now. *at: when the first one was sent; HAUL_FOREVER:
 * there is none. */
static bool take(struct haul_test *t, unsigned port, uint64_t now, struct haul_test_frame *frame,
	uint64_t *at)
{
	struct wire *w;

	pthread_mutex_lock(&t->lock);
	w = first_sent(t, port);
	*at = w ? w->frames[w->first].at : HAUL_FOREVER;
	if (w && *at < now)
		*frame = w->frames[w->first++];
	pthread_mutex_unlock(&t->lock);
	return w && *at < now;
}

int haul_test_take(
	struct haul_test *t, unsigned port, struct haul_test_frame *frame, uint64_t deadline)
{
	uint64_t at;
	int err = 0;

	HAUL_MISUSE_IF(!t || !frame, NO_TEST);
	HAUL_MISUSE_IF(port != HAUL_ANY && port >= t->nb_ports, "there is no port %u", port);
	while (!err) {
		haul_event_reset(&t->came);
		if (take(t, port, haul_now(), frame, &at))
			return 0;
		if (deadline == 0)
			return -EAGAIN;
		if (at != HAUL_FOREVER)
			err = haul_sleep_until(at + 1);
		else
			err = haul_event_wait(&t->came, deadline);
	}
	/* Frames sent at the instant of the deadline count, too. */
	if (err != -ETIMEDOUT || haul_now() != deadline)
		return err;
	err = haul_sleep_until(deadline + 1);
	if (err)
		return err;
	return take(t, port, deadline + 1, frame, &at) ? 0 : -ETIMEDOUT;
}

int haul_test_feed_pkt(struct haul_test *t, unsigned port, unsigned carrier, struct rte_mbuf *pkt)
{
	struct hauli_bulk bulk = {NULL, NULL};

	HAUL_MISUSE_IF(!t || !pkt, NO_TEST);
	HAUL_MISUSE_IF(!haul_self(), "called outside a coroutine: haul_test_run() makes one");
	if (port >= t->nb_ports || (carrier != HAUL_ANY && carrier >= t->nb_carriers))
		return -EINVAL;
	if (carrier == HAUL_ANY)
		carrier = (unsigned)((uint64_t)haul_net_flow(pkt) * t->nb_carriers >> 32);
	pkt->port = haul_port_queue(t->ports[port], carrier).port_id;
	hauli_bulk_add(&bulk, hauli_pkt_node(pkt));
	hauli_handover_put(&wire_of(t, port, carrier)->in, &bulk);
	return 0;
}

int haul_test_feed(
	struct haul_test *t, unsigned port, unsigned carrier, const void *frame, size_t len)
{
	struct rte_mbuf *pkt;
	int err;

	HAUL_MISUSE_IF(!t || !frame, NO_TEST);
	pkt = rte_pktmbuf_alloc(t->pool);
	if (!pkt)
		return -ENOMEM;
	if (len == 0 || len > rte_pktmbuf_tailroom(pkt)) {
		rte_pktmbuf_free(pkt);
		return -EINVAL;
	}
	memcpy(rte_pktmbuf_append(pkt, (uint16_t)len), frame, len);
	err = haul_test_feed_pkt(t, port, carrier, pkt);
	if (err)
		rte_pktmbuf_free(pkt);
	return err;
}

static int start_eal(unsigned mbufs, char *errbuf, size_t errlen)
{
	const struct haul_plan_opts one = {.carriers = 1};
	struct haul_eal_opts opts = {.program = "test", .mem_mb = haul_pool_mem_mb(mbufs)};
	struct haul_plan *plan;
	int err = haul_plan_create(&plan, &one, errbuf, errlen);

	if (err)
		return err;
	opts.plan = plan;
	err = haul_eal_init(&opts, errbuf, errlen);
	haul_plan_destroy(plan);
	if (err == -EALREADY)
		return 0;
	if (!err)
		(void)atexit(haul_eal_fini);
	return err;
}

/* Carriers are POSIX threads that float. */
static int start_runtime(struct haul_test *t, char *errbuf, size_t errlen)
{
	const struct haul_plan_opts opts = {.carriers = t->nb_carriers};
	struct haul_runtime_opts rt = {.virtual_time = true};
	struct haul_plan *plan;
	int err = haul_plan_create(&plan, &opts, errbuf, errlen);

	if (err)
		return err;
	for (unsigned i = 0; i < plan->carriers; i++)
		plan->places[i].cpu = plan->places[i].core = plan->places[i].node = -1;
	rt.plan = plan;
	err = haul_start(&t->rt, &rt, errbuf, errlen);
	haul_plan_destroy(plan);
	if (!err)
		hauli_glue_let_poll(t->rt);
	return err;
}

static int open_ports(struct haul_test *t, unsigned n, char *errbuf, size_t errlen)
{
	const struct haul_port_opts opts = {.queues = t->nb_carriers, .pool = t->pool};
	int err = 0;

	for (unsigned i = 0; i < n && !err; i++) {
		err = haul_port_open(&t->ports[i], "null:no-rx=1", &opts, errbuf, errlen);
		if (err)
			break;
		t->nb_ports++;
		err = haul_port_start(t->ports[i], errbuf, errlen);
	}
	return err;
}

static int create_wire(struct haul_test *t, unsigned port, unsigned carrier)
{
	struct hauli_poller *p = t->io->pollers[carrier];
	struct wire *w = aligned_alloc(
		HAULI_CACHE_LINE, RTE_ALIGN_CEIL(sizeof(*w), (size_t)HAULI_CACHE_LINE));

	if (!w)
		return -ENOMEM;
	*w = (struct wire){
		.t = t,
		.port = port,
		.carrier = carrier,
		.ops = {.rx_pkt_burst = receive, .tx_pkt_burst = note_sent},
		.queue = w,
	};
	w->ops.rxq.data = w->ops.txq.data = &w->queue;
	w->ops.rxq.clbk = w->ops.txq.clbk = &w->no_callbacks;
	hauli_handover_init(&w->in, p->carrier);
	p->rxqs[port].burst = p->txs[port].burst = (struct hauli_burst){&w->ops, 0, 0};
	t->wires[port * t->nb_carriers + carrier] = w;
	return 0;
}

static int create_wires(struct haul_test *t, char *errbuf, size_t errlen)
{
	int err = 0;

	t->wires = calloc(t->nb_ports * t->nb_carriers, sizeof(struct wire *));
	if (!t->wires)
		err = -ENOMEM;
	for (unsigned i = 0; i < t->nb_ports * t->nb_carriers && !err; i++)
		err = create_wire(t, i / t->nb_carriers, i % t->nb_carriers);
	if (err)
		snprintf(errbuf, errlen, "haul_test_start: %s", strerror(-err));
	return err;
}

static int start_io(struct haul_test *t, const struct haul_io_opts *io, char *errbuf, size_t errlen)
{
	struct haul_io_opts opts = *io;
	int err;

	opts.ports = t->ports;
	opts.nb_ports = t->nb_ports;
	opts.pool = t->pool;
	opts.policy = (struct haul_poll_policy){.how = HAUL_POLL_SPIN};
	opts.spread = HAUL_SPREAD_OFF;
	opts.capture = NULL;
	opts.count_bytes = opts.stopped = true;
	err = haul_io_start(&t->io, t->rt, &opts, errbuf, errlen);
	if (!err)
		err = create_wires(t, errbuf, errlen);
	return err ? err : haul_io_resume(t->io, NULL, errbuf, errlen);
}

/* The packets that were fed and not received, or sent and not taken. */
static void free_packets(struct wire *w)
{
	struct hauli_node *node;

	while ((node = hauli_handover_take(&w->in)))
		rte_pktmbuf_free(hauli_pkt_of(node));
	while (w->first < w->end)
		rte_pktmbuf_free(w->frames[w->first++].pkt);
	hauli_handover_fini(&w->in);
}

/* After the pollers. The first error has the line. */
static int take_down(struct haul_test *t, int err, char *errbuf, size_t errlen)
{
	unsigned n = t->wires ? t->nb_ports * t->nb_carriers : 0;
	char later[256];

	for (unsigned i = 0; i < n && t->wires[i]; i++)
		free_packets(t->wires[i]);
	if (t->rt && haul_stop(t->rt, PATIENCE) != 0) {
		snprintf(errbuf, errlen, "haul_test_stop: coroutines do not end: see stderr");
		return -ETIMEDOUT;
	}
	for (unsigned i = 0; i < t->nb_ports; i++)
		haul_port_close(t->ports[i]);
	if (t->io) {
		int leak = haul_io_free(t->io, err ? later : errbuf, err ? sizeof(later) : errlen);

		err = err ? err : leak;
	}
	for (unsigned i = 0; i < n && t->wires[i]; i++) {
		free(t->wires[i]->frames);
		free(t->wires[i]);
	}
	free(t->wires);
	rte_mempool_free(t->pool);
	pthread_mutex_destroy(&t->lock);
	free(t);
	is_running = false;
	return err;
}

static int check(const struct haul_test_opts *opts, char *errbuf, size_t errlen)
{
	const char *wrong = NULL;
	int err = -EINVAL;

	if (haul_carrier_self())
		err = -EPERM, wrong = "called on a carrier; call it in another thread";
	else if (is_running)
		err = -EBUSY, wrong = "there is a test; end it by haul_test_stop()";
	else if (opts->ports > HAUL_TEST_PORTS_MAX || opts->carriers > CARRIERS_MAX)
		wrong = "at most 16 ports and 64 carriers";
	if (!wrong)
		return 0;
	snprintf(errbuf, errlen, "haul_test_start: %s", wrong);
	return err;
}

int haul_test_start(struct haul_test **out, const struct haul_io_opts *io,
	const struct haul_test_opts *opts, char *errbuf, size_t errlen)
{
	const struct haul_test_opts chosen = opts ? *opts : (struct haul_test_opts){0};
	unsigned mbufs = chosen.mbufs ? chosen.mbufs : MBUFS;
	struct haul_test *t;
	char unread[256];
	int err;

	HAUL_MISUSE_IF(!out || !io, "the test or the options of io are NULL");
	err = check(&chosen, errbuf, errlen);

	if (!err)
		err = start_eal(mbufs, errbuf, errlen);
	if (err)
		return err;
	t = calloc(1, sizeof(*t));
	if (!t) {
		snprintf(errbuf, errlen, "haul_test_start: no memory");
		return -ENOMEM;
	}
	is_running = true;
	pthread_mutex_init(&t->lock, NULL);
	t->nb_carriers = chosen.carriers ? chosen.carriers : 1;
	t->pool = haul_pool_create(mbufs, errbuf, errlen);
	err = t->pool ? start_runtime(t, errbuf, errlen) : -ENOMEM;
	if (!err)
		err = open_ports(t, chosen.ports ? chosen.ports : 1, errbuf, errlen);
	if (!err)
		err = start_io(t, io, errbuf, errlen);
	if (err)
		return take_down(t, err, unread, sizeof(unread));
	*out = t;
	return 0;
}

struct body {
	void (*fn)(void *arg);
	void *arg;
};

static void *run_body(void *arg)
{
	struct body *body = arg;

	body->fn(body->arg);
	return NULL;
}

int haul_test_run(struct haul_test *t, void (*body)(void *arg), void *arg)
{
	const struct haul_coro_opts opts = {.name = "test", .stack_size = STACK, .pinned = true};
	struct body b = {body, arg};
	struct haul_coro *co;
	int err;

	HAUL_MISUSE_IF(!t || !body, NO_TEST);
	err = haul_spawn_on(haul_carrier(t->rt, 0), &co, run_body, &b, &opts);
	return err ? err : haul_join(co, NULL, HAUL_FOREVER);
}

struct haul_io *haul_test_io(const struct haul_test *t)
{
	HAUL_MISUSE_IF(!t, NO_TEST);
	return t->io;
}

struct haul_runtime *haul_test_runtime(const struct haul_test *t)
{
	HAUL_MISUSE_IF(!t, NO_TEST);
	return t->rt;
}

struct rte_mempool *haul_test_pool(const struct haul_test *t)
{
	HAUL_MISUSE_IF(!t, NO_TEST);
	return t->pool;
}

int haul_test_stop(struct haul_test *t, uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	int err;

	HAUL_MISUSE_IF(!t, NO_TEST);
	err = haul_io_stop(t->io, timeout_ns, errbuf, errlen);
	return err == -ETIMEDOUT ? err : take_down(t, err, errbuf, errlen);
}
