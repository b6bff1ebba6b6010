/* SPDX-License-Identifier: BSD-3-Clause */
#include "one_thread.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/random.h>

#include <haul/carrier.h>
#include <haul/scope.h>
#include <haul/sync.h>
#include <rte_lcore.h>
#include <rte_mempool.h>

#include "base/assert.h"
#include "host/reply.h"
#include "host/steer_port.h"

unsigned one_carrier, one_random, one_pkts;
uint64_t one_now = HAUL_S;

/* Never looked into. */
static max_align_t runtime, carriers[ONE_CARRIERS], coroutines[ONE_CARRIERS];

struct haul_io one_io = {
	.rt = (struct haul_runtime *)&runtime,
	.nb_pollers = ONE_CARRIERS,
	.opts.nb_ports = 1,
};

static struct {
	haul_fn *fn;
	void *arg;
} bodies[ONE_CARRIERS];
static jmp_buf waits;

void hauli_bug(const char *what, const char *file, int line)
{
	abort();
}

void hauli_misuse(const char *call, const char *mistake, ...)
{
	abort();
}

uint64_t haul_now(void)
{
	return one_now;
}

uint64_t haul_in(uint64_t ns)
{
	return one_now + ns;
}

void __rte_panic(const char *function, const char *format, ...)
{
	abort();
}

/* Numbers that are the same for the same input. */
ssize_t getrandom(void *to, size_t n, unsigned flags)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)to)[i] = (uint8_t)((one_random++ * UINT32_C(2654435761)) >> 24);
	return (ssize_t)n;
}

/* Carriers and coroutines. */

unsigned haul_carriers(const struct haul_runtime *rt)
{
	return ONE_CARRIERS;
}

struct haul_carrier *haul_carrier(struct haul_runtime *rt, unsigned i)
{
	return (struct haul_carrier *)&carriers[i];
}

struct haul_carrier *haul_carrier_self(void)
{
	return haul_carrier(NULL, one_carrier);
}

unsigned haul_carrier_id(const struct haul_carrier *c)
{
	return (unsigned)((const max_align_t *)c - carriers);
}

struct haul_runtime *haul_carrier_runtime(const struct haul_carrier *c)
{
	return one_io.rt;
}

struct haul_coro *haul_self(void)
{
	return (struct haul_coro *)&coroutines[one_carrier];
}

struct haul_carrier *haul_coro_home(const struct haul_coro *co)
{
	return haul_carrier(NULL, (unsigned)((const max_align_t *)co - coroutines));
}

void haul_pin(void)
{
}

void haul_unpin(void)
{
}

void haul_yield(void)
{
}

int haul_on_each(struct haul_runtime *rt, int (*fn)(void *arg), void *arg)
{
	unsigned before = one_carrier;
	int err = 0;

	for (one_carrier = 0; !err && one_carrier < ONE_CARRIERS; one_carrier++)
		err = fn(arg);
	one_carrier = before;
	return err;
}

int haul_spawn_on(struct haul_carrier *c, struct haul_coro **co, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts)
{
	unsigned i = haul_carrier_id(c);

	bodies[i].fn = fn;
	bodies[i].arg = arg;
	*co = (struct haul_coro *)&coroutines[i];
	return 0;
}

/* Children run at once, and do not wait. */
void haul_scope_open(struct haul_scope *s, uint64_t deadline, enum haul_scope_policy policy)
{
}

void haul_scope_close(struct haul_scope *s)
{
}

void haul_scope_cancel(struct haul_scope *s)
{
}

int haul_scope_spawn(
	struct haul_scope *s, int (*fn)(void *arg), void *arg, const struct haul_coro_opts *opts)
{
	return fn(arg);
}

int haul_join(struct haul_coro *co, void **result, uint64_t deadline)
{
	return 0;
}

/* The body is a loop that keeps nothing from one wait to the next, so it begins anew. */
void one_run(unsigned carrier)
{
	unsigned before = one_carrier;

	one_carrier = carrier;
	if (setjmp(waits) == 0) {
		bodies[carrier].fn(bodies[carrier].arg);
		abort();
	}
	one_carrier = before;
}

/* Channels and events. */

struct haul_chan {
	size_t size;
	unsigned count, first, used;
	bool closed;
	uint8_t values[];
};

int haul_chan_create(struct haul_chan **ch, size_t size, unsigned count)
{
	*ch = calloc(1, sizeof(**ch) + size * count);
	if (!*ch)
		return -ENOMEM;
	(*ch)->size = size;
	(*ch)->count = count;
	return 0;
}

/* Nobody waits here, so that a value is always put. */
int hauli_chan_post(struct haul_chan *ch, const void *value, unsigned most)
{
	if (ch->closed)
		return -EPIPE;
	if (ch->used == ch->count || ch->used >= most)
		return -EAGAIN;
	memcpy(ch->values + (ch->first + ch->used++) % ch->count * ch->size, value, ch->size);
	return (int)ch->used;
}

unsigned hauli_chan_used(struct haul_chan *ch)
{
	return ch->used;
}

int haul_chan_send(struct haul_chan *ch, const void *value, uint64_t deadline)
{
	int n = hauli_chan_post(ch, value, UINT_MAX);

	REQUIRE(deadline == 0);
	return n < 0 ? n : 0;
}

int haul_chan_recv(struct haul_chan *ch, void *value, uint64_t deadline)
{
	if (ch->used > 0) {
		memcpy(value, ch->values + ch->first * ch->size, ch->size);
		ch->first = (ch->first + 1) % ch->count;
		ch->used--;
		return 0;
	}
	if (ch->closed)
		return -EPIPE;
	if (deadline == 0)
		return -EAGAIN;
	if (one_now >= deadline)
		return -ETIMEDOUT;
	longjmp(waits, 1);
}

void haul_chan_close(struct haul_chan *ch)
{
	ch->closed = true;
}

void haul_chan_destroy(struct haul_chan *ch)
{
	free(ch);
}

struct haul_case haul_case_recv(struct haul_chan *ch, void *value)
{
	abort();
}

void haul_event_set(struct haul_event *e)
{
}

void haul_event_reset(struct haul_event *e)
{
}

int haul_event_wait(struct haul_event *e, uint64_t deadline)
{
	abort();
}

/* Newest first, as nobody minds. */
void hauli_handover_init(struct hauli_handover *h, struct haul_carrier *owner)
{
	h->oldest = NULL;
}

void hauli_handover_put(struct hauli_handover *h, struct hauli_bulk *b)
{
	b->oldest->next = h->oldest;
	h->oldest = b->newest;
}

struct hauli_node *hauli_handover_take(struct hauli_handover *h)
{
	struct hauli_node *node = h->oldest;

	if (node)
		h->oldest = node->next;
	return node;
}

void hauli_handover_fini(struct hauli_handover *h)
{
}

/* Io, and what its packets are made of. */

int hauli_steer_init(struct hauli_steer *steer, const struct haul_io *io, unsigned port)
{
	*steer = (struct hauli_steer){.nb_queues = ONE_CARRIERS};
	return 0;
}

void hauli_host_reply(struct haul_io *io, struct haul_rx *rx, struct rte_mbuf *pkt)
{
	one_sends(pkt);
}

void hauli_host_reply_in_fragments(
	struct haul_io *io, struct haul_rx *rx, struct haul_pkt *pkt, uint16_t mtu, bool segments)
{
	abort(); /* packets have one segment here */
}

void haul_drop(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n, enum haul_drop reason)
{
	rte_pktmbuf_free_bulk(pkts, n);
}

void rte_pktmbuf_free_bulk(struct rte_mbuf **pkts, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		rte_pktmbuf_free(pkts[i]);
}

static int free_pkts(struct rte_mempool *mp, void *const *pkts, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		free(((struct rte_mbuf *)pkts[i])->buf_addr);
		free(pkts[i]);
		one_pkts--;
	}
	return 0;
}

struct rte_mempool_ops_table rte_mempool_ops_table = {.ops[0].enqueue = free_pkts};
RTE_DEFINE_PER_LCORE(unsigned, _lcore_id);
static struct rte_mempool pool;

struct rte_mbuf *one_make_pkt(const uint8_t *frame, size_t size, size_t room)
{
	struct one_pkt *p = aligned_alloc(RTE_CACHE_LINE_SIZE,
		RTE_ALIGN_CEIL(sizeof(*p) + size, (size_t)RTE_CACHE_LINE_SIZE));

	memset(&p->mbuf, 0, sizeof(p->mbuf));
	memcpy(p->came, frame, size);
	p->size = size;
	p->mbuf.buf_addr = malloc(size + room);
	p->mbuf.buf_len = (uint16_t)(size + room);
	p->mbuf.data_len = (uint16_t)size;
	p->mbuf.pkt_len = (uint32_t)size;
	p->mbuf.nb_segs = 1;
	p->mbuf.pool = &pool;
	rte_mbuf_refcnt_set(&p->mbuf, 1);
	memcpy(p->mbuf.buf_addr, frame, size);
	one_pkts++;
	return &p->mbuf;
}
