/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of all rings in the order of their times. Each carrier has a track with slices of
 * coroutines, and one with poll rounds. A coroutine that waits, or has spans, has a track with
 * these. An arrow begins where a coroutine was woken, spawned or stolen, and ends where it runs.
 * A node of a simulated network has a track with its frames.
 */
#include "convert.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coroutines.h"
#include "texts.h"

#define NAME_MOST 64
#define FRAMES (UINT64_C(1) << 63) /* their arrows, beside those of wake-ups */

/* Of a simulation each host is one. */
struct process {
	const char *name;
	uint64_t track;
	uint32_t pid;
};

struct carrier {
	const struct trace_ring *ring;
	struct process *process;
	const char *track_name; /* NULL: it is a carrier's ring */
	uint64_t at; /* the next event */
	struct trace_event event; /* that one */
	uint64_t ns; /* its time in the ring */
	uint64_t track, polls;
	uint64_t on; /* the coroutine that runs; 0: the loop */
	bool asleep; /* a slice of that is open */
	const char *object_kind; /* for what it is about to wait, or NULL */
	uint64_t object;
	uint64_t counter; /* the track of the value that comes next */
	const char *names[TRACE_SLOTS]; /* "": not known */
};

struct counter {
	const struct process *process;
	const char *name;
	uint64_t track;
};

struct work {
	const struct trace_raw *raw;
	struct trace_out *out;
	struct carrier *carriers;
	struct process *processes; /* the program itself comes first */
	unsigned nb_processes;
	struct trace_coroutines coroutines;
	struct trace_sums *sums;
	uint64_t tracks, flows; /* numbers that were given */
	struct trace_texts texts; /* of names */
	struct counter counters[256];
	unsigned nb_counters;
	bool failed;
};

/* The name whose text is in the events from i on. */
static const char *name_at(struct work *w, const struct trace_ring *r, uint64_t i, unsigned n)
{
	char name[NAME_MOST] = "";
	size_t len = 0;

	for (; n > 0 && i < r->n && len + 15 < NAME_MOST; n--, i++, len += 15)
		memcpy(name + len, (const char *)r->words[i] + 1, 15);
	return trace_text(&w->texts, name);
}

/* The name of a slot whose text was overwritten: the text that follows, as the slot was written
 * again because half of the ring had passed. */
static const char *name_later(struct work *w, const struct carrier *c, unsigned slot)
{
	for (uint64_t i = c->at; i < c->ring->n; i++) {
		struct trace_event e = trace_raw_event(w->raw, c->ring, i);

		if (e.kind == HAUL_TRACE_NAME && e.extra == slot)
			return name_at(w, c->ring, i + 1, e.sub);
	}
	return trace_text(&w->texts, "?");
}

static const char *name_of(struct work *w, struct carrier *c, unsigned slot)
{
	slot &= TRACE_SLOTS - 1;
	if (!c->names[slot])
		c->names[slot] = name_later(w, c, slot);
	return c->names[slot];
}

/* The time of an event: later than that of the event before, if they are of one nanosecond, as
 * Perfetto takes the second of two instants of one time for a child of the first. Slices whose
 * duration is known keep their time. */
static uint64_t time_of(struct carrier *c, const struct trace_event *e)
{
	bool same = e->ns >= c->ns && e->ns <= c->event.ns;

	if (e->kind == HAUL_TRACE_VALUE)
		return c->event.ns;
	c->ns = e->ns;
	if (same && e->kind != HAUL_TRACE_POLL && e->kind != HAUL_TRACE_FD)
		return c->event.ns + 1;
	return e->ns;
}

/* Goes on to the next event that is no name. False: there is none. */
static bool next(struct work *w, struct carrier *c)
{
	for (; c->at < c->ring->n; c->at++) {
		struct trace_event e = trace_raw_event(w->raw, c->ring, c->at);

		if (e.kind == HAUL_TRACE_NAME) {
			c->names[e.extra & (TRACE_SLOTS - 1)] =
				name_at(w, c->ring, c->at + 1, e.sub);
			continue;
		}
		if (e.kind == HAUL_TRACE_TEXT || e.kind == HAUL_TRACE_NONE)
			continue;
		e.ns = time_of(c, &e);
		c->event = e;
		c->at++;
		return true;
	}
	return false;
}

static bool is_wait(unsigned how)
{
	return how >= HAUL_TRACE_PARKED && how <= HAUL_TRACE_ORDERED;
}

static struct trace_coroutine *coroutine(struct work *w, uint64_t address)
{
	static struct trace_coroutine none;
	struct trace_coroutine *co = trace_coroutine(&w->coroutines, address);

	if (!co)
		w->failed = true;
	return co ? co : &none;
}

static uint64_t track_of(struct work *w, const struct carrier *c, struct trace_coroutine *co)
{
	const char *of = trace_name(&w->coroutines, co);
	char name[NAME_MOST + 32];
	struct trace_track *track;

	if (co->track)
		return co->track;
	track = trace_track(&w->coroutines, co, of);
	if (!track) {
		w->failed = true;
		return 0;
	}
	co->track_name = of;
	if (!track->number) {
		track->number = ++w->tracks;
		snprintf(name, sizeof(name), "%s 0x%" PRIx64, of ? of : "coroutine", co->address);
		trace_out_track(w->out, track->number, c->process->track, name);
	}
	co->track = track->number;
	return co->track;
}

/* The process of a host, a new one if it is named first here. */
static struct process *process_of(struct work *w, const char *host, uint32_t number)
{
	struct process *p = &w->processes[0];

	if (!host[0])
		return p;
	for (unsigned i = 1; i < w->nb_processes; i++)
		if (w->processes[i].name == host)
			return &w->processes[i];
	p = &w->processes[w->nb_processes++];
	*p = (struct process){host, ++w->tracks, number};
	trace_out_process(w->out, p->track, p->pid, p->name);
	return p;
}

/* Notes the lives of coroutines, and hosts. */
static void note(struct work *w, struct carrier *c)
{
	const struct trace_event *e = &c->event;

	if (e->kind == HAUL_TRACE_HOST)
		c->process = process_of(w, name_of(w, c, e->extra), (uint32_t)e->value);
	if (e->kind == HAUL_TRACE_TRACK)
		c->track_name = name_of(w, c, e->extra);
	if (e->kind != HAUL_TRACE_RUN)
		return;
	if (c->on && e->sub == HAUL_TRACE_ENDED)
		trace_life_noted_end(coroutine(w, c->on));
	c->on = e->value;
	if (c->on &&
		!trace_life_noted(&w->coroutines, coroutine(w, c->on), name_of(w, c, e->extra)))
		w->failed = true;
}

static struct trace_point point(const struct carrier *c, uint64_t track, const char *name)
{
	return (struct trace_point){.ns = c->event.ns, .track = track, .name = name};
}

static void end_sleep(struct work *w, struct carrier *c)
{
	struct trace_point p = point(c, c->track, NULL);

	if (c->asleep)
		trace_out_slice_ends(w->out, &p);
	c->asleep = false;
}

/* Ends the slice of what runs on c. */
static void stop(struct work *w, struct carrier *c, unsigned how, unsigned ended)
{
	struct trace_point p = point(c, c->track, NULL);

	end_sleep(w, c);
	if (!c->on)
		return;
	trace_point_text(&p, "stop", trace_raw_stop(how));
	if (ended > 0)
		trace_point_number(&p, "ended", ended);
	if (how == HAUL_TRACE_BLOCKED && c->object_kind) {
		trace_point_text(&p, "for", c->object_kind);
		trace_point_address(&p, "object", c->object);
	}
	trace_out_slice_ends(w->out, &p);
}

/* Ends all that is open on the track of co. */
static void end_all(struct work *w, struct carrier *c, struct trace_coroutine *co)
{
	struct trace_point p = point(c, co->track, NULL);

	for (co->depth += co->waits; co->depth > 0; co->depth--)
		trace_out_slice_ends(w->out, &p);
	co->waits = false;
	co->flow = 0;
}

/* The wait of co begins; or all that is open on its track ends with it. */
static void mark_stop(struct work *w, struct carrier *c, struct trace_coroutine *co, unsigned how)
{
	struct trace_point p;

	if (is_wait(how) && !co->waits) {
		p = point(c, track_of(w, c, co), trace_raw_stop(how));
		if (how == HAUL_TRACE_BLOCKED && c->object_kind) {
			p.name = c->object_kind;
			trace_point_address(&p, "object", c->object);
		}
		trace_out_slice_begins(w->out, &p);
		co->waits = true;
		co->end = 0;
	} else if (how == HAUL_TRACE_ENDED) {
		end_all(w, c, co);
		trace_life_ends(co);
	}
}

static void end_wait(struct work *w, struct carrier *c, struct trace_coroutine *co)
{
	struct trace_point p = point(c, co->track, NULL);

	if (co->waits && trace_raw_end(co->end))
		trace_point_text(&p, "end", trace_raw_end(co->end));
	if (co->waits)
		trace_out_slice_ends(w->out, &p);
	co->waits = false;
}

/* co has another name than the one that its track may have. */
static void leave_track(struct work *w, struct carrier *c, struct trace_coroutine *co)
{
	uint64_t flow = co->flow;

	if (!co->track || co->track_name == co->name)
		return;
	end_all(w, c, co);
	co->track = 0;
	co->flow = flow;
}

static void run(struct work *w, struct carrier *c)
{
	const struct trace_event *e = &c->event;
	struct trace_coroutine *co;
	struct trace_point p;

	stop(w, c, e->sub, e->extra >> 8);
	if (c->on)
		mark_stop(w, c, coroutine(w, c->on), e->sub);
	c->object_kind = NULL;
	c->on = e->value;
	if (!c->on)
		return;
	co = coroutine(w, c->on);
	if (trace_life_runs(&w->coroutines, co, name_of(w, c, e->extra)))
		leave_track(w, c, co);
	end_wait(w, c, co);
	p = point(c, c->track, co->name);
	p.flow_ends = co->flow;
	co->flow = 0;
	trace_point_address(&p, "coroutine", c->on);
	trace_out_slice_begins(w->out, &p);
}

/* An instant from which an arrow goes to the next event of the coroutine. */
static void arrow(struct work *w, struct carrier *c, const char *what, const char *carrier)
{
	struct trace_coroutine *co = coroutine(w, c->event.value);
	const char *name = trace_name(&w->coroutines, co);
	struct trace_point p = point(c, c->track, what);

	if (!co->flow)
		co->flow = ++w->flows;
	p.flow = co->flow;
	trace_point_address(&p, "coroutine", c->event.value);
	if (name)
		trace_point_text(&p, "name", name);
	if (carrier)
		trace_point_number(&p, carrier, c->event.extra);
	trace_out_instant(w->out, &p);
}

static void instant(struct work *w, struct carrier *c, const char *what)
{
	struct trace_point p = point(c, c->track, what);

	if (c->event.kind == HAUL_TRACE_TIMERS)
		trace_point_number(&p, "expired", c->event.value);
	trace_out_instant(w->out, &p);
}

static void sleep(struct work *w, struct carrier *c)
{
	static const char *const how[] = {"asleep", "asleep, or fds", "asleep, or packets"};
	struct trace_point p = point(c, c->track, how[c->event.sub % 3]);

	if (!c->asleep)
		trace_out_slice_begins(w->out, &p);
	c->asleep = true;
}

/* A slice whose end the event is. */
static void lasted(
	struct work *w, struct carrier *c, uint64_t track, const char *name, const char *number)
{
	struct trace_point end = point(c, track, NULL), begin = point(c, track, name);

	begin.ns -= trace_raw_ns(w->raw, c->event.value);
	trace_point_number(&begin, number, c->event.extra);
	trace_out_slice_begins(w->out, &begin);
	trace_out_slice_ends(w->out, &end);
}

static void span_begins(struct work *w, struct carrier *c)
{
	struct trace_coroutine *co = coroutine(w, c->event.value);
	struct trace_point p = point(c, track_of(w, c, co), name_of(w, c, c->event.extra));

	co->depth++;
	trace_out_slice_begins(w->out, &p);
}

/* The begin of the span may have been lost. */
static void span_ends(struct work *w, struct carrier *c)
{
	struct trace_coroutine *co = coroutine(w, c->event.value);
	struct trace_point p = point(c, co->track, NULL);

	if (co->depth == 0)
		return;
	co->depth--;
	trace_out_slice_ends(w->out, &p);
}

static void mark(struct work *w, struct carrier *c)
{
	uint64_t track = c->event.value ? track_of(w, c, coroutine(w, c->event.value)) : c->track;
	struct trace_point p = point(c, track, name_of(w, c, c->event.extra));

	trace_out_instant(w->out, &p);
}

/* An arrow leads from where it is sent to where it arrives, or is lost. */
static void frame(struct work *w, struct carrier *c)
{
	uint64_t arrow = FRAMES | c->event.value >> 16;
	char text[NAME_MOST + 16];
	struct trace_point p;

	snprintf(text, sizeof(text), "%s%s", trace_raw_frame(c->event.sub),
		name_of(w, c, c->event.extra));
	p = point(c, c->track, trace_text(&w->texts, text));
	if (c->event.sub == HAUL_TRACE_ARRIVED || c->event.sub == HAUL_TRACE_LOST)
		p.flow_ends = arrow;
	else
		p.flow = arrow;
	trace_point_number(&p, "bytes", c->event.value & UINT16_MAX);
	trace_out_instant(w->out, &p);
}

static uint64_t counter_track(struct work *w, const struct process *process, const char *name)
{
	const unsigned most = sizeof(w->counters) / sizeof(w->counters[0]);
	unsigned i;

	for (i = 0; i < w->nb_counters; i++)
		if (w->counters[i].name == name && w->counters[i].process == process)
			return w->counters[i].track;
	if (w->nb_counters == most)
		return w->counters[most - 1].track;
	w->counters[w->nb_counters++] = (struct counter){process, name, ++w->tracks};
	trace_out_counter_track(w->out, w->tracks, process->track, name);
	return w->tracks;
}

static void count(struct work *w, struct carrier *c)
{
	if (c->event.kind == HAUL_TRACE_COUNT) {
		c->counter = counter_track(w, c->process, name_of(w, c, c->event.extra));
		return;
	}
	if (c->counter)
		trace_out_counter(w->out, c->event.ns, c->counter, (int64_t)c->event.value);
	c->counter = 0;
}

static void handle(struct work *w, struct carrier *c)
{
	w->sums->events++;
	switch (c->event.kind) {
	case HAUL_TRACE_RUN:
		run(w, c);
		break;
	case HAUL_TRACE_BLOCK:
		c->object_kind = name_of(w, c, c->event.extra);
		c->object = c->event.value;
		break;
	case HAUL_TRACE_READY:
		coroutine(w, c->event.value)->end = (uint8_t)c->event.sub;
		arrow(w, c, "wake", NULL);
		break;
	case HAUL_TRACE_REQUEST:
		arrow(w, c, "remote wake", NULL);
		break;
	case HAUL_TRACE_SPAWN:
		arrow(w, c, "spawn", "on");
		break;
	case HAUL_TRACE_STEAL:
		arrow(w, c, "steal", "from");
		break;
	case HAUL_TRACE_MAIL:
		instant(w, c, "mail");
		break;
	case HAUL_TRACE_TIMERS:
		instant(w, c, "timers");
		break;
	case HAUL_TRACE_SLEEP:
		sleep(w, c);
		break;
	case HAUL_TRACE_AWAKE:
		end_sleep(w, c);
		break;
	case HAUL_TRACE_POLL:
		lasted(w, c, c->polls, "poll", "packets");
		break;
	case HAUL_TRACE_FD:
		lasted(w, c, c->track, c->event.sub == HAUL_TRACE_SENDS ? "send" : "receive", "fd");
		break;
	case HAUL_TRACE_BEGIN:
		span_begins(w, c);
		break;
	case HAUL_TRACE_END:
		span_ends(w, c);
		break;
	case HAUL_TRACE_MARK:
		mark(w, c);
		break;
	case HAUL_TRACE_COUNT:
	case HAUL_TRACE_VALUE:
		count(w, c);
		break;
	case HAUL_TRACE_TRIGGER:
		instant(w, c, trace_raw_why(c->event.sub));
		break;
	case HAUL_TRACE_FRAME:
		frame(w, c);
		break;
	case HAUL_TRACE_HOST:
	case HAUL_TRACE_TRACK:
	case HAUL_TRACE_NONE:
	case HAUL_TRACE_NAME:
	case HAUL_TRACE_TEXT:
		break;
	}
}

static void put_carrier(struct work *w, struct carrier *c)
{
	const struct haul_trace_ring *h = &c->ring->head;
	char name[64];

	snprintf(name, sizeof(name), "carrier %u", h->carrier);
	if (h->runtime > 0)
		snprintf(name, sizeof(name), "runtime %u carrier %u", h->runtime, h->carrier);
	c->track = ++w->tracks;
	w->sums->lost += c->ring->lost;
	if (c->track_name) {
		trace_out_track(w->out, c->track, c->process->track, c->track_name);
		return;
	}
	trace_out_thread(w->out, c->track, c->process->track, c->process->pid, h->tid, name);
	c->polls = ++w->tracks;
	strcat(name, " polls");
	trace_out_track(w->out, c->polls, c->process->track, name);
}

/* The carrier with the oldest event; NULL: none has one. */
static struct carrier *oldest(struct work *w, const bool *has)
{
	struct carrier *found = NULL;

	for (unsigned i = 0; i < w->raw->nb; i++)
		if (has[i] && (!found || w->carriers[i].event.ns < found->event.ns))
			found = &w->carriers[i];
	return found;
}

/* Calls fn for each event of all carriers, in the order of times. */
static void each(struct work *w, bool *has, void (*fn)(struct work *w, struct carrier *c))
{
	struct carrier *c;

	for (unsigned i = 0; i < w->raw->nb; i++)
		has[i] = next(w, &w->carriers[i]);
	while ((c = oldest(w, has)) && !w->failed) {
		fn(w, c);
		has[c - w->carriers] = next(w, c);
	}
}

static void convert_all(struct work *w, bool *has)
{
	for (unsigned i = 0; i < w->raw->nb; i++)
		w->carriers[i] =
			(struct carrier){.ring = &w->raw->rings[i], .process = &w->processes[0]};
	each(w, has, note);
	trace_lives_begin(&w->coroutines);
	for (unsigned i = 0; i < w->raw->nb; i++) {
		w->carriers[i] = (struct carrier){.ring = &w->raw->rings[i],
			.process = w->carriers[i].process,
			.track_name = w->carriers[i].track_name};
		put_carrier(w, &w->carriers[i]);
	}
	each(w, has, handle);
}

static void free_all(struct work *w)
{
	trace_texts_free(&w->texts);
	free(w->carriers);
	free(w->processes);
	trace_coroutines_free(&w->coroutines);
}

bool trace_convert(const struct trace_raw *raw, FILE *to, struct trace_sums *sums)
{
	struct work *w = calloc(1, sizeof(*w));
	bool *has = calloc(raw->nb + 1, sizeof(*has)), done = false;

	*sums = (struct trace_sums){0};
	if (w) {
		*w = (struct work){.raw = raw,
			.out = trace_out_begin(to),
			.carriers = calloc(raw->nb + 1, sizeof(w->carriers[0])),
			.processes = calloc(raw->nb + 1, sizeof(w->processes[0])),
			.sums = sums};
	}
	if (w && has && w->out && w->carriers && w->processes) {
		w->processes[w->nb_processes++] =
			(struct process){raw->head.program, ++w->tracks, raw->head.pid};
		trace_out_process(w->out, w->tracks, raw->head.pid, raw->head.program);
		convert_all(w, has);
		done = trace_out_end(w->out, &sums->packets) && !w->failed && !w->texts.failed;
	}
	if (w)
		free_all(w);
	free(w);
	free(has);
	return done;
}
