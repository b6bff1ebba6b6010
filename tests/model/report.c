/* SPDX-License-Identifier: BSD-3-Clause */
/* The main function of a model's program: the search under each memory, and a table. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "search.h"

static const char *const names[] = {
	[MEMORY_SC] = "SC", [MEMORY_TSO] = "TSO", [MEMORY_WEAK] = "weak"};

#define NB_KINDS (sizeof(names) / sizeof(names[0]))

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct search search_and_report(
	const struct model *model, enum memory_kind kind, unsigned number)
{
	double start = seconds();
	struct search s = search_model(model, kind);

	printf("%s %u - %s %s: %u threads, %" PRIu64 " states, %" PRIu64
	       " runs, longest %u steps, %.2f s, violations %d\n",
		s.complete && !s.violation ? "ok" : "not ok", number, model->name, names[kind],
		model->nb_threads, s.states, s.runs, s.longest, seconds() - start,
		s.violation != NULL);
	if (!s.complete)
		printf("# the search was not completed\n");
	if (s.violation) {
		printf("# violation: %s\n", s.violation);
		search_print_trace();
	}
	return s;
}

/* True if the arguments have this name, or there are none. */
static bool is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc <= 1;
}

int model_main(int argc, char **argv, const struct model *model)
{
	int status = EXIT_SUCCESS;
	unsigned done = 0;

	printf("1..%zu\n", argc > 1 ? (size_t)argc - 1 : NB_KINDS);
	for (enum memory_kind kind = MEMORY_SC; kind < NB_KINDS; kind++) {
		struct search s;

		if (!is_wanted(names[kind], argc, argv))
			continue;
		s = search_and_report(model, kind, ++done);
		if (s.violation)
			return 3;
		if (!s.complete)
			status = EXIT_FAILURE;
	}
	return status;
}

bool model_holds(const struct model *model, enum memory_kind kind)
{
	struct search s = search_model(model, kind);

	return s.complete && !s.violation;
}
