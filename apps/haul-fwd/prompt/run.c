/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that start, stop and end. */
#include <string.h>

#include "../forward.h"
#include "command.h"
#include "ports.h"
#include "recording.h"
#include "statistics.h"
#include "verbose.h"

static bool start(const struct fwd_call *call, uint64_t tx_first)
{
	if (!haul_app_is_paused(call->app)) {
		fprintf(call->out, "Packet forwarding already started\n");
		return false;
	}
	if (!fwd_ports_are_started(call->app, call->out))
		return false;
	fwd_recording_start(call->app);
	fwd_statistics_begin(call->app);
	if (fwd_start(call->app, tx_first) != HAUL_APP_DONE)
		return false;
	fwd_print_forwarding(call);
	fwd_print_rxtx(call);
	return true;
}

static bool run_start(const struct fwd_call *call)
{
	return start(call, 0);
}

static bool run_tx_first(const struct fwd_call *call)
{
	return start(call, 1);
}

static bool run_tx_first_n(const struct fwd_call *call)
{
	if (call->words[2].number > FWD_TX_FIRST_MAX) {
		fprintf(call->out, "At most %u bursts\n", FWD_TX_FIRST_MAX);
		return false;
	}
	return start(call, call->words[2].number);
}

static bool run_stop(const struct fwd_call *call)
{
	if (haul_app_is_paused(call->app)) {
		fprintf(call->out, "Packet forwarding not started\n");
		return false;
	}
	fprintf(call->out, "Telling cores to stop...\nWaiting for lcores to finish...\n");
	if (fwd_stop(call->app) != HAUL_APP_DONE)
		return false;
	fwd_verbose_print();
	fwd_statistics_print(call);
	fprintf(call->out, "\nDone.\n");
	return true;
}

static bool run_quit(const struct fwd_call *call)
{
	haul_app_end(call->app);
	return true;
}

const struct fwd_command fwd_commands_run[] = {
	{"start", run_start, "Start to forward, with what was set."},
	{"start tx_first", run_tx_first,
		"The same; each carrier first sends a burst on each port."},
	{"start tx_first N", run_tx_first_n, "The same with N bursts."},
	{"stop", run_stop, "Stop to forward, and show the statistics since start."},
	{"quit", run_quit, "End the program."},
	{0},
};
