/* SPDX-License-Identifier: BSD-3-Clause */
#include "mode.h"

#include <string.h>

#include "modes/modes.h"

static const struct fwd_mode_ops *const modes[FWD_MODES] = {
#define FWD_MODE_ROW(constant, table, name, help) [constant] = &fwd_mode_##table,
	FWD_MODE_LIST(FWD_MODE_ROW)
#undef FWD_MODE_ROW
};

void fwd_mode_set(struct haul_io_opts *io, enum fwd_mode mode, bool coroutine)
{
	const struct fwd_mode_ops *ops = modes[mode];

	io->count_bytes = ops->reads;
	io->on_packet = coroutine ? ops->packet : NULL;
	io->on_burst = coroutine ? NULL : ops->burst;
	io->source = coroutine ? NULL : ops->source;
	memcpy(io->drop_names, ops->drop_names, sizeof(io->drop_names));
}

int fwd_mode_begin(struct fwd *fwd, enum fwd_mode mode)
{
	fwd->mode = modes[mode];
	return fwd->mode->begin ? fwd->mode->begin(fwd) : HAUL_APP_DONE;
}

void fwd_mode_end(struct fwd *fwd)
{
	if (fwd->mode && fwd->mode->end)
		fwd->mode->end(fwd);
	fwd->mode = NULL;
}
