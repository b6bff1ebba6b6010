/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service comes before the handler of the mode. A burst handler serves all packets of its burst
 * and then sends them together, as run-to-completion programs do; a coroutine serves one packet.
 *
 * Computing ends at a TSC deadline. A deadline is met late by a part of a turn of the loop; the
 * next one is earlier by as much, so that the mean stays what was asked for.
 */
#include "service.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_random.h>

#include "modes/options.h"
#include "service_dist.h"

#define LINE 64
#define LATE_MAX_US 2 /* later than that: the thread had lost its CPU */

/* Of a carrier, which alone writes it. */
struct service {
	_Alignas(LINE) uint64_t late; /* ticks that the last deadline was met late */
	uint8_t *table;
};

static struct fwd_service_dist dist;
static bool computes; /* there is a time */
static uint64_t lines; /* of memory, for each packet */
static uint64_t table_lines;
static double ticks_per_ns;
static uint64_t late_max;
static struct service *services;
static unsigned nb_services;

static haul_burst_fn *inner_burst;
static haul_packet_fn *inner_packet;

static uint64_t draw_ticks(void)
{
	return (uint64_t)llrint(fwd_service_draw(&dist, rte_rand()) * ticks_per_ns);
}

/* Ends when the TSC has reached start + ticks, less what the last one was late. */
static void compute(struct service *s, uint64_t start, uint64_t ticks)
{
	uint64_t deadline = start + ticks - RTE_MIN(s->late, ticks);
	uint64_t now;

	do
		now = rte_rdtsc();
	while ((int64_t)(now - deadline) < 0);
	s->late = now - deadline;
	if (s->late > late_max)
		s->late = 0;
}

static void touch(struct service *s)
{
	for (uint64_t i = 0; i < lines; i++) {
		uint64_t *at = (void *)(s->table + LINE * (rte_rand() % table_lines));

		++*at;
	}
}

/* The state of the carrier that runs the caller: it may be stolen. */
static struct service *service_here(void)
{
	return &services[haul_carrier_id(haul_carrier_self())];
}

static void serve_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	struct service *s = &services[rx->carrier];
	uint64_t start = rte_rdtsc(), ticks = 0;

	for (uint16_t i = 0; i < n; i++) {
		touch(s);
		if (computes)
			ticks += draw_ticks();
	}
	if (computes)
		compute(s, start, ticks);
	inner_burst(rx, pkts, n);
}

static void serve_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	uint64_t start = rte_rdtsc();

	touch(service_here());
	if (computes && fwd_mode_args.service_sleeps)
		(void)haul_sleep((uint64_t)fwd_service_draw(&dist, rte_rand()));
	else if (computes)
		compute(service_here(), start, draw_ticks());
	inner_packet(rx, pkt);
}

int fwd_service_parsed(const struct haul_app *app, bool coroutine)
{
	const char *wrong = NULL;

	computes = fwd_mode_args.service != NULL;
	if (computes)
		wrong = fwd_service_parse(&dist, fwd_mode_args.service);
	if (wrong)
		return haul_app_wrong(
			app->program, "--service %s: %s", fwd_mode_args.service, wrong);
	if (fwd_mode_args.service_sleeps && !computes)
		return haul_app_wrong(app->program, "--service-sleep needs --service TIME");
	if (fwd_mode_args.service_sleeps && !coroutine)
		return haul_app_wrong(app->program, "--service-sleep needs --handler coroutine");
	lines = (fwd_mode_args.service_memory + LINE - 1) / LINE;
	table_lines = (fwd_mode_args.service_table_mb << 20) / LINE;
	return HAUL_APP_DONE;
}

void fwd_service_set(struct haul_io_opts *io)
{
	if (!computes && lines == 0)
		return;
	inner_burst = io->on_burst;
	inner_packet = io->on_packet;
	io->on_burst = inner_burst ? serve_burst : NULL;
	io->on_packet = inner_packet ? serve_packet : NULL;
}

static bool make_table(struct service *s)
{
	size_t size = table_lines * LINE;

	s->table = aligned_alloc(LINE, size);
	if (s->table)
		memset(s->table, 1, size); /* so that each page is a page of its own */
	return s->table;
}

int fwd_service_begin(struct fwd *fwd)
{
	bool complete = true;

	ticks_per_ns = (double)rte_get_tsc_hz() / 1e9;
	late_max = rte_get_tsc_hz() / 1000000 * LATE_MAX_US;
	nb_services = fwd->app->plan->carriers;
	services = aligned_alloc(LINE, nb_services * sizeof(services[0]));
	if (!services)
		abort();
	memset(services, 0, nb_services * sizeof(services[0]));
	for (unsigned i = 0; lines > 0 && complete && i < nb_services; i++)
		complete = make_table(&services[i]);
	if (complete)
		return HAUL_APP_DONE;
	haul_app_say(fwd->app->program, "no memory for --service-table");
	return HAUL_APP_FAILED;
}

void fwd_service_end(void)
{
	for (unsigned i = 0; i < nb_services; i++)
		free(services[i].table);
	free(services);
	services = NULL;
	nb_services = 0;
}
