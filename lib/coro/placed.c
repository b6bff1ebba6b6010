/* SPDX-License-Identifier: BSD-3-Clause */
#include "coro/placed.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "base/forks.h"
#include "base/shared.h"
#include "conc/word.h"
#include "coro/own.h"
#include "coro/trace.h"

#define OWNER "haul"
#define TYPE 1

/* Where functions begin, sorted. Written once, before their number is published. */
static void **starts;
static struct hauli_u32_published nb_starts;

struct search {
	void **found; /* NULL: they are only counted */
	size_t n;
};

static inline size_t in_words(size_t bytes)
{
	return (bytes + 3) & ~(size_t)3;
}

/* A note holds the distance from itself to a place in its function. */
static void take_note(struct search *s, const ElfW(Nhdr) * note)
{
	const char *name = (const char *)(note + 1), *desc = name + in_words(note->n_namesz);
	int32_t distance;

	if (note->n_type != TYPE || note->n_namesz != sizeof(OWNER) ||
		note->n_descsz != sizeof(distance) || memcmp(name, OWNER, sizeof(OWNER)) != 0)
		return;
	memcpy(&distance, desc, sizeof(distance));
	if (s->found)
		/* It takes what it is given for a return address. */
		s->found[s->n] = _Unwind_FindEnclosingFunction((char *)desc + distance + 1);
	s->n++;
}

static int take_notes(struct dl_phdr_info *object, size_t size, void *arg)
{
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &object->dlpi_phdr[i];
		const char *at = (const char *)object->dlpi_addr + h->p_vaddr;
		const char *end = at + h->p_memsz;

		/* With another alignment the notes are of another form, and the compiler's. */
		if (h->p_type != PT_NOTE || h->p_align > 4)
			continue;
		while (at + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;

			take_note(arg, note);
			at += sizeof(*note) + in_words(note->n_namesz) + in_words(note->n_descsz);
		}
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;

	return (x > y) - (x < y);
}

static int make(void)
{
	struct search s = {0};

	dl_iterate_phdr(take_notes, &s);
	if (s.n == 0)
		return 0;
	hauli_shared_begin();
	s.found = malloc(s.n * sizeof(*s.found));
	hauli_shared_end();
	if (!s.found)
		return -ENOMEM;
	s.n = 0;
	dl_iterate_phdr(take_notes, &s);
	qsort(s.found, s.n, sizeof(*s.found), compare);
	starts = s.found;
	hauli_u32_published_set(&nb_starts, (uint32_t)s.n);
	return 0;
}

int hauli_placed_init(void)
{
	int err = 0;

	hauli_process_lock();
	if (hauli_u32_published_get(&nb_starts) == 0)
		err = make();
	hauli_process_unlock();
	return err;
}

bool hauli_placed_any(void)
{
	return hauli_u32_published_get(&nb_starts) > 0;
}

static bool is_placed(void *start)
{
	return bsearch(&start, starts, hauli_u32_published_get(&nb_starts), sizeof(start), compare);
}

/* The frames from the inner end outwards. */
struct walk {
	const void *from; /* NULL: it has been seen */
	enum { PROGRAM, HAUL, SAFE, NOT_SAFE } at;
};

static _Unwind_Reason_Code look(struct _Unwind_Context *frame, void *arg)
{
	struct walk *w = arg;
	char *pc = (char *)_Unwind_GetIP(frame);

	if (w->from && pc != w->from)
		return _URC_NO_REASON;
	if (w->from) { /* it called the look at the clock: the plugin has been there */
		w->from = NULL;
		return _URC_NO_REASON;
	}
	pc--;
	if (w->at == PROGRAM && is_placed((void *)_Unwind_GetRegionStart(frame)))
		return _URC_NO_REASON;
	if (w->at == PROGRAM)
		w->at = hauli_own_calls_program(pc) ? HAUL : NOT_SAFE;
	else if (hauli_trace_is_start(pc))
		w->at = SAFE;
	else if (!hauli_own_has(pc))
		w->at = NOT_SAFE;
	return w->at == HAUL ? _URC_NO_REASON : _URC_END_OF_STACK;
}

bool hauli_placed_is_safe(const void *ra)
{
	struct walk w = {.from = ra, .at = PROGRAM};

	_Unwind_Backtrace(look, &w);
	return w.at == SAFE;
}
