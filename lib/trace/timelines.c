/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timelines of each runtime are in a slot of a table, and a gate keeps them while a reader is
 * at work: readers take no lock, as a signal handler may be one, after a crash. The end of a
 * runtime closes the gate; a later reader passes by. It does not wait for a reader inside, who may
 * write into a pipe that nobody reads: then the timelines stay, and the slot with them, until
 * another runtime begins or ends and finds the gate quiet.
 *
 *	end of a runtime              reader
 *	close the gate                enter the gate, or pass by
 *	                              read the slot, copy
 *	now or later, if quiet:       leave
 *	slot = NULL, free
 *	open the gate
 *
 * The gates are of the table and not of the timelines, so a reader touches no memory that was
 * freed. What is left behind is freed under the lock of the process, by one thread. Model:
 * tests/model/gate_again.c. Stress: tests/stress/timeline.c.
 */
#include "trace/timelines.h"

#include <errno.h>
#include <sys/mman.h>

#include <haul/trace.h>

#include "base/assert.h"
#include "base/forks.h"
#include "base/shared.h"
#include "conc/gate.h"
#include "conc/word.h"

#define RUNTIMES 64 /* of a process, as coro/overflow.c has it */
#define EVENTS_MIN 1024u
#define EVENTS_SIMULATED 65536u
#define NO_SLOT RUNTIMES

struct hauli_timelines {
	unsigned nb,
		slot; /* NO_SLOT: of a simulation, which keeps them; readers do not find them */
	size_t bytes; /* of all, with the rings */
	struct hauli_timeline of[];
};

static struct slot {
	struct hauli_trylock taken;
	struct hauli_gate gate;
	struct hauli_ptr_published timelines; /* struct hauli_timelines, or NULL */
	struct hauli_timelines *left; /* to be freed; NULL: none. Under the lock of the process */
} slots[RUNTIMES];

uint32_t haul_traced_;

/* Under the lock of the process. Frees timelines of runtimes that have ended, and that nobody reads
 * any more. */
static void free_left(void)
{
	for (struct slot *s = slots; s < slots + RUNTIMES; s++) {
		if (!s->left || !hauli_gate_is_quiet(&s->gate))
			continue;
		hauli_ptr_published_set(&s->timelines, NULL);
		if (!hauli_is_traced())
			munmap(s->left, s->left->bytes);
		s->left = NULL;
		hauli_gate_open(&s->gate);
		hauli_trylock_release(&s->taken);
	}
}

/* Its number; NO_SLOT: all are taken. */
static unsigned take_slot(void)
{
	unsigned i = 0;

	hauli_process_lock();
	free_left();
	while (i < RUNTIMES && !hauli_trylock_take(&slots[i].taken))
		i++;
	hauli_process_unlock();
	return i;
}

static uint64_t ring_size(unsigned events)
{
	uint64_t size = EVENTS_MIN;

	while (size < events)
		size *= 2;
	return size;
}

static size_t rounded(size_t bytes)
{
	return (bytes + HAULI_CACHE_LINE - 1) & ~(size_t)(HAULI_CACHE_LINE - 1);
}

/* Pages that were never written take no memory. */
int hauli_timelines_create(struct hauli_timelines **out, unsigned nb_carriers, unsigned events)
{
	uint64_t size = ring_size(events ? events : EVENTS_SIMULATED);
	size_t head = rounded(sizeof(struct hauli_timelines)) +
		nb_carriers * sizeof(struct hauli_timeline);
	size_t ring = (size_t)size * sizeof(struct hauli_last_entry);
	struct hauli_timelines *ts;
	unsigned slot = NO_SLOT;
	char *mem;

	hauli_shared_begin(); /* readers find them until hauli_timelines_destroy() */
	mem = mmap(NULL, head + nb_carriers * ring, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	hauli_shared_end();
	if (mem == MAP_FAILED)
		return -ENOMEM;
	if (events > 0 && (slot = take_slot()) == NO_SLOT) {
		munmap(mem, head + nb_carriers * ring);
		return -ENOMEM;
	}
	ts = (struct hauli_timelines *)mem;
	ts->nb = nb_carriers;
	ts->slot = slot;
	ts->bytes = head + nb_carriers * ring;
	hauli_unseen_begin();
	for (unsigned i = 0; i < nb_carriers; i++) {
		hauli_last_init(
			&ts->of[i].ring, (struct hauli_last_entry *)(mem + head + i * ring), size);
		ts->of[i].head =
			(struct haul_trace_ring){.runtime = ts->slot, .carrier = i, .size = size};
	}
	hauli_unseen_end();
	hauli_keep_timelines(ts->of, nb_carriers);
	*out = ts;
	return 0;
}

void hauli_timelines_publish(struct hauli_timelines *ts)
{
	if (ts->slot == NO_SLOT)
		return;
	hauli_ptr_published_set(&slots[ts->slot].timelines, ts);
	haul_traced_add_(1);
}

struct hauli_timeline *hauli_timelines_of(struct hauli_timelines *ts, unsigned carrier)
{
	return &ts->of[carrier];
}

void hauli_timelines_destroy(struct hauli_timelines *ts)
{
	struct slot *s;

	if (!ts || ts->slot == NO_SLOT)
		return;
	s = &slots[ts->slot];
	haul_traced_add_(-1u);
	hauli_process_lock();
	hauli_gate_close(&s->gate);
	s->left = ts;
	free_left();
	hauli_process_unlock();
}

static int each_of(const struct hauli_timelines *ts,
	int (*fn)(const struct hauli_timeline *t, void *arg), void *arg)
{
	int err = 0;

	for (unsigned i = 0; i < ts->nb && !err; i++)
		err = fn(&ts->of[i], arg);
	return err;
}

int hauli_timelines_for_each(int (*fn)(const struct hauli_timeline *t, void *arg), void *arg)
{
	int err = 0;

	for (unsigned i = 0; i < RUNTIMES && !err; i++) {
		const struct hauli_timelines *ts;

		if (!hauli_gate_enter(&slots[i].gate))
			continue;
		ts = hauli_ptr_published_get(&slots[i].timelines);
		if (ts)
			err = each_of(ts, fn, arg);
		hauli_gate_leave(&slots[i].gate);
	}
	return err;
}
