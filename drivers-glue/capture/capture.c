/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/capture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "capture/writer.h"

#define RING_DEFAULT (8u << 20)

static int check(const struct haul_capture_opts *o, char *errbuf, size_t errlen)
{
	const char *wrong = NULL;

	if (!o->ports || o->nb_ports == 0)
		wrong = "no port is given; give those of haul_io_opts";
	else if (o->carriers == 0)
		wrong = "carriers is 0; give haul_carriers()";
	else if (!o->file || !o->file[0])
		wrong = "no file is given; give a name, or \"-\" for standard output";
	else if ((unsigned)o->directions > HAUL_CAPTURE_TX)
		wrong = "there are no such directions; give one of enum haul_capture_directions";
	else if (o->ring_bytes &&
		(o->ring_bytes < HAULI_CAPTURE_RING_LEAST || o->ring_bytes > 1u << 30 ||
			(o->ring_bytes & (o->ring_bytes - 1))))
		wrong = "ring_bytes is no power of two from 128 KiB to 1 GiB";
	else if ((o->rotate_bytes || o->rotate_ns) && strcmp(o->file, "-") == 0)
		wrong = "standard output cannot be rotated; give a file";
	if (!wrong)
		return 0;
	snprintf(errbuf, errlen, "haul_capture_open: %s", wrong);
	return -EINVAL;
}

static void destroy(struct haul_capture *c)
{
	hauli_capture_file_close(&c->file);
	hauli_capture_file_free(&c->file);
	for (unsigned i = 0; c->carriers && i < c->opts.carriers; i++) {
		if (!c->carriers[i])
			continue;
		hauli_capture_ring_fini(&c->carriers[i]->ring);
		free(c->carriers[i]->ports);
		free(c->carriers[i]);
	}
	free(c->carriers);
	free(c->ports);
	free((void *)c->opts.captures);
	free(c);
}

static void *zalloc_lines(size_t size)
{
	size = (size + HAULI_CACHE_LINE - 1) & ~(size_t)(HAULI_CACHE_LINE - 1);
	void *p = aligned_alloc(HAULI_CACHE_LINE, size);

	return p ? memset(p, 0, size) : NULL;
}

static int create_carrier(struct haul_capture *c, unsigned i)
{
	struct hauli_capture_carrier *carrier = zalloc_lines(sizeof(*carrier));

	c->carriers[i] = carrier;
	if (!carrier)
		return -ENOMEM;
	carrier->ports = zalloc_lines(c->opts.nb_ports * sizeof(carrier->ports[0]));
	if (!carrier->ports)
		return -ENOMEM;
	return hauli_capture_ring_init(
		&carrier->ring, c->opts.ring_bytes ? c->opts.ring_bytes : RING_DEFAULT);
}

static int copy_ports(struct haul_capture *c)
{
	bool *captures = calloc(c->opts.nb_ports, sizeof(*captures));

	for (unsigned i = 0; captures && i < c->opts.nb_ports; i++)
		captures[i] = !c->opts.captures || c->opts.captures[i];
	c->opts.captures = captures;
	c->ports = calloc(c->opts.nb_ports, sizeof(c->ports[0]));
	return captures && c->ports ? 0 : -ENOMEM;
}

static struct haul_capture *create(const struct haul_capture_opts *opts)
{
	struct haul_capture *c = zalloc_lines(sizeof(*c));
	int err;

	if (!c)
		return NULL;
	c->opts = *opts;
	c->file.fd = -1;
	if (c->opts.snaplen == 0 || c->opts.snaplen > HAULI_CAPTURE_SNAP_MOST)
		c->opts.snaplen = HAULI_CAPTURE_SNAP_MOST;
	c->about = (struct hauli_block_about){opts->program, opts->match_text, c->opts.snaplen};
	err = copy_ports(c);
	c->carriers = calloc(opts->carriers, sizeof(c->carriers[0]));
	if (!c->carriers)
		err = -ENOMEM;
	for (unsigned i = 0; i < opts->carriers && !err; i++)
		err = create_carrier(c, i);
	if (!err)
		return c;
	destroy(c);
	return NULL;
}

/* Blocks all signals for the thread: a broken pipe is then an error of the write. */
static int start_thread(struct haul_capture *c)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&c->thread, NULL, hauli_capture_write, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		pthread_setname_np(c->thread, "capture");
	return -err;
}

int haul_capture_open(struct haul_capture **out, const struct haul_capture_opts *opts, char *errbuf,
	size_t errlen)
{
	struct haul_capture *c;
	int err;

	HAUL_MISUSE_IF(!out || !opts, "capture or the options are NULL");
	err = check(opts, errbuf, errlen);
	if (err)
		return err;
	c = create(opts);
	if (!c) {
		snprintf(errbuf, errlen, "haul_capture_open: no memory for %u rings",
			opts->carriers);
		return -ENOMEM;
	}
	hauli_capture_clock_init(&c->clock);
	c->began_ns = hauli_capture_clock_ns(&c->clock, hauli_ticks());
	err = hauli_capture_file_open(&c->file, opts->file, opts->rotate_bytes || opts->rotate_ns,
		opts->files, errbuf, errlen);
	if (!err) {
		err = hauli_capture_begin_file(c);
		if (!err)
			err = start_thread(c);
		if (err)
			hauli_capture_file_explain(&c->file, err, errbuf, errlen);
	}
	if (err) {
		destroy(c);
		return err;
	}
	*out = c;
	return 0;
}

int hauli_capture_finish(struct haul_capture *c, uint64_t timeout_ns, struct haul_capture_stats *st,
	char *errbuf, size_t errlen)
{
	uint64_t now = haul_now();
	int err;

	c->end_at = timeout_ns > HAUL_FOREVER - now ? HAUL_FOREVER : now + timeout_ns;
	hauli_u32_published_set(&c->ends, 1);
	pthread_join(c->thread, NULL);
	err = hauli_capture_file_close(&c->file);
	if (err && !haul_capture_fault(c)[0])
		hauli_capture_file_explain(&c->file, err, errbuf, errlen);
	else if (haul_capture_fault(c)[0])
		snprintf(errbuf, errlen, "%s", c->fault);
	err = err || haul_capture_fault(c)[0] ? -EIO : 0;
	if (st)
		haul_capture_get_stats(c, HAUL_ALL, st);
	destroy(c);
	return err;
}
