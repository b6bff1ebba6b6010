/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/thread.h"

#include <limits.h>
#include <stdlib.h>

unsigned hauli_sim_hosts_add(struct hauli_sim_hosts *h, const char *name)
{
	struct hauli_sim_host *more;
	unsigned host = h->free;

	if (host > 0) {
		h->free = h->all[host].next_free;
		h->all[host] = (struct hauli_sim_host){.name = name};
		return host;
	}
	more = realloc(h->all, (h->n + 1) * sizeof(more[0]));
	if (!more)
		return UINT_MAX;
	h->all = more;
	for (unsigned i = 0; i < h->n; i++)
		if (more[i].threads)
			more[i].threads->prev_of_host = &more[i].threads;
	more[h->n] = (struct hauli_sim_host){.name = name};
	return h->n++;
}

void hauli_sim_hosts_remove(struct hauli_sim_hosts *h, unsigned host)
{
	h->all[host].next_free = h->free;
	h->free = host;
}

void hauli_sim_hosts_join(struct hauli_sim_hosts *h, struct hauli_sim_thread *t, unsigned host)
{
	struct hauli_sim_thread **first = &h->all[host].threads;

	t->host = host;
	t->next_of_host = *first;
	t->prev_of_host = first;
	if (*first)
		(*first)->prev_of_host = &t->next_of_host;
	*first = t;
}

void hauli_sim_hosts_leave(struct hauli_sim_thread *t)
{
	*t->prev_of_host = t->next_of_host;
	if (t->next_of_host)
		t->next_of_host->prev_of_host = t->prev_of_host;
}

void hauli_sim_hosts_rest(struct hauli_sim_hosts *h, struct hauli_sim_thread *t)
{
	t->rests = true;
	t->next = h->all[t->host].resting;
	h->all[t->host].resting = t;
}

void hauli_sim_hosts_rest_ends(struct hauli_sim_hosts *h, struct hauli_sim_thread *t)
{
	struct hauli_sim_thread **at = &h->all[t->host].resting;

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	t->rests = false;
}
