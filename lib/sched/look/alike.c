/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/look/alike.h"

#include <stdio.h>
#include <string.h>

static const char *name_of(const struct hauli_shot *s)
{
	return s->name ? s->name : "-";
}

static bool is_alike(
	const struct hauli_alike *a, const struct haul_carrier *home, const struct hauli_shot *s)
{
	const struct hauli_shot *f = &a->first;

	return a->home == home && f->state == s->state && f->runs == s->runs &&
		f->stolen == s->stolen && f->begun == s->begun && f->hibernates == s->hibernates &&
		f->what == s->what && f->n == s->n &&
		memcmp(f->pcs, s->pcs, s->n * sizeof(s->pcs[0])) == 0 &&
		strncmp(a->name, name_of(s), sizeof(a->name) - 1) == 0;
}

struct hauli_alike *hauli_alike_find(
	struct hauli_alikes *all, const struct haul_carrier *home, const struct hauli_shot *shot)
{
	struct hauli_alike *a;

	for (a = all->of; a < &all->of[all->n]; a++)
		if (is_alike(a, home, shot))
			return a;
	if (all->n == HAULI_ALIKE_KINDS)
		return NULL;
	all->n++;
	a->home = home;
	a->first = *shot;
	snprintf(a->name, sizeof(a->name), "%s", name_of(shot));
	return a;
}
