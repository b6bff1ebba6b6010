/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim.h"

void sim_queue_init(struct sim_queue *q)
{
	q->first = NULL;
	q->end = &q->first;
	q->length = 0;
}

void sim_queue_push(struct sim_queue *q, struct sim_task *t)
{
	t->next = NULL;
	*q->end = t;
	q->end = &t->next;
	q->length++;
}

void sim_queue_push_first(struct sim_queue *q, struct sim_task *t)
{
	t->next = q->first;
	if (!q->first)
		q->end = &t->next;
	q->first = t;
	q->length++;
}

static struct sim_task *take(struct sim_queue *q, struct sim_task **at)
{
	struct sim_task *t = *at;

	*at = t->next;
	if (q->end == &t->next)
		q->end = at;
	q->length--;
	return t;
}

struct sim_task *sim_queue_pop(struct sim_queue *q)
{
	return q->first ? take(q, &q->first) : NULL;
}

struct sim_task *sim_queue_steal(struct sim_queue *q)
{
	struct sim_task **at = &q->first;

	while (*at && (*at)->source)
		at = &(*at)->next;
	return *at ? take(q, at) : NULL;
}
