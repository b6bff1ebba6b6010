/* SPDX-License-Identifier: BSD-3-Clause */
#include "chosen_xstats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <haul-app/app.h>
#include <haul-dpdk/port_info.h>

#define CHOSEN_MOST 32

static const char *chosen; /* NULL: none */
static uint64_t before[HAUL_APP_PORTS_MAX][CHOSEN_MOST];

static void print_one(const struct haul_port_xstat *s, uint64_t *last, uint64_t ns, FILE *out)
{
	uint64_t more = s->value > *last ? s->value - *last : 0;

	fprintf(out, "  %-25s%12" PRIu64 " %15.0f\n", s->name, s->value,
		ns ? (double)more / (double)ns * 1e9 : 0);
	*last = s->value;
}

/* Those of the list, in its order. */
static void print_list(
	const struct haul_port_xstat *stats, int n, unsigned number, uint64_t ns, FILE *out)
{
	const char *name = chosen;

	fprintf(out, "\n%-31s%-17s%s\n", " ", "Value", "Rate (since last show)");
	for (unsigned c = 0; c < CHOSEN_MOST && *name; c++) {
		size_t len = strcspn(name, ",");

		for (int i = 0; i < n; i++)
			if (strlen(stats[i].name) == len && strncmp(stats[i].name, name, len) == 0)
				print_one(&stats[i], &before[number][c], ns, out);
		name += len + (name[len] == ',');
	}
}

void fwd_chosen_xstats_set(const char *names)
{
	chosen = names;
}

void fwd_chosen_xstats_print(const struct haul_port *port, unsigned number, uint64_t ns, FILE *out)
{
	struct haul_port_xstat *stats;
	int n;

	if (!chosen)
		return;
	n = haul_port_get_xstats(port, NULL, 0);
	stats = n > 0 ? calloc((size_t)n, sizeof(*stats)) : NULL;
	if (stats && haul_port_get_xstats(port, stats, (unsigned)n) == n)
		print_list(stats, n, number, ns, out);
	free(stats);
}
