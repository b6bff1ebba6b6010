/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/fds/file.h"

#include <errno.h>
#include <fcntl.h>

#include "sim/world.h"

static struct hauli_sim_watch *holds;

void hauli_sim_file_init(
	struct hauli_sim_file *f, const struct hauli_sim_file_kind *kind, int flags)
{
	f->kind = kind;
	f->flags = flags;
	f->refs = 0;
	f->host = hauli_sim_host();
	f->in_ns = f->out_ns = 0;
	f->first = NULL;
}

void hauli_sim_file_put(struct hauli_sim_file *f)
{
	if (--f->refs)
		return;
	while (f->first)
		f->first->gone(f->first);
	f->kind->release(f);
}

void hauli_sim_file_changed(struct hauli_sim_file *f, uint32_t events)
{
	if (hauli_sim_is_on() && f->host != hauli_sim_host())
		hauli_sim_rouse(f->host);
	for (struct hauli_sim_watch *w = f->first; w; w = w->next)
		if (events & (w->events | HAULI_SIM_ALWAYS))
			w->changed(w);
}

void hauli_sim_watch_begin(struct hauli_sim_watch *w, struct hauli_sim_file *f, bool last)
{
	struct hauli_sim_watch **at = &f->first;

	while (last && *at)
		at = &(*at)->next;
	w->file = f;
	w->next = *at;
	w->prev = at;
	*at = w;
	if (w->next)
		w->next->prev = &w->next;
}

void hauli_sim_watch_end(struct hauli_sim_watch *w)
{
	*w->prev = w->next;
	if (w->next)
		w->next->prev = w->prev;
}

static void ignore(struct hauli_sim_watch *w)
{
}

/* Not inline: gcc takes the list for one that outlives the stacks in it. */
static __attribute__((noinline)) void begin_hold(
	struct hauli_sim_watch *w, struct hauli_sim_file *f)
{
	hauli_sim_watch_begin(w, f, false);
	f->refs++;
	w->host = hauli_sim_host();
	w->next_hold = holds;
	w->prev_hold = &holds;
	holds = w;
	if (w->next_hold)
		w->next_hold->prev_hold = &w->next_hold;
}

void hauli_sim_hold(struct hauli_sim_watch *w, struct hauli_sim_file *f)
{
	*w = (struct hauli_sim_watch){.changed = ignore};
	begin_hold(w, f);
}

void hauli_sim_let_go(struct hauli_sim_watch *w)
{
	*w->prev_hold = w->next_hold;
	if (w->next_hold)
		w->next_hold->prev_hold = w->prev_hold;
	hauli_sim_watch_end(w);
	hauli_sim_file_put(w->file);
}

void hauli_sim_files_forget(void)
{
	holds = NULL;
}

void hauli_sim_files_kill(unsigned host)
{
	for (struct hauli_sim_watch *w = holds, *next; w; w = next) {
		next = w->next_hold;
		if (w->host == host)
			hauli_sim_let_go(w);
	}
}

static void wake(struct hauli_sim_watch *watch)
{
	hauli_sim_wake(watch->owner, 1);
}

void hauli_sim_waiter_add(struct hauli_sim_waiter *w, struct hauli_sim_watch *watch,
	struct hauli_sim_file *f, uint32_t events)
{
	*watch = (struct hauli_sim_watch){.events = events, .owner = w, .changed = wake};
	begin_hold(watch, f);
}

void hauli_sim_waiter_end(struct hauli_sim_waiter *w)
{
	for (unsigned i = 0; i < w->n; i++)
		hauli_sim_let_go(&w->watches[i]);
}

ssize_t hauli_sim_file_try(struct hauli_sim_file *f, uint32_t events, uint64_t until,
	ssize_t (*attempt)(struct hauli_sim_file *f, void *arg), void *arg)
{
	ssize_t n = attempt(f, arg);
	struct hauli_sim_watch watch;
	struct hauli_sim_waiter w = {&watch, 1};

	if (n != -EAGAIN || until == 0)
		return n;
	hauli_sim_waiter_add(&w, &watch, f, events);
	while (n == -EAGAIN && hauli_sim_wait(&w, until))
		n = attempt(f, arg);
	hauli_sim_waiter_end(&w);
	return n;
}

uint64_t hauli_sim_file_until(const struct hauli_sim_file *f, uint32_t events, bool waits)
{
	uint64_t ns = events & HAULI_SIM_IN ? f->in_ns : f->out_ns;

	if (!waits || f->flags & O_NONBLOCK)
		return 0;
	return ns ? hauli_sim_now() + ns : HAULI_NEVER;
}
