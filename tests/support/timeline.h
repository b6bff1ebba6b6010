/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads raw trace files (haul/trace_file.h), for tests. */
#ifndef HAUL_TESTS_TIMELINE_H
#define HAUL_TESTS_TIMELINE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <haul/trace.h>
#include <haul/trace_file.h>

#define TIMELINE_RINGS 16

/* Also on threads, where check's macros may not be used. */
#define TIMELINE_IS(condition)                                                               \
	do {                                                                                 \
		if (!(condition)) {                                                          \
			fprintf(stderr, "%s:%d: not: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                             \
		}                                                                            \
	} while (0)

struct timeline_event {
	enum haul_trace_kind kind;
	unsigned sub, extra;
	uint64_t ticks, value;
	char name[64]; /* of its slot */
};

struct timeline_ring {
	struct haul_trace_ring head;
	uint64_t n; /* events that are whole, but for names and texts */
	uint64_t lost; /* older events */
	struct timeline_event *events;
};

struct timeline_file {
	struct haul_trace_file head;
	unsigned nb;
	struct timeline_ring rings[TIMELINE_RINGS];
};

static inline void timeline_read(int fd, void *to, size_t len)
{
	TIMELINE_IS(read(fd, to, len) == (ssize_t)len);
}

/* Adds the text of an event to a name. */
static inline void timeline_text(char *name, const uint64_t words[2])
{
	char text[17] = {0};

	memcpy(text, words, 16);
	if (strlen(name) + 15 < 64)
		strcat(name, text + 1);
}

static inline void timeline_ring(int fd, struct timeline_ring *r)
{
	char(*names)[64] = calloc(256, sizeof(*names));
	uint64_t(*words)[2];
	struct haul_trace_tail tail;
	uint64_t n = r->head.end - r->head.first;
	unsigned slot = 0;

	words = calloc(n + 1, sizeof(*words));
	r->events = calloc(n + 1, sizeof(*r->events));
	timeline_read(fd, words, n * sizeof(*words));
	timeline_read(fd, &tail, sizeof(tail));
	r->lost = r->head.first > tail.first ? r->head.first : tail.first;
	for (uint64_t i = 0; i < n; i++) {
		struct timeline_event *e = &r->events[r->n];

		if (r->head.first + i < tail.first)
			continue;
		*e = (struct timeline_event){
			.kind = words[i][0] & 63,
			.sub = words[i][0] >> 6 & 63,
			.ticks = words[i][0] >> 12,
			.value = words[i][1] >> 16,
			.extra = words[i][1] & 65535,
		};
		if ((words[i][0] & 255) == HAUL_TRACE_TEXT) {
			timeline_text(names[slot], words[i]);
			continue;
		}
		if (e->kind == HAUL_TRACE_NAME) {
			slot = e->extra & 255;
			names[slot][0] = '\0';
			continue;
		}
		if (e->kind == HAUL_TRACE_VALUE)
			e->value = words[i][1];
		strcpy(e->name, names[e->extra & 255]);
		r->n++;
	}
	free(words);
	free(names);
}

/* Reads what haul_trace_write() has written from the start of fd on. */
static inline struct timeline_file *timeline_open(int fd)
{
	struct timeline_file *f = calloc(1, sizeof(*f));

	lseek(fd, 0, SEEK_SET);
	timeline_read(fd, &f->head, sizeof(f->head));
	TIMELINE_IS(f->head.magic == HAUL_TRACE_MAGIC);
	TIMELINE_IS(f->head.version == HAUL_TRACE_VERSION);
	while (f->nb < TIMELINE_RINGS) {
		struct timeline_ring *r = &f->rings[f->nb];
		ssize_t got = read(fd, &r->head, sizeof(r->head));

		if (got == 0)
			break;
		TIMELINE_IS(got == sizeof(r->head));
		TIMELINE_IS(r->head.end - r->head.first <= r->head.size);
		timeline_ring(fd, r);
		f->nb++;
	}
	return f;
}

static inline void timeline_close(struct timeline_file *f)
{
	for (unsigned i = 0; i < f->nb; i++)
		free(f->rings[i].events);
	free(f);
}

/* Writes the rings of the process, and reads them. */
static inline struct timeline_file *timeline_take(void)
{
	int fd = memfd_create("trace", 0);
	struct timeline_file *f;

	TIMELINE_IS(haul_trace_write(fd) == 0);
	f = timeline_open(fd);
	close(fd);
	return f;
}

#endif
