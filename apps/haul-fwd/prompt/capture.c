/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that capture frames to a file. */
#include <inttypes.h>

#include "command.h"

static bool start(const struct fwd_call *call)
{
	const char *file = call->words[2].text;
	char errbuf[512];
	int err = haul_app_capture_start(call->app, file, errbuf, sizeof(errbuf));

	if (!fwd_result(call, err, errbuf))
		return false;
	fprintf(call->out, "Capturing to %s\n", file);
	return true;
}

static bool stop(const struct fwd_call *call)
{
	struct haul_capture_stats st;
	char errbuf[512];
	int err = haul_app_capture_stop(call->app, &st, errbuf, sizeof(errbuf));

	if (!fwd_result(call, err, errbuf))
		return false;
	fprintf(call->out,
		"Captured %" PRIu64 " frames, dropped %" PRIu64 ", %" PRIu64 " bytes in %" PRIu64
		" file%s\n",
		st.captured, st.dropped, st.bytes, st.files, st.files == 1 ? "" : "s");
	return true;
}

const struct fwd_command fwd_commands_capture[] = {
	{"capture start FILE", start,
		"Write frames to FILE from now on, as the options --capture-... say."},
	{"capture stop", stop, "End that, or what --capture has begun."},
	{0},
};
