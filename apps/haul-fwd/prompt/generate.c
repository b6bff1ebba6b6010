/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of a generator, which can run again and again with other loads; and figures as JSON, for
 * programs at the other end of --control. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <haul-dpdk/file.h>

#include "../forward.h"
#include "../generate.h"
#include "../run.h"
#include "command.h"

/* True if the generator can be changed, for its next run. */
static bool is_stopped(const struct fwd_call *call)
{
	const bool is_generator = fwd_run_at_start().mode == FWD_GENERATE;

	if (!is_generator)
		fprintf(call->out, "Only --mode generate has it\n");
	else if (!haul_app_is_paused(call->app))
		fprintf(call->out, "Please stop packet forwarding first\n");
	return is_generator && haul_app_is_paused(call->app);
}

static bool set_rate(const struct fwd_call *call)
{
	struct arrivals_plan plan = generate.next.plan;
	char errbuf[256];

	if (!is_stopped(call))
		return false;
	if (!generate.sends || generate.next.closed_loop > 0) {
		fprintf(call->out, "The program was started without a --rate to send at\n");
		return false;
	}
	if (arrivals_parse_rate(&plan, call->words[2].text, errbuf, sizeof(errbuf)) != 0) {
		fprintf(call->out, "%s\n", errbuf);
		return false;
	}
	generate.next.plan = plan;
	generate.stays = true;
	return true;
}

static bool set_arrivals(const struct fwd_call *call)
{
	struct arrivals_plan plan = generate.next.plan;
	char errbuf[256];

	if (!is_stopped(call))
		return false;
	if (arrivals_parse_kind(&plan, call->words[2].text, errbuf, sizeof(errbuf)) != 0) {
		fprintf(call->out, "%s\n", errbuf);
		return false;
	}
	generate.next.plan = plan;
	return true;
}

static bool set_seed(const struct fwd_call *call)
{
	if (!is_stopped(call))
		return false;
	generate.next.plan.seed = call->words[2].number;
	return true;
}

static bool set_samples(const struct fwd_call *call)
{
	if (!is_stopped(call))
		return false;
	if (call->words[2].number > SAMPLES_MAX) {
		fprintf(call->out, "At most %" PRIu64 "\n", SAMPLES_MAX);
		return false;
	}
	generate.next.samples = call->words[2].number;
	return true;
}

static bool save_samples(const struct fwd_call *call)
{
	const char *path = call->words[2].text;
	bool written;
	char why[128];
	FILE *out;
	int fd;

	if (!is_stopped(call))
		return false;
	fd = haul_file_create(path, 0666, why, sizeof(why));
	if (fd < 0) {
		fprintf(call->out, "%s: %s\n", path, why);
		return false;
	}
	out = ftruncate(fd, 0) == 0 || errno == EINVAL ? fdopen(fd, "w") : NULL;
	if (out)
		fprintf(out, "intended_ns,latency_ns\n");
	for (unsigned i = 0; out && i < generate.nb_carriers; i++)
		if (generate.carriers[i].samples)
			samples_print(generate.carriers[i].samples, generate.start, out);
	written = out && !ferror(out);
	if (out && fclose(out) != 0)
		written = false;
	if (!written)
		fprintf(call->out, "%s: %s\n", path, strerror(errno));
	return written;
}

static bool show_json(const struct fwd_call *call)
{
	fwd_print_json(call->app, call->out);
	return true;
}

const struct fwd_command fwd_commands_generate[] = {
	{"set rate PPS", set_rate, "Packets per second of a generator (--rate), after stop."},
	{"set arrivals KIND", set_arrivals, "Gaps of a generator (--arrivals), after stop."},
	{"set seed N", set_seed, "Random numbers of a generator (--seed), after stop."},
	{"set samples N", set_samples,
		"Keep the latencies of the first N packets of each carrier, after stop."},
	{"save samples FILE", save_samples,
		"Write them: intended time since the start and latency, in ns, after stop."},
	{"show json", show_json, "Show all figures so far, as --json does at the end."},
	{0},
};
