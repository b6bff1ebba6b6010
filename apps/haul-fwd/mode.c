/* SPDX-License-Identifier: BSD-3-Clause */
#include "mode.h"

#include <string.h>

#include "modes/modes.h"
#include "service.h"
#include "vlan.h"

static const struct fwd_mode_ops *const modes[FWD_MODES] = {
#define FWD_MODE_ROW(constant, table, name, help) [constant] = &fwd_mode_##table,
	FWD_MODE_LIST(FWD_MODE_ROW)
#undef FWD_MODE_ROW
};

int fwd_modes_parsed(struct haul_app *app, struct haul_app_hooks *hooks, struct fwd_run run)
{
	int rc = fwd_service_parsed(app);

	for (unsigned i = 0; i < FWD_MODES && rc == HAUL_APP_DONE; i++)
		if (modes[i]->parsed)
			rc = modes[i]->parsed(app, hooks, i == run.mode);
	return rc;
}

void fwd_modes_closed(void)
{
	for (unsigned i = 0; i < FWD_MODES; i++)
		if (modes[i]->closed)
			modes[i]->closed();
}

static haul_source_fn *source_of(struct fwd_run run)
{
	const struct fwd_mode_ops *ops = modes[run.mode];

	if (ops->sends && !ops->sends())
		return NULL;
	return run.coroutine ? ops->packet_source : ops->source;
}

bool fwd_mode_has_source(struct fwd_run run)
{
	return source_of(run);
}

static bool counts_bytes(struct fwd_run run)
{
	if (run.count_bytes == FWD_COUNT_BYTES_AUTO)
		return modes[run.mode]->reads;
	return run.count_bytes == FWD_COUNT_BYTES_ON;
}

void fwd_mode_set(struct haul_io_opts *io, struct fwd_run run)
{
	const struct fwd_mode_ops *ops = modes[run.mode];

	io->count_bytes = counts_bytes(run);
	io->on_packet = run.coroutine ? ops->packet : NULL;
	io->on_burst = run.coroutine ? NULL : ops->burst;
	io->source = source_of(run);
	io->tx_retries = run.retries;
	io->tx_retry_ns = run.retry_us * HAUL_US;
	memcpy(io->drop_names, ops->drop_names, sizeof(io->drop_names));
	fwd_service_set(io);
	fwd_vlan_wrap(io);
}

int fwd_mode_begin(struct fwd *fwd, struct fwd_run run)
{
	int rc = fwd_service_begin(fwd);

	memset(fwd->carriers, 0, fwd->app->plan->carriers * sizeof(fwd->carriers[0]));
	fwd->run = run;
	fwd->mode = modes[run.mode];
	if (rc == HAUL_APP_DONE && fwd->mode->begin)
		rc = fwd->mode->begin(fwd);
	fwd->has_begun = rc == HAUL_APP_DONE;
	return rc;
}

void fwd_mode_end(struct fwd *fwd)
{
	if (!fwd->mode)
		return;
	if (fwd->mode->end)
		fwd->mode->end(fwd);
	fwd_service_end();
	fwd->mode = NULL;
}
