/* SPDX-License-Identifier: BSD-3-Clause */
#include "cores.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU_MAX 65535

static uint64_t nb_cores;
static const char *lcores;

const struct haul_app_option fwd_cores_options[] = {
	{"--nb-cores", "N", HAUL_APP_NUMBER, &nb_cores, 1, HAUL_CARRIERS_MAX, "all",
		"number of carriers, as --carriers N; with --lcores: at most so many"},
	{"-l, --lcores", "CPUS", HAUL_APP_TEXT, &lcores, .zero = "not given",
		.help = "CPUs as testpmd's EAL takes them, such as 0-2, or a map from lcores such "
			"as 0@3,1@1: the first lcore is for the main thread, each other one gets "
			"a carrier"},
	{0},
};

/* An lcore, and the CPU that it runs on. */
struct lcore {
	unsigned long id, cpu;
};
struct map {
	struct lcore lcores[HAUL_CARRIERS_MAX + 1];
	unsigned n;
};

static bool parse_number(unsigned long *to, const char **text)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	*to = strtoul(*text, &end, 10);
	*text = end;
	return *to <= CPU_MAX;
}

/* Parses "ID", "FIRST-LAST" or "ID@CPU", and moves *text behind it. */
static bool parse_item(struct map *map, const char **text)
{
	unsigned long first, last, cpu;
	bool at;

	if (!parse_number(&first, text))
		return false;
	last = cpu = first;
	at = **text == '@';
	if (at || **text == '-') {
		(*text)++;
		if (!parse_number(at ? &cpu : &last, text) || last < first)
			return false;
	}
	for (unsigned long id = first; id <= last; id++) {
		if (map->n > HAUL_CARRIERS_MAX)
			return false;
		map->lcores[map->n++] = (struct lcore){id, at ? cpu : id};
	}
	return true;
}

static bool parse_map(struct map *map, const char *text)
{
	for (;;) {
		if (!parse_item(map, &text))
			return false;
		if (*text == '\0')
			return true;
		if (*text++ != ',')
			return false;
	}
}

static int by_id(const void *a, const void *b)
{
	const struct lcore *left = a, *right = b;

	return (left->id > right->id) - (left->id < right->id);
}

/* Fills list with the CPUs of the map as --carriers takes them. The lowest lcore is testpmd's main
 * lcore, which forwards nothing; haul's main thread needs no CPU of its own. */
static void fill_carriers(char *list, size_t size, struct map *map)
{
	unsigned first, n;
	size_t len = 0;

	qsort(map->lcores, map->n, sizeof(map->lcores[0]), by_id);
	first = map->n > 1 ? 1 : 0;
	n = map->n - first;
	if (nb_cores && nb_cores < n)
		n = (unsigned)nb_cores;
	for (unsigned i = first; i < first + n; i++)
		len += (size_t)snprintf(list + len, size - len, "%s%lu-%lu", i > first ? "," : "",
			map->lcores[i].cpu, map->lcores[i].cpu);
}

static int place(const struct haul_app *app, const char *option, const char *carriers)
{
	if (haul_app_place(option, carriers))
		return HAUL_APP_DONE;
	return haul_app_wrong(
		app->program, "%s and --carriers both choose the carriers; give one", option);
}

static int place_by_map(const struct haul_app *app)
{
	struct map map = {.n = 0};
	static char carriers[HAUL_CARRIERS_MAX * sizeof("65535-65535,")];

	if (!parse_map(&map, lcores))
		return haul_app_wrong(app->program,
			"--lcores %s: give CPUs such as 0-2,4, or lcores such as 0@3,1@1; a "
			"carrier has one CPU, so there are no groups",
			lcores);
	if (nb_cores && nb_cores >= map.n && map.n > 1)
		return haul_app_wrong(app->program,
			"--nb-cores %lu: --lcores %s has %u CPUs besides that of the main thread",
			(unsigned long)nb_cores, lcores, map.n - 1);
	fill_carriers(carriers, sizeof(carriers), &map);
	return place(app, "--lcores", carriers);
}

int fwd_cores_parsed(const struct haul_app *app)
{
	static char number[24];

	if (lcores)
		return place_by_map(app);
	if (!nb_cores)
		return HAUL_APP_DONE;
	snprintf(number, sizeof(number), "%lu", (unsigned long)nb_cores);
	return place(app, "--nb-cores", number);
}
