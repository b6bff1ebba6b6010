/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the plan as a table. */
#include <errno.h>

#include <haul/topo.h>

#include "base/assert.h"

#define NEAREST_SHOWN 6u

static void print_number(FILE *out, int width, int number)
{
	if (number < 0)
		fprintf(out, "%*s", width, "-");
	else
		fprintf(out, "%*d", width, number);
}

static void print_nearest(FILE *out, const struct haul_plan *plan, unsigned i)
{
	unsigned others = plan->carriers - 1;
	const unsigned *by_distance = plan->by_distance + (size_t)i * others;

	for (unsigned k = 0; k < others && k < NEAREST_SHOWN; k++)
		fprintf(out, "%s%u", k ? " " : "", by_distance[k]);
	if (others > NEAREST_SHOWN)
		fputs(" ...", out);
	else if (others == 0)
		fputc('-', out);
}

static void print_place(FILE *out, const struct haul_plan *plan, unsigned i)
{
	const struct haul_place *place = &plan->places[i];

	fprintf(out, "%7u", i);
	if (place->cpu < 0)
		fprintf(out, "%8s", "floats");
	else
		print_number(out, 8, place->cpu);
	print_number(out, 6, place->core);
	fprintf(out, "%5s", place->smt ? "yes" : "-");
	print_number(out, 6, place->node);
	fprintf(out, "%9u  ", place->cluster);
	print_nearest(out, plan, i);
	fputc('\n', out);
}

int haul_plan_print(const struct haul_plan *plan, FILE *out)
{
	HAUL_MISUSE_IF(!plan || !out, "the plan or the file is NULL");
	fprintf(out, "%u carrier%s in %u cluster%s\n", plan->carriers,
		plan->carriers == 1 ? "" : "s", plan->clusters, plan->clusters == 1 ? "" : "s");
	fprintf(out, "%7s%8s%6s%5s%6s%9s  %s\n", "carrier", "cpu", "core", "smt", "node", "cluster",
		"nearest first");
	for (unsigned i = 0; i < plan->carriers; i++)
		print_place(out, plan, i);
	if (plan->notice[0])
		fprintf(out, "notice: %s\n", plan->notice);
	return ferror(out) ? -EIO : 0;
}
