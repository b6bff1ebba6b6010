/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes blocks from the rings, oldest first, and writes them to the file. */
#include "capture/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define GATHER_BYTES (1u << 20) /* released to the carriers at once */
#define PARTS 256 /* runs of blocks, each contiguous in a ring, of one write */
#define REST_LEAST HAUL_MS
#define REST_MOST (8 * HAUL_MS)
#define WAIT_FIFO (20 * HAUL_MS)
#define JITTER HAUL_MS /* a new line of the clock may set time back by less: such blocks keep it */

/* The blocks of one write, as runs of blocks that are contiguous in a ring. */
struct gather {
	struct {
		struct hauli_capture_ring *ring;
		uint32_t from, to;
	} runs[PARTS];
	struct iovec iov[PARTS];
	int n;
	uint64_t bytes, most;
};

static void rest(uint64_t ns)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

static bool time_is_over(const struct haul_capture *c)
{
	return hauli_u32_published_get(&c->ends) && haul_now() >= c->end_at;
}

/* For writes to a pipe. */
static bool may_wait(void *arg)
{
	return !time_is_over(arg);
}

static bool has_fault(const struct haul_capture *c)
{
	return hauli_u32_published_get(&c->has_fault);
}

static void fail(struct haul_capture *c, int err)
{
	if (has_fault(c))
		return;
	hauli_capture_file_explain(&c->file, err, c->fault, sizeof(c->fault));
	hauli_u32_published_set(&c->has_fault, 1);
}

static int write_blocks(struct haul_capture *c, struct hauli_blocks *b)
{
	struct iovec iov = {.iov_base = b->bytes, .iov_len = b->len};
	ssize_t done;

	if (b->failed)
		return -ENOMEM;
	done = hauli_capture_file_write(&c->file, &iov, 1, may_wait, c);
	hauli_counter_add(&c->bytes, done > 0 ? (uint64_t)done : 0);
	if (done < 0)
		return (int)done;
	return (size_t)done < b->len ? -EAGAIN : 0;
}

int hauli_capture_begin_file(struct haul_capture *c)
{
	struct hauli_blocks b = {0};
	int err;

	c->file_at = haul_now();
	c->has_frames = false;
	if (c->file.fd < 0)
		return 0; /* a FIFO without a reader */
	hauli_counter_add(&c->files, 1);
	hauli_block_section(&b, &c->about);
	for (unsigned i = 0; i < c->opts.nb_ports; i++) {
		const struct rte_ether_addr mac = haul_port_mac(c->opts.ports[i]);

		hauli_block_interface(
			&b, &c->about, haul_port_spec(c->opts.ports[i]), mac.addr_bytes);
	}
	err = write_blocks(c, &b);
	free(b.bytes);
	return err;
}

static int end_file(struct haul_capture *c)
{
	struct hauli_blocks b = {0};
	uint64_t now = hauli_capture_clock_ns(&c->clock, hauli_ticks());
	int err;

	for (unsigned i = 0; i < c->opts.nb_ports; i++) {
		struct haul_capture_stats st;

		haul_capture_get_stats(c, (int)i, &st);
		hauli_block_statistics(&b, i, c->began_ns, now, st.captured, st.dropped);
	}
	err = write_blocks(c, &b);
	free(b.bytes);
	return err;
}

/* Begins the next file if the present one is too old, or too large for another block. */
static int rotate(struct haul_capture *c, uint32_t len)
{
	const struct haul_capture_opts *o = &c->opts;
	bool large = o->rotate_bytes && c->file.bytes + len > o->rotate_bytes;
	bool old = o->rotate_ns && haul_now() - c->file_at >= o->rotate_ns;
	int err;

	if (!c->has_frames || (!large && !old))
		return 0;
	err = end_file(c);
	if (!err)
		err = hauli_capture_file_next(&c->file);
	return err ? err : hauli_capture_begin_file(c);
}

static struct hauli_block_frame *block_at(const struct hauli_capture_ring *ring, uint32_t at)
{
	return (struct hauli_block_frame *)hauli_capture_ring_at(ring, at);
}

/* Gives the block its time of day. */
static void stamp(
	struct haul_capture *c, struct hauli_capture_ring *ring, struct hauli_block_frame *block)
{
	uint64_t ns = hauli_capture_clock_ns(&c->clock, hauli_block_ticks(block));

	if (ns < ring->last_ns && ring->last_ns - ns < JITTER)
		ns = ring->last_ns;
	ring->last_ns = ns;
	hauli_block_set_ns(block, ns);
}

/* Where a ring's blocks that are not gathered yet begin and end, and the ticks of the first. */
struct ahead {
	struct hauli_capture_ring *ring;
	uint32_t at, head;
	uint64_t ticks;
};

static bool look(struct ahead *a)
{
	if (a->at == a->head)
		return false;
	a->ticks = hauli_block_ticks(block_at(a->ring, a->at));
	return true;
}

/* The rings that have blocks. Returns their number. */
static unsigned look_at_all(struct haul_capture *c, struct ahead *ahead)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->opts.carriers; i++) {
		struct hauli_capture_ring *ring = &c->carriers[i]->ring;

		ahead[n] = (struct ahead){.ring = ring,
			.at = ring->read,
			.head = hauli_u32_published_get(&ring->head)};
		n += look(&ahead[n]);
	}
	return n;
}

/* Moves the ring with the oldest block to the front. Returns the ticks of the oldest block of the
 * other rings: up to there the first ring's blocks are older. */
static uint64_t oldest_first(struct ahead *ahead, unsigned n)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 1; i < n; i++) {
		if (ahead[i].ticks < ahead[0].ticks) {
			struct ahead older = ahead[i];

			ahead[i] = ahead[0];
			ahead[0] = older;
		}
		next = ahead[i].ticks < next ? ahead[i].ticks : next;
	}
	return next;
}

/* Gathers a run of one ring's blocks, up to the ticks `until`. False: no more can be gathered. */
static bool add_run(struct haul_capture *c, struct gather *g, struct ahead *a, uint64_t until)
{
	uint32_t from = a->at;

	do {
		struct hauli_block_frame *block = block_at(a->ring, a->at);

		if (g->bytes + block->len > g->most && g->bytes > 0)
			break;
		stamp(c, a->ring, block);
		g->bytes += block->len;
		a->at += block->len;
	} while (look(a) && a->ticks <= until);
	if (a->at == from)
		return false;
	g->runs[g->n].ring = a->ring;
	g->runs[g->n].from = from;
	g->runs[g->n].to = a->at;
	g->iov[g->n].iov_base = hauli_capture_ring_at(a->ring, from);
	g->iov[g->n].iov_len = a->at - from;
	g->n++;
	return g->n < PARTS && (a->at == a->head || a->ticks > until);
}

/* Counts the gathered blocks: those within the first `written` bytes as written, the others as
 * lost. */
static void count(struct haul_capture *c, const struct gather *g, uint64_t written)
{
	uint64_t bytes = 0;

	for (int i = 0; i < g->n; i++) {
		for (uint32_t at = g->runs[i].from; at != g->runs[i].to;) {
			const struct hauli_block_frame *block = block_at(g->runs[i].ring, at);
			struct hauli_capture_port *port = &c->ports[block->interface];

			bytes += block->len;
			at += block->len;
			hauli_counter_add(bytes <= written ? &port->written : &port->lost, 1);
		}
	}
}

static void put_out(struct haul_capture *c, struct gather *g)
{
	ssize_t done = 0;

	if (!has_fault(c) && c->file.fd >= 0)
		done = hauli_capture_file_write(&c->file, g->iov, g->n, may_wait, c);
	if (done < 0)
		fail(c, (int)done);
	done = done < 0 ? 0 : done;
	c->has_frames = true;
	hauli_counter_add(&c->bytes, (uint64_t)done);
	count(c, g, (uint64_t)done);
	for (int i = 0; i < g->n; i++)
		hauli_capture_ring_release(g->runs[i].ring, g->runs[i].to);
}

/* What may be written to the present file before the next one begins. */
static uint64_t room(const struct haul_capture *c)
{
	uint64_t most = c->opts.rotate_bytes;

	if (most == 0 || most > c->file.bytes + GATHER_BYTES)
		return GATHER_BYTES;
	return most > c->file.bytes ? most - c->file.bytes : 0;
}

/* Writes the oldest blocks. False: there are none. */
static bool write_gathered(struct haul_capture *c, struct ahead *ahead)
{
	struct gather g;
	unsigned n = look_at_all(c, ahead);
	uint64_t until;
	int err;

	if (n == 0)
		return false;
	until = oldest_first(ahead, n);
	if (!has_fault(c)) {
		err = rotate(c, block_at(ahead[0].ring, ahead[0].at)->len);
		if (err)
			fail(c, err);
	}
	g.n = 0;
	g.bytes = 0;
	g.most = room(c);
	while (add_run(c, &g, &ahead[0], until)) {
		if (ahead[0].at == ahead[0].head)
			ahead[0] = ahead[--n];
		if (n == 0)
			break;
		until = oldest_first(ahead, n);
	}
	put_out(c, &g);
	return true;
}

/* False: a FIFO still has no reader. */
static bool has_reader(struct haul_capture *c)
{
	int err;

	if (c->file.fd >= 0 || has_fault(c))
		return true;
	err = hauli_capture_file_try(&c->file);
	if (err == -EAGAIN)
		return false;
	if (!err)
		err = hauli_capture_begin_file(c);
	if (err)
		fail(c, err);
	return true;
}

static void run(struct haul_capture *c, struct ahead *ahead)
{
	uint64_t pause = REST_LEAST;
	bool ends;

	for (;;) {
		ends = hauli_u32_published_get(&c->ends);
		hauli_capture_clock_update(&c->clock);
		if (!has_reader(c) && !ends) {
			rest(WAIT_FIFO);
			continue;
		}
		if (write_gathered(c, ahead)) {
			pause = REST_LEAST;
			continue;
		}
		if (ends)
			return;
		rest(pause);
		pause = pause < REST_MOST ? 2 * pause : pause;
	}
}

void *hauli_capture_write(void *arg)
{
	struct haul_capture *c = arg;
	struct ahead *ahead = calloc(c->opts.carriers, sizeof(*ahead));
	int err = ahead ? 0 : -ENOMEM;

	if (!err) {
		run(c, ahead);
		if (!has_fault(c) && c->file.fd >= 0)
			err = end_file(c);
	}
	if (err && err != -EAGAIN)
		fail(c, err);
	free(ahead);
	return NULL;
}
