/* SPDX-License-Identifier: BSD-3-Clause */
#include "coroutines.h"

#include <stdlib.h>

static struct trace_coroutine *place_of(const struct trace_coroutines *all, uint64_t address)
{
	uint64_t i = address * UINT64_C(0x9e3779b97f4a7c15) >> 20;

	while (all->places[i &= all->size - 1].address && all->places[i].address != address)
		i++;
	return &all->places[i];
}

static bool grow(struct trace_coroutines *all)
{
	struct trace_coroutines more = *all;

	more.size = all->size ? 2 * all->size : 1024;
	more.places = calloc(more.size, sizeof(more.places[0]));
	if (!more.places)
		return false;
	for (uint64_t i = 0; i < all->size; i++)
		if (all->places[i].address)
			*place_of(&more, all->places[i].address) = all->places[i];
	free(all->places);
	*all = more;
	return true;
}

struct trace_coroutine *trace_coroutine(struct trace_coroutines *all, uint64_t address)
{
	struct trace_coroutine *co;

	if (2 * all->n >= all->size && !grow(all))
		return NULL;
	co = place_of(all, address);
	if (!co->address) {
		co->address = address;
		all->n++;
	}
	return co;
}

void trace_coroutines_free(struct trace_coroutines *all)
{
	free(all->places);
	free(all->all_lives);
	free(all->all_tracks);
}

struct trace_track *trace_track(
	struct trace_coroutines *all, struct trace_coroutine *co, const char *name)
{
	struct trace_track *more;

	for (uint32_t i = co->tracks; i; i = all->all_tracks[i - 1].next)
		if (all->all_tracks[i - 1].name == name)
			return &all->all_tracks[i - 1];
	if (all->nb_tracks == all->tracks_size) {
		uint32_t size = all->tracks_size ? 2 * all->tracks_size : 1024;

		more = realloc(all->all_tracks, size * sizeof(more[0]));
		if (!more)
			return NULL;
		all->all_tracks = more;
		all->tracks_size = size;
	}
	more = &all->all_tracks[all->nb_tracks++];
	*more = (struct trace_track){.name = name, .next = co->tracks};
	co->tracks = all->nb_tracks;
	return more;
}

/* The place of another life, plus 1; 0: no memory. */
static uint32_t add(struct trace_coroutines *all, const char *name)
{
	if (all->nb_lives == all->lives_size) {
		uint32_t size = all->lives_size ? 2 * all->lives_size : 1024;
		struct trace_life *more = realloc(all->all_lives, size * sizeof(more[0]));

		if (!more)
			return 0;
		all->all_lives = more;
		all->lives_size = size;
	}
	all->all_lives[all->nb_lives] = (struct trace_life){.name = name, .times = 1};
	return ++all->nb_lives;
}

bool trace_life_noted(struct trace_coroutines *all, struct trace_coroutine *co, const char *name)
{
	bool same = co->last && all->all_lives[co->last - 1].name == name;
	uint32_t place;

	if (same) {
		all->all_lives[co->last - 1].times += !co->lives;
		co->lives = true;
		return true;
	}
	place = add(all, name);
	if (!place)
		return false;
	if (co->last)
		all->all_lives[co->last - 1].next = place;
	else
		co->first = place;
	co->last = place;
	co->lives = true;
	return true;
}

void trace_life_noted_end(struct trace_coroutine *co)
{
	co->lives = false;
}

void trace_lives_begin(struct trace_coroutines *all)
{
	for (uint64_t i = 0; i < all->size; i++) {
		all->places[i].lives = false;
		all->places[i].life = all->places[i].first;
	}
}

bool trace_life_runs(struct trace_coroutines *all, struct trace_coroutine *co, const char *name)
{
	bool is_other = co->name != name;

	if (co->lives && !is_other)
		return false;
	if (co->life && co->lived < all->all_lives[co->life - 1].times) {
		co->lived++;
	} else if (co->life) {
		co->life = all->all_lives[co->life - 1].next;
		co->lived = 1;
	}
	co->lives = true;
	co->name = name;
	return is_other;
}

void trace_life_ends(struct trace_coroutine *co)
{
	co->lives = false;
}

const char *trace_name(const struct trace_coroutines *all, const struct trace_coroutine *co)
{
	const struct trace_life *life;

	if (co->lives || !co->life)
		return co->name;
	life = &all->all_lives[co->life - 1];
	if (co->lived < life->times)
		return life->name;
	return life->next ? all->all_lives[life->next - 1].name : NULL;
}
