/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service comes before the handler of the mode. A burst handler serves all packets of its burst
 * and then sends them together, as run-to-completion programs do; a coroutine serves one packet.
 */
#include "service.h"

#include <inttypes.h>
#include <stdlib.h>

#include <haul-dpdk/eal.h>
#include <rte_cycles.h>

#include "modes/options.h"
#include "work.h"

static struct fwd_work_plan plan;
static struct fwd_work *works; /* [nb_works], one for each carrier */
static unsigned nb_works;

static haul_burst_fn *inner_burst;
static haul_packet_fn *inner_packet;

/* The work of the carrier that runs the caller, which may be stolen. */
static struct fwd_work *work_here(void)
{
	return &works[haul_carrier_id(haul_carrier_self())];
}

static void serve_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	fwd_work_do(&works[rx->carrier], &plan, n);
	inner_burst(rx, pkts, n);
}

static void serve_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct fwd_work *w = work_here();

	if (fwd_mode_args.service_sleeps) {
		fwd_work_touch(w, &plan);
		(void)haul_sleep(fwd_work_draw_ns(w, &plan));
	} else {
		fwd_work_do(w, &plan, 1);
	}
	inner_packet(rx, pkt);
}

int fwd_service_parsed(const struct haul_app *app)
{
	const char *wrong = fwd_work_plan(&plan, fwd_mode_args.service,
		fwd_mode_args.service_memory, fwd_mode_args.service_table_mb);

	if (wrong)
		return haul_app_wrong(
			app->program, "--service %s: %s", fwd_mode_args.service, wrong);
	return HAUL_APP_DONE;
}

void fwd_service_set(struct haul_io_opts *io)
{
	if (!fwd_work_is_any(&plan))
		return;
	inner_burst = io->on_burst;
	inner_packet = io->on_packet;
	io->on_burst = inner_burst ? serve_burst : NULL;
	io->on_packet = inner_packet ? serve_packet : NULL;
}

int fwd_service_begin(struct fwd *fwd)
{
	unsigned long free_mb = haul_memory_free_mb();
	uint64_t mb = fwd_mode_args.service_table_mb * fwd->app->plan->carriers;
	bool complete = true;

	hauli_u8_owned_set(&plan.ends, false);
	if (plan.lines > 0 && mb > free_mb) {
		haul_app_say(fwd->app->program,
			"--service-table: %" PRIu64 " MB of all carriers, and %lu MB are free", mb,
			free_mb);
		return HAUL_APP_FAILED;
	}

	fwd_work_set_clock(&plan, rte_get_tsc_hz());
	nb_works = fwd->app->plan->carriers;
	works = aligned_alloc(_Alignof(struct fwd_work), nb_works * sizeof(works[0]));
	if (!works)
		abort();
	for (unsigned i = 0; i < nb_works; i++)
		complete &= fwd_work_init(&works[i], &plan, i);
	if (complete)
		return HAUL_APP_DONE;
	haul_app_say(fwd->app->program, "no memory for --service-table");
	return HAUL_APP_FAILED;
}

void fwd_service_cut(void)
{
	hauli_u8_owned_set(&plan.ends, true);
}

void fwd_service_end(void)
{
	for (unsigned i = 0; i < nb_works; i++)
		fwd_work_fini(&works[i]);
	free(works);
	works = NULL;
	nb_works = 0;
}
