/* SPDX-License-Identifier: BSD-3-Clause */
#include "service_dist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX 1e12 /* ns */

static const struct {
	const char *name;
	double ns;
} units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};

/* Parses a time up to a comma or the end. Returns what follows, or NULL. */
static const char *parse_time(uint64_t *ns, const char *text)
{
	char *end;
	double value = strtod(text, &end);
	size_t len = strcspn(end, ",");

	/* As --duration: strtod() would take signs and hexadecimal numbers. */
	if (strspn(text, "0123456789.") != (size_t)(end - text) || end == text || !(value >= 0))
		return NULL;
	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].name) != len || strncmp(units[i].name, end, len) != 0)
			continue;
		value *= units[i].ns;
		if (value < 1 || value > TIME_MAX)
			return NULL;
		*ns = (uint64_t)value;
		return end + len;
	}
	return NULL;
}

static const char *parse_bimodal(struct fwd_service_dist *dist, const char *text)
{
	char *end = (char *)text;
	double percent = 1;

	dist->kind = FWD_SERVICE_BIMODAL;
	dist->factor = 100;
	if (*text == ':') {
		percent = strtod(text + 1, &end);
		if (end == text + 1 || *end != ':')
			return "bimodal takes a percentage and a factor: bimodal:1:100";
		text = end + 1;
		dist->factor = strtod(text, &end);
		if (end == text)
			return "bimodal takes a percentage and a factor: bimodal:1:100";
	}
	if (*end)
		return "text follows the distribution";
	if (!(percent > 0 && percent < 100) || !(dist->factor >= 1 && dist->factor <= 1e6))
		return "of bimodal, the percentage is above 0 and below 100, the factor 1 to "
		       "1000000";
	dist->share = percent / 100;
	return NULL;
}

const char *fwd_service_parse(struct fwd_service_dist *dist, const char *text)
{
	*dist = (struct fwd_service_dist){.kind = FWD_SERVICE_CONSTANT};
	text = parse_time(&dist->mean_ns, text);
	if (!text)
		return "give a time from 1ns to 1000s, such as 500ns, 2.5us or 1ms";
	if (*text == '\0' || strcmp(text, ",constant") == 0)
		return NULL;
	if (strncmp(text, ",bimodal", 8) == 0 && (text[8] == '\0' || text[8] == ':'))
		return parse_bimodal(dist, text + 8);
	if (strcmp(text, ",exp") != 0)
		return "the distribution is constant, exp or bimodal[:PERCENT:FACTOR]";
	dist->kind = FWD_SERVICE_EXP;
	return NULL;
}

double fwd_service_draw(const struct fwd_service_dist *dist, uint64_t random)
{
	/* Above 0, at most 1: half a step keeps its mean at one half. */
	double uniform = ((double)(random >> 11) + 0.5) * 0x1p-53;
	double brief;

	switch (dist->kind) {
	case FWD_SERVICE_EXP:
		return -log(uniform) * (double)dist->mean_ns;
	case FWD_SERVICE_BIMODAL:
		brief = (double)dist->mean_ns / (1 + dist->share * (dist->factor - 1));
		return uniform < dist->share ? brief * dist->factor : brief;
	default:
		return (double)dist->mean_ns;
	}
}
