/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of mode generate. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <haul-app/file.h>

#include "generate.h"
#include "prompt_options.h"
#include "run.h"

#define RATES_MAX (1u << 20) /* bytes of a file of rates */

static const char *rate;
static const char *arrivals = "constant";
static const char *sizes;
static const char *replay;
static const char *speed;
static uint64_t seed = 1;
static uint64_t loops;
static uint64_t closed_loop;
static uint64_t drain = 200 * HAUL_MS;

static bool generates(void)
{
	return fwd_may_run(FWD_GENERATE);
}

bool generate_has_flows(void)
{
	return generates() && !replay;
}

bool generate_only_receives(void)
{
	return rate && strcmp(rate, "0") == 0 && !replay && closed_loop == 0;
}

static bool has_rate(void)
{
	return generates() && closed_loop == 0 && (rate || !replay || fwd_prompt_is_used());
}

static bool replays(void)
{
	return replay;
}

#define GENERATES .needs = "--mode generate", .has_effect = generates
#define REPLAYS .needs = "--replay FILE", .has_effect = replays
const struct haul_app_option generate_option_table[] = {
	{"--rate", "PPS", HAUL_APP_TEXT, &rate,
		.help = "packets per second of all ports together: 50k, 1.5M, max;\n"
			"ramps 1k-1M/10s; several with commas, 100k/5s,200k/5s;\n"
			"@FILE: several, each in a line of a file; 0: only receive",
		GENERATES},
	{"--arrivals", "KIND", HAUL_APP_TEXT, &arrivals,
		.help = "gaps between packets: constant, poisson, or burst[:N]\n"
			"for N packets at once",
		.needs = "--mode generate with a rate", .has_effect = has_rate},
	{"--sizes", "LIST", HAUL_APP_TEXT, &sizes,
		.help = "lengths of frames, without FCS: 64,512 in turn, 64-1514 at\n"
			"random, or imix; default: the shortest",
		.needs = "--mode generate without --replay", .has_effect = generate_has_flows},
	{"--seed", "N", HAUL_APP_NUMBER, &seed, 0, UINT64_MAX, NULL, "of random gaps and lengths",
		GENERATES},
	{"--closed-loop", "N", HAUL_APP_NUMBER, &closed_loop, 0, 1 << 20, "none",
		"instead of a rate, keep N packets on the way, which hides the\n"
		"time that packets would have waited",
		GENERATES},
	{"--replay", "FILE", HAUL_APP_TEXT, &replay,
		.help = "send the frames of a capture file, at their times or, with\n"
			"--rate, at that rate",
		GENERATES},
	{"--replay-speed", "X", HAUL_APP_TEXT, &speed,
		.help = "factor on the times of --replay; default 1", REPLAYS},
	{"--loops", "N", HAUL_APP_NUMBER, &loops, 0, UINT64_MAX, "no end",
		"send the file N times, then end", REPLAYS},
	{"--drain", "TIME", HAUL_APP_TIME, &drain, 0, 60 * HAUL_S, NULL,
		"at the end wait for packets on the way", GENERATES},
	{0},
};

bool generate_options_send(const struct generate_options *o)
{
	return o->plan.as_fast_as_possible || o->plan.nb_phases > 0 || o->closed_loop > 0 ||
		o->speed > 0;
}

static int read_rates(struct arrivals_plan *plan, const char *path, char *errbuf, size_t errlen)
{
	struct haul_app_input in;
	char what[256];
	int parsed = 0, err = haul_app_input_open(&in, path, RATES_MAX, what, sizeof(what));

	if (!err) {
		parsed = arrivals_read_rates(plan, in.file, path, errbuf, errlen);
		err = haul_app_input_close(&in, what, sizeof(what));
	}
	if (err)
		snprintf(errbuf, errlen, "--rate @%s: %s", path, what);
	return err ? err : parsed;
}

static int parse_rates(struct arrivals_plan *plan, char *errbuf, size_t errlen)
{
	if (rate && rate[0] == '@')
		return read_rates(plan, rate + 1, errbuf, errlen);
	return arrivals_parse_rate(plan, rate ? rate : "1k", errbuf, errlen);
}

static int parse_rate(struct generate_options *o, const struct haul_app_program *program)
{
	char errbuf[512];

	if (closed_loop > 0 && rate)
		return haul_app_wrong(program, "--closed-loop: packets have no --rate in it");
	if (arrivals_parse_kind(&o->plan, arrivals, errbuf, sizeof(errbuf)) != 0)
		return haul_app_wrong(program, "%s", errbuf);
	if (closed_loop == 0 && !(replay && !rate) &&
		parse_rates(&o->plan, errbuf, sizeof(errbuf)) != 0)
		return haul_app_wrong(program, "%s", errbuf);
	return HAUL_APP_DONE;
}

static int parse_replay(struct generate_options *o, const struct haul_app_program *program)
{
	char errbuf[512];
	char *end;

	if (!replay)
		return HAUL_APP_DONE;
	if (speed && rate)
		return haul_app_wrong(program, "--replay-speed: --rate gives the times already");
	if (closed_loop > 0)
		return haul_app_wrong(program,
			"--closed-loop: frames of --replay have no stamp "
			"by which they are known when they return");
	if (!rate) {
		o->speed = speed ? strtod(speed, &end) : 1;
		if (speed && (*end || !isfinite(o->speed) || o->speed < 1e-6 || o->speed > 1e6))
			return haul_app_wrong(program,
				"--replay-speed %s: give a factor such as 0.5 or 10", speed);
	}
	if (replay_read(&o->replay, replay, FRAME_MAX, errbuf, sizeof(errbuf)) != 0)
		return haul_app_wrong(program, "%s", errbuf);
	return HAUL_APP_DONE;
}

int generate_options_parse(struct generate_options *o, const struct haul_app_program *program,
	unsigned nb_ports, uint64_t flows)
{
	char errbuf[512];
	int rc;

	o->plan.seed = seed;
	o->loops = loops;
	o->closed_loop = closed_loop;
	o->drain = drain;
	o->flows = (unsigned)flows;
	if (flows * nb_ports > RECEIVER_FLOWS_MAX)
		return haul_app_wrong(program,
			"--flows %lu: %u ports have more than %u flows together; give fewer",
			(unsigned long)flows, nb_ports, RECEIVER_FLOWS_MAX);
	rc = frame_options_parse(&o->frame, program, flows);
	if (rc == HAUL_APP_DONE)
		rc = parse_rate(o, program);
	if (rc == HAUL_APP_DONE &&
		sizes_parse(&o->sizes, sizes, packet_size_min(&o->frame), FRAME_MAX, errbuf,
			sizeof(errbuf)) != 0)
		rc = haul_app_wrong(program, "%s", errbuf);
	return rc == HAUL_APP_DONE ? parse_replay(o, program) : rc;
}
