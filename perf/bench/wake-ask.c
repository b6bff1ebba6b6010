/* SPDX-License-Identifier: BSD-3-Clause */
/* The asking side of bench-wake. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/poll.h>
#include <unistd.h>

#include "bench/wake.h"
#include "harness/bed.h"

#define GAP_NS 3000000 /* the most time between an answer and the next question */
#define LOST_MS 2000

int wake_asker_open(struct wake_asker *asker, const char *name, const char *iface)
{
	int err = perf_bed_pin_to_second();

	*asker = (struct wake_asker){.name = name, .fd = err ? err : wake_socket_open(iface)};
	if (asker->fd < 0)
		fprintf(stderr, "%s: asking on %s: %s\n", name, iface, strerror(-asker->fd));
	return asker->fd < 0 ? asker->fd : 0;
}

void wake_asker_close(struct wake_asker *asker)
{
	if (asker->fd >= 0)
		close(asker->fd);
	free(asker->ages);
	*asker = (struct wake_asker){.fd = -1};
}

static void fail(const struct wake_asker *asker, const char *what)
{
	fprintf(stderr, "bench-wake: %s: question %zu: %s\n", asker->name, asker->nb_ages, what);
	exit(1);
}

static void send_frame(const struct wake_asker *asker, uint64_t sent)
{
	struct wake_frame f = {
		.destination = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		.source = {2, 0, 0, 0, 0, 1},
		.type = htons(WAKE_TYPE),
		.sent = sent,
	};

	if (write(asker->fd, &f, sizeof(f)) != sizeof(f))
		fail(asker, "a question cannot be sent");
}

/* Drops answers to other sides, which share the wire. */
static void drain(const struct wake_asker *asker)
{
	struct wake_frame f;

	while (read(asker->fd, &f, sizeof(f)) >= 0)
		;
}

static uint64_t ask_once(const struct wake_asker *asker)
{
	struct pollfd poller = {.fd = asker->fd, .events = POLLIN};
	uint64_t sent = perf_now();
	struct wake_frame f;

	send_frame(asker, sent);
	do {
		if (poll(&poller, 1, LOST_MS) == 0)
			fail(asker, "no answer for two seconds");
	} while (read(asker->fd, &f, sizeof(f)) != sizeof(f) || f.sent != sent);
	return f.age;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t wake_ask(struct wake_asker *asker, uint64_t n)
{
	uint64_t *run, median;

	asker->ages = realloc(asker->ages, (asker->nb_ages + n) * sizeof(*run));
	if (!asker->ages)
		fail(asker, "out of memory");
	run = asker->ages + asker->nb_ages;
	drain(asker);
	for (uint64_t i = 0; i < n; i++) {
		struct timespec gap = {.tv_nsec = random() % GAP_NS};

		nanosleep(&gap, NULL);
		run[i] = ask_once(asker);
		asker->nb_ages++;
	}
	qsort(run, n, sizeof(*run), compare);
	median = run[n / 2];
	qsort(asker->ages, asker->nb_ages, sizeof(*run), compare);
	perf_extra("p99_ns", (double)asker->ages[asker->nb_ages * 99 / 100]);
	return median * n;
}

void wake_ask_end(struct wake_asker *asker)
{
	send_frame(asker, 0);
}
