/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode noisy: as testpmd's, a network function that disturbs others. It reads and writes memory
 * with each packet, and may hold packets back: a FIFO for each carrier and port, whose oldest
 * packets leave when it is full, and all of them once in a flush time.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_random.h>

#include "edit.h"
#include "modes.h"
#include "options.h"

#define LINE 64

struct fifo {
	struct rte_mbuf **pkts; /* size of them */
	uint32_t head; /* the oldest */
	uint32_t count;
	uint64_t flush_at; /* TSC */
	bool flushes; /* until it is empty */
};

/* The state of a carrier, which alone writes it. */
struct noisy {
	_Alignas(LINE) uint8_t *memory;
	struct fifo fifos[HAUL_APP_PORTS_MAX]; /* of packets received by that port */
};

static struct noisy *noisies;
static unsigned nb_noisies;
static uint32_t size; /* of a FIFO */
static uint64_t flush_ticks;
static uint64_t lines; /* of a memory */

static uint8_t *somewhere(const struct noisy *me, uint64_t random)
{
	return me->memory + random % lines * LINE;
}

static inline void read_memory(const struct noisy *me)
{
	uint8_t value = *somewhere(me, rte_rand());

	asm volatile("" : : "r"(value));
}

static inline void write_memory(const struct noisy *me)
{
	uint64_t random = rte_rand();

	*somewhere(me, random) = (uint8_t)(random >> 56);
}

static __attribute__((noinline)) void access_memory(const struct noisy *me)
{
	uint64_t i;

	for (i = 0; i < fwd_mode_args.noisy_writes; i++)
		write_memory(me);
	for (i = 0; i < fwd_mode_args.noisy_reads; i++)
		read_memory(me);
	for (i = 0; i < fwd_mode_args.noisy_reads_writes; i++) {
		read_memory(me);
		write_memory(me);
	}
}

static void push(struct fifo *f, struct rte_mbuf **pkts, uint32_t n)
{
	uint32_t at = f->head + f->count, first;

	at = at < size ? at : at - size;
	first = RTE_MIN(n, size - at);
	memcpy(f->pkts + at, pkts, first * sizeof(pkts[0]));
	memcpy(f->pkts, pkts + first, (n - first) * sizeof(pkts[0]));
	f->count += n;
}

static uint32_t pop(struct fifo *f, struct rte_mbuf **pkts, uint32_t n)
{
	uint32_t first;

	n = RTE_MIN(n, f->count);
	if (n == 0)
		return 0; /* there may be no FIFO */
	first = RTE_MIN(n, size - f->head);
	memcpy(pkts, f->pkts + f->head, first * sizeof(pkts[0]));
	memcpy(pkts + first, f->pkts, (n - first) * sizeof(pkts[0]));
	f->head += n;
	f->head = f->head < size ? f->head : f->head - size;
	f->count -= n;
	return n;
}

/* Puts n packets, at most size, into the FIFO, and those that leave it into "out". Returns the
 * number of these, at most n. */
static uint32_t exchange(struct fifo *f, struct rte_mbuf **pkts, uint32_t n, struct rte_mbuf **out)
{
	uint32_t room = size - f->count;
	uint32_t left = n > room ? pop(f, out, n - room) : 0;

	push(f, pkts, n);
	return left;
}

static void noisy_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	struct noisy *me = &noisies[rx->carrier];
	struct rte_mbuf *out[FWD_BURST_MAX];
	uint32_t direct = 0;

	for (uint16_t i = 0; lines > 0 && i < n; i++)
		access_memory(me);
	if (size == 0) {
		haul_tx_burst(rx->peer, pkts, n);
		return;
	}
	/* In parts, as there may be more packets than the FIFO holds. */
	for (; n > 0; pkts += direct, n = (uint16_t)(n - direct)) {
		uint32_t left;

		direct = RTE_MIN(n, size);
		left = exchange(&me->fifos[rx->port], pkts, direct, out);
		if (left > 0)
			haul_tx_burst(rx->peer, out, (uint16_t)left);
	}
}

/* Out of line, so that the usual case saves few registers. */
static __attribute__((noinline)) void hold(
	struct noisy *me, struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct rte_mbuf *out;

	if (exchange(&me->fifos[rx->port], &pkt, 1, &out) > 0)
		fwd_send_packet(rx, out);
}

/* Memory and FIFOs belong to the handler's home: a stolen handler returns there. */
static void noisy_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct noisy *me = &noisies[rx->carrier];

	haul_pin();
	if (lines > 0)
		access_memory(me);
	if (size > 0)
		hold(me, rx, pkt);
	else
		fwd_send_packet(rx, pkt);
}

static bool is_due(struct fifo *f, uint64_t now)
{
	if ((int64_t)(now - f->flush_at) >= 0) {
		f->flushes = true;
		f->flush_at = now + flush_ticks;
	}
	f->flushes &= f->count > 0;
	return f->flushes;
}

/* A source: the packets that leave by this port because the flush time is over. */
static uint16_t noisy_source(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	const struct fwd *fwd = rx->arg;
	struct noisy *me = &noisies[rx->carrier];
	uint64_t now = rte_rdtsc();
	uint16_t got = 0;

	for (unsigned i = 0; i < fwd->app->nb_ports; i++)
		if (fwd_ports(fwd)[i].peer == rx->port && is_due(&me->fifos[i], now))
			got += pop(&me->fifos[i], pkts + got, n - got);
	return got;
}

static bool flushes(void)
{
	return fwd_mode_args.noisy_buffer > 0 && fwd_mode_args.noisy_flush_ms > 0;
}

static bool make_fifos(struct noisy *me, unsigned nb_ports)
{
	for (unsigned i = 0; i < nb_ports; i++) {
		me->fifos[i].flush_at = rte_rdtsc() + flush_ticks;
		me->fifos[i].pkts = calloc(size, sizeof(me->fifos[i].pkts[0]));
		if (!me->fifos[i].pkts)
			return false;
	}
	return true;
}

static bool make_memory(struct noisy *me)
{
	me->memory = aligned_alloc(LINE, lines * LINE);
	if (me->memory)
		memset(me->memory, 1, lines * LINE);
	return me->memory;
}

static int wrong(const struct fwd *fwd)
{
	const struct haul_app *app = fwd->app;
	uint64_t held = fwd_mode_args.noisy_buffer * app->plan->carriers * app->nb_ports;
	bool accesses = fwd_mode_args.noisy_reads || fwd_mode_args.noisy_writes ||
		fwd_mode_args.noisy_reads_writes;

	if (accesses && fwd_mode_args.noisy_memory_mb == 0)
		return haul_app_wrong(app->program,
			"mode noisy: reads and writes need memory, by --noisy-lkup-memory MIB");
	if (held <= fwd->pool->size / 2)
		return HAUL_APP_DONE;
	return haul_app_wrong(app->program,
		"--noisy-tx-sw-buffer-size %lu: carriers hold %lu of %u packet buffers back; give "
		"twice as many by --mbufs",
		fwd_mode_args.noisy_buffer, held, fwd->pool->size);
}

static int noisy_begin(struct fwd *fwd)
{
	bool complete = true;
	int rc = wrong(fwd);

	if (rc != HAUL_APP_DONE)
		return rc;
	size = (uint32_t)fwd_mode_args.noisy_buffer;
	lines = (fwd_mode_args.noisy_memory_mb << 20) / LINE;
	flush_ticks = rte_get_tsc_hz() / 1000 * fwd_mode_args.noisy_flush_ms;
	nb_noisies = fwd->app->plan->carriers;
	noisies = aligned_alloc(LINE, nb_noisies * sizeof(noisies[0]));
	if (!noisies)
		abort();
	memset(noisies, 0, nb_noisies * sizeof(noisies[0]));
	for (unsigned i = 0; complete && i < nb_noisies; i++)
		complete = (lines == 0 || make_memory(&noisies[i])) &&
			(size == 0 || make_fifos(&noisies[i], fwd->app->nb_ports));
	if (complete)
		return HAUL_APP_DONE;
	haul_app_say(fwd->app->program, "mode noisy: no memory for its options");
	return HAUL_APP_FAILED;
}

static void noisy_end(struct fwd *fwd)
{
	struct rte_mbuf *pkt;

	for (unsigned c = 0; c < nb_noisies; c++) {
		for (unsigned i = 0; i < HAUL_APP_PORTS_MAX; i++) {
			struct fifo *f = &noisies[c].fifos[i];

			while (pop(f, &pkt, 1) > 0)
				rte_pktmbuf_free(pkt);
			free(f->pkts);
		}
		free(noisies[c].memory);
	}
	free(noisies);
	noisies = NULL;
	nb_noisies = 0;
}

const struct fwd_mode_ops fwd_mode_noisy = {
	.burst = noisy_burst,
	.packet = noisy_packet,
	.source = noisy_source,
	.packet_source = noisy_source,
	.sends = flushes,
	.begin = noisy_begin,
	.end = noisy_end,
};
