/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * First without whole kinds, then without strikes: half of them, and where that does not fail,
 * without smaller parts (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing
 * input", IEEE TSE 28(2), 2002). Parts are tried several at a time, and the first that can go goes.
 */
#include "sim/shorten.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/real.h"

#define STRIKES_MAX 1000000 /* that are looked at one by one */

/* Strikes, by kind and number. */
struct list {
	struct hauli_sim_range *at; /* from == to */
	size_t n;
};

struct search {
	struct hauli_sim_runs *runs;
	const struct hauli_sim_spec *spec;
	const struct hauli_sim_outcome *failed;
	struct hauli_sim_short *result;
	uint64_t until; /* real ns */
};

static bool is_over(struct search *s)
{
	s->result->complete &= hauli_sim_real_ns() < s->until;
	return !s->result->complete || hauli_sim_interrupted();
}

/* The option for all strikes of a list but those from `without` to `without + n - 1`. NULL: no
 * memory. */
static char *text_of(const struct list *list, size_t without, size_t n)
{
	size_t len;
	char *text = NULL;
	FILE *f = open_memstream(&text, &len);
	const char *comma = "";

	if (!f)
		return NULL;
	for (size_t i = 0, end; i < list->n; i = end) {
		const struct hauli_sim_range *first = &list->at[i], *last = first;

		end = i + 1;
		if (i >= without && i < without + n)
			continue;
		while (end < list->n && end != without && list->at[end].kind == first->kind &&
			list->at[end].from == last->to + 1)
			last = &list->at[end++];
		fprintf(f, "%s%s:%" PRIu64, comma, hauli_sim_fault_name(first->kind), first->from);
		if (last != first)
			fprintf(f, "-%" PRIu64, last->to);
		comma = ",";
	}
	if (!*comma)
		fputs("none", f);
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static char *text_of_kinds(uint32_t kinds)
{
	char *text = calloc(1, 256);

	if (!text)
		return NULL;
	for (unsigned i = 0; i < HAULI_SIM_FAULTS; i++)
		if (kinds & 1U << i)
			sprintf(text + strlen(text), "%s%s", *text ? "," : "",
				hauli_sim_fault_name(i));
	if (!*text)
		strcpy(text, "none");
	return text;
}

/* Candidates that were tried together. */
struct batch {
	char **faults; /* as many as there are slots */
	unsigned n;
};

/* The first of a batch whose run fails as it should; -1: none does; or an error. It becomes the
 * result so far. Frees the texts. */
static int try(struct search *s, struct batch *b)
{
	struct hauli_sim_short *best = s->result;
	int found = -1, rc = 0;

	for (unsigned i = 0; i < b->n && rc == 0; i++) {
		struct hauli_sim_spec spec = *s->spec;

		spec.faults = b->faults[i];
		s->runs->slots[i].tag = i;
		rc = b->faults[i] ? hauli_sim_runs_begin(s->runs, &s->runs->slots[i], &spec, NULL)
				  : -ENOMEM;
		best->runs++;
	}
	while (s->runs->busy > 0 && !hauli_sim_interrupted())
		(void)hauli_sim_runs_wait(s->runs, 200);
	if (hauli_sim_interrupted())
		rc = -EINTR;
	for (unsigned i = 0; i < b->n && rc == 0 && found < 0; i++)
		if (hauli_sim_is_alike(s->runs->slots[i].out, s->failed))
			found = (int)i;
	for (unsigned i = 0; i < b->n; i++) {
		if ((int)i == found) {
			free(best->faults);
			best->faults = b->faults[i];
			best->out = *s->runs->slots[i].out;
		} else {
			free(b->faults[i]);
		}
	}
	return rc ? rc : found;
}

/* -2: none, and it is no error. */
#define NONE (-1)

static int try_one(struct search *s, char *faults)
{
	struct batch b = {&faults, 1};

	return try(s, &b);
}

static uint32_t struck(const struct hauli_sim_outcome *out)
{
	uint32_t kinds = 0;

	for (unsigned i = 0; i < HAULI_SIM_FAULTS; i++)
		if (out->struck[i] > 0)
			kinds |= 1U << i;
	return kinds;
}

/* Leaves out kinds, one after the other. */
static int without_kinds(struct search *s, char **faults)
{
	uint32_t kinds = struck(&s->result->out);
	unsigned next = 0;

	while (next < HAULI_SIM_FAULTS && !is_over(s)) {
		unsigned tried[HAULI_SIM_FAULTS];
		struct batch b = {faults, 0};
		int found;

		for (; next < HAULI_SIM_FAULTS && b.n < s->runs->n; next++) {
			if (!(kinds & 1U << next))
				continue;
			tried[b.n] = next;
			faults[b.n++] = text_of_kinds(kinds & ~(1U << next));
		}
		if (b.n == 0)
			break;
		found = try(s, &b);
		if (found < NONE)
			return found;
		if (found == NONE)
			continue;
		kinds &= struck(&s->result->out) & ~(1U << tried[found]);
		next = tried[found] + 1;
	}
	return 0;
}

/* Lists the strikes that the failing run has had. */
static int list_strikes(const struct hauli_sim_outcome *out, struct list *list)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < HAULI_SIM_FAULTS; i++) {
		if (out->struck[i] != out->last[i])
			return 0; /* the option has named strikes */
		n += out->last[i];
	}
	if (n > STRIKES_MAX)
		return 0;
	list->at = calloc(n + 1, sizeof(list->at[0]));
	if (!list->at)
		return -ENOMEM;
	for (unsigned i = 0; i < HAULI_SIM_FAULTS; i++)
		for (uint64_t k = 1; k <= out->last[i]; k++)
			list->at[list->n++] = (struct hauli_sim_range){i, k, k};
	return 0;
}

/* Without the part, and without what has not come, since the run has ended before. */
static void drop(struct list *list, size_t from, size_t n, const struct hauli_sim_outcome *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n; i++)
		if ((i < from || i >= from + n) && list->at[i].to <= out->last[list->at[i].kind])
			list->at[kept++] = list->at[i];
	list->n = kept;
}

/* Leaves out parts of this size. */
static int without_parts(struct search *s, struct list *list, size_t size, char **faults)
{
	size_t at = 0;

	while (at < list->n && !is_over(s)) {
		struct batch b = {faults, 0};
		int found;

		for (size_t part = at; part < list->n && b.n < s->runs->n; part += size)
			faults[b.n++] = text_of(list, part, size);
		found = try(s, &b);
		if (found < NONE)
			return found;
		if (found == NONE) {
			at += b.n * size;
			continue;
		}
		at += (size_t)found * size;
		drop(list, at, size, &s->result->out);
	}
	return 0;
}

static int without_strikes(struct search *s, char **faults)
{
	struct list list = {NULL, 0};
	int rc = list_strikes(&s->result->out, &list);
	size_t before;

	/* One by one, it is the same run. */
	if (rc == 0 && list.n > 0) {
		char *named = text_of(&list, list.n, 0);

		if (named)
			free(s->result->faults);
		s->result->faults = named ? named : s->result->faults;
	}
	for (size_t size = (list.n + 1) / 2; rc == 0 && size > 0 && !is_over(s); size /= 2)
		do {
			before = list.n;
			rc = without_parts(s, &list, size < list.n ? size : list.n, faults);
		} while (size == 1 && rc == 0 && list.n > 0 && list.n < before && !is_over(s));
	free(list.at);
	return rc;
}

static int search(struct search *s, char **faults)
{
	int rc;

	rc = try_one(s, strdup("none"));
	if (rc != NONE)
		return rc < 0 ? rc : 0;
	rc = without_kinds(s, faults);
	return rc ? rc : without_strikes(s, faults);
}

static uint64_t count(const struct hauli_sim_outcome *out)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < HAULI_SIM_FAULTS; i++)
		n += out->struck[i];
	return n;
}

int hauli_sim_shorten(struct hauli_sim_runs *runs, const struct hauli_sim_spec *spec,
	const struct hauli_sim_outcome *failed, unsigned seconds, struct hauli_sim_short *result)
{
	struct search s = {.runs = runs, .spec = spec, .failed = failed, .result = result};
	const char *all = spec->faults ? spec->faults : spec->test->faults;
	char **faults = calloc(runs->n, sizeof(faults[0]));
	int rc;

	*result = (struct hauli_sim_short){.complete = true, .all = count(failed)};
	s.until = hauli_sim_real_ns() + seconds * HAUL_S;
	rc = faults ? try_one(&s, strdup(all ? all : "all")) : -ENOMEM;
	if (rc == 0) {
		result->again = true;
		rc = search(&s, faults);
		result->kept = count(&result->out);
	}
	/* Its output. */
	if (rc == 0) {
		struct hauli_sim_spec shortest = *spec;

		shortest.faults = result->faults;
		if (!hauli_sim_runs_one(runs, &runs->slots[0], &shortest, NULL))
			rc = -EINTR;
	}
	free(faults);
	return rc == NONE ? 0 : rc;
}
