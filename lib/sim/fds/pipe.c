/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipes: pages, of which a write fills the last one or begins new ones, as the kernel's. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/fds/table.h"
#include "sim/real.h"

#define PAGE 4096u
#define PAGES 16u

struct pipe;

struct end {
	struct hauli_sim_file file; /* first */
	struct pipe *pipe;
};

struct pipe {
	struct page {
		unsigned at, len;
		bool is_packet; /* O_DIRECT: a read takes no more, and a write adds nothing */
		char bytes[PAGE];
	} pages[PAGES];
	unsigned first, n;
	struct end in, out; /* to read from, and to write to */
	unsigned ends; /* that are open */
	bool has_reader, has_writer;
};

static struct page *last_of(struct pipe *p)
{
	return &p->pages[(p->first + p->n - 1) % PAGES];
}

static ssize_t pipe_read(struct hauli_sim_file *f, struct hauli_sim_bytes *to)
{
	struct pipe *p = ((struct end *)f)->pipe;
	bool was_full = p->n == PAGES, is_packet = false;
	ssize_t done = 0;

	if (to->left == 0)
		return 0;
	while (p->n && to->left && !is_packet) {
		struct page *page = &p->pages[p->first];
		size_t n = page->len < to->left ? page->len : to->left;

		is_packet = page->is_packet;
		hauli_sim_bytes_move(to, NULL, page->bytes + page->at, n);
		page->at += (unsigned)n;
		page->len -= (unsigned)n;
		done += (ssize_t)n;
		if (page->len && !is_packet)
			break;
		p->first = (p->first + 1) % PAGES;
		p->n--;
	}
	if (was_full && p->n < PAGES)
		hauli_sim_file_changed(&p->out.file, HAULI_SIM_OUT);
	if (done || !p->has_writer)
		return done;
	return -EAGAIN;
}

static void put(struct page *page, struct hauli_sim_bytes *from, size_t n)
{
	hauli_sim_bytes_move(from, page->bytes + page->at + page->len, NULL, n);
	page->len += (unsigned)n;
}

static size_t fill(struct pipe *p, struct hauli_sim_bytes *from, bool is_packet)
{
	size_t rest = from->left % PAGE, done = 0;
	struct page *last = last_of(p);

	if (p->n && rest && !last->is_packet && last->at + last->len + rest <= PAGE) {
		put(last, from, rest);
		done = rest;
	}
	while (from->left && p->n < PAGES) {
		size_t n = from->left < PAGE ? from->left : PAGE;

		p->n++;
		last = last_of(p);
		last->at = last->len = 0;
		last->is_packet = is_packet;
		put(last, from, n);
		done += n;
	}
	return done;
}

static ssize_t pipe_write(struct hauli_sim_file *f, struct hauli_sim_bytes *from)
{
	struct pipe *p = ((struct end *)f)->pipe;
	size_t done;

	if (from->left == 0)
		return 0;
	if (!p->has_reader)
		return -EPIPE;
	done = fill(p, from, f->flags & O_DIRECT);
	if (done)
		hauli_sim_file_changed(&p->in.file, HAULI_SIM_IN);
	return done ? (ssize_t)done : -EAGAIN;
}

static uint32_t in_events(struct hauli_sim_file *f)
{
	const struct pipe *p = ((struct end *)f)->pipe;

	return (p->n ? HAULI_SIM_IN : 0) | (p->has_writer ? 0 : HAULI_SIM_HUP);
}

static uint32_t out_events(struct hauli_sim_file *f)
{
	const struct pipe *p = ((struct end *)f)->pipe;

	return (p->n < PAGES ? HAULI_SIM_OUT : 0) | (p->has_reader ? 0 : HAULI_SIM_ERR);
}

static int pipe_readable(struct hauli_sim_file *f)
{
	const struct pipe *p = ((struct end *)f)->pipe;
	unsigned sum = 0;

	for (unsigned i = 0; i < p->n; i++)
		sum += p->pages[(p->first + i) % PAGES].len;
	return (int)sum;
}

static void release(struct pipe *p)
{
	if (--p->ends == 0)
		free(p);
}

static void in_release(struct hauli_sim_file *f)
{
	struct pipe *p = ((struct end *)f)->pipe;

	p->has_reader = false;
	if (p->has_writer)
		hauli_sim_file_changed(&p->out.file, HAULI_SIM_OUT | HAULI_SIM_ERR);
	release(p);
}

static void out_release(struct hauli_sim_file *f)
{
	struct pipe *p = ((struct end *)f)->pipe;

	p->has_writer = false;
	if (p->has_reader)
		hauli_sim_file_changed(&p->in.file, HAULI_SIM_IN | HAULI_SIM_HUP);
	release(p);
}

static int make(int fds[2], int flags)
{
	static const struct hauli_sim_file_kind in = {.read = pipe_read,
		.events = in_events,
		.readable = pipe_readable,
		.release = in_release};
	static const struct hauli_sim_file_kind out = {.write = pipe_write,
		.events = out_events,
		.readable = pipe_readable,
		.release = out_release,
		.is_stream = true};
	int how = flags & (O_NONBLOCK | O_DIRECT);
	struct pipe *p;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK | O_DIRECT))
		return -EINVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	hauli_sim_file_init(&p->in.file, &in, O_RDONLY | how);
	hauli_sim_file_init(&p->out.file, &out, O_WRONLY | how);
	p->in.pipe = p->out.pipe = p;
	p->has_reader = p->has_writer = true;
	p->ends = 2;
	return hauli_sim_fds_add_pair(&p->in.file, &p->out.file, flags, fds);
}

HAULI_SIM_REPLACED int pipe2(int fds[2], int flags)
{
	int err;

	if (!hauli_sim_fds_enter_new("pipe2", &err))
		return HAULI_SIM_REAL(pipe2)(fds, flags);
	return (int)hauli_sim_fds_result(err ? -err : make(fds, flags));
}

HAULI_SIM_REPLACED int pipe(int fds[2])
{
	return pipe2(fds, 0);
}
