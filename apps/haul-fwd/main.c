/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-fwd: forwards packets between ports, as dpdk-testpmd does, on carriers. */
#include <haul-app/app.h>

#include "cores.h"
#include "forward.h"
#include "frame_options.h"
#include "generate.h"
#include "modes/options.h"
#include "ports.h"
#include "prompt.h"
#include "prompt_options.h"
#include "record.h"
#include "run.h"
#include "testpmd_args.h"
#include "testpmd_names.h"
#include "topology.h"

/* haul spreads only if pollers call no source. */
static bool may_spread(void)
{
	return !fwd_mode_has_source(fwd_run_next()) &&
		(fwd_run_next().mode != FWD_GENERATE || generate_only_receives());
}

/* What options of haul-app need in this program. */
static const struct haul_app_need needs[] = {
	{"--period", "reports, without --interactive", fwd_prompt_reports},
	{"--screen", "reports, without --interactive", fwd_prompt_reports},
	{"--spread",
		"another mode than generate with a rate, txonly in bursts, flowgen, and noisy with "
		"a flush time",
		may_spread},
	{0},
};

static const struct haul_app_program program = {
	.name = "haul-fwd",
	.options = {fwd_run_options, fwd_options, fwd_ports_options, fwd_topology_options,
		fwd_cores_options, fwd_mode_options, frame_option_table, generate_option_table,
		fwd_prompt_options},
	.aliases = fwd_testpmd_names,
	.needs = needs,
	.takes_commands = fwd_prompt_is_used,
	.tolerates = fwd_testpmd_is_meant,
	.purpose = "Forwards packets between ports, from each to its peer (0 and 1, 2 and 3, ...,\n"
		   "unless --port-topology says otherwise), with one poller per carrier.",
	.examples =
		"  haul-fwd --port null: --port null: --duration 5\n"
		"      measure the upper limit of forwarding, without a NIC\n"
		"  haul-fwd --port afpacket:eth0 --port afpacket:eth1 --handler coroutine\n"
		"      forward between two kernel interfaces, with a coroutine for each packet\n"
		"  haul-fwd --port tap:t0 --mode macswap --carriers 2\n"
		"      return to the kernel what it sends to a new interface t0\n"
		"  haul-fwd --port pcap:rx=in.pcap,tx=out.pcap --mode mac --duration 1 --json\n"
		"      copy from a file to a file, and print statistics for scripts\n"
		"  haul-fwd --port pci:0000:01:00.0 --mode txonly --size 1518 --carriers 0,2-3\n"
		"      generate traffic from carriers on CPUs 0, 2 and 3\n"
		"  haul-fwd --port afpacket:eth0 --mode generate --rate 100k --arrivals poisson\n"
		"      measure latencies and losses of packets that come back\n",
};

static struct haul_app_hooks hooks;

static int parsed(struct haul_app *app, struct haul_io_opts *io)
{
	int rc = fwd_parsed(app, io, &hooks);

	if (fwd_testpmd_is_meant())
		hooks.totals = fwd_quit_totals;
	return rc == HAUL_APP_DONE ? fwd_prompt_parsed(app) : rc;
}

static int started(struct haul_app *app)
{
	int rc = fwd_started(app);

	return rc == HAUL_APP_DONE ? fwd_prompt_started(app) : rc;
}

static void closed(struct haul_app *app)
{
	fwd_prompt_closed();
	fwd_closed();
}

int main(int argc, char **argv)
{
	hooks = (struct haul_app_hooks){
		.arg = fwd_forwarder(),
		.parsed = parsed,
		.opened = fwd_opened,
		.attached = fwd_attached,
		.started = started,
		.may_end = fwd_may_end,
		.report = fwd_report,
		.json = fwd_add_mode,
		.carrier_ends = fwd_end_mode,
		.closed = closed,
	};

	argv = fwd_testpmd_args(&argc, argv);
	return fwd_record_write(&program, haul_app_main(&program, &hooks, argc, argv));
}
