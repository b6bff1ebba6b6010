/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that set what the options of the same meaning set. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <haul/look.h>

#include "../forward.h"
#include "../modes/txonly.h"
#include "../run.h"
#include "../topology.h"
#include "command.h"

/* Sets an option; "start" makes it effective. */
static bool set_option(const struct fwd_call *call, const char *name, const char *value)
{
	return haul_app_set_option(call->app, name, value) == HAUL_APP_DONE;
}

static bool choose_mode(const struct fwd_call *call, bool retries)
{
	const char *mode = call->words[2].text;

	if (fwd_run_set(call->app, "--mode", mode) != HAUL_APP_DONE)
		return false;
	fwd_run_retry(retries);
	fprintf(call->out, "Set %s packet forwarding mode%s\n", mode, retries ? " with retry" : "");
	if (!haul_app_is_paused(call->app))
		fprintf(call->out, "It begins with the next start\n");
	return true;
}

static bool set_mode(const struct fwd_call *call)
{
	return choose_mode(call, false);
}

static bool set_mode_retry(const struct fwd_call *call)
{
	return choose_mode(call, true);
}

/* "set burst tx delay N retry N" */
static bool set_retries(const struct fwd_call *call)
{
	const uint64_t us = call->words[4].number, n = call->words[6].number;

	if (us > UINT32_MAX || n > UINT32_MAX) {
		fprintf(call->out, "At most %u\n", UINT32_MAX);
		return false;
	}
	fwd_run_set_retries((uint32_t)us, (uint32_t)n);
	return true;
}

static bool set_number(const struct fwd_call *call, const char *option, const char *what)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, call->words[2].number);
	if (!set_option(call, option, text))
		return false;
	fprintf(call->out, "%s set to %s\n", what, text);
	return true;
}

static bool set_burst(const struct fwd_call *call)
{
	char errbuf[256];

	if (call->words[2].number > FWD_BURST_MAX) {
		fprintf(call->out,
			"nb pkt per burst: %" PRIu64 " > %d (maximum packet per burst)  ignored\n",
			call->words[2].number, FWD_BURST_MAX);
		return false;
	}
	if (!set_number(call, "--burst", "Number of packets per burst"))
		return false;
	return haul_app_is_paused(call->app) ||
		fwd_result(call,
			haul_io_set_burst(call->app->io, (uint16_t)call->words[2].number,
				FWD_PATIENCE, errbuf, sizeof(errbuf)),
			errbuf);
}

/* "set txpkts 64", "set txpkts 64,128": all modes know a length, only txonly segments. */
static bool set_txpkts(const struct fwd_call *call)
{
	const char *text = call->words[2].text;
	const char *wrong = fwd_txonly_set_segments(strchr(text, ',') ? text : NULL);

	if (wrong) {
		fprintf(call->out, "%s: %s\n", text, wrong);
		return false;
	}
	if (strchr(text, ','))
		return true;
	if (!set_option(call, "--size", text))
		return false;
	fprintf(call->out, "Length of generated frames set to %s\n", text);
	return true;
}

/* "set txsplit off|on|rand" */
static bool set_txsplit(const struct fwd_call *call)
{
	fwd_txonly_set_random(strcmp(call->words[2].text, "rand") == 0);
	return true;
}

static bool set_handler(const struct fwd_call *call)
{
	return fwd_run_set(call->app, "--handler", call->words[2].text) == HAUL_APP_DONE;
}

static bool set_peer(const struct fwd_call *call)
{
	char text[2 * STR_TOKEN_SIZE + 2];

	snprintf(text, sizeof(text), "%s,%s", call->words[2].text, call->words[3].text);
	return set_option(call, "--eth-peer", text) && fwd_peers_are_right(call->app);
}

/* At once, for all ports or for none. */
static bool change_pollers(const struct fwd_call *call, const struct haul_poll_policy *policy)
{
	char errbuf[512];
	int err = haul_io_set_policy(
		call->app->io, HAUL_ALL, HAUL_ALL, policy, FWD_PATIENCE, errbuf, sizeof(errbuf));

	return fwd_result(call, err, errbuf);
}

static bool set_poller(const struct fwd_call *call)
{
	const char *text = call->words[2].text;
	struct haul_poll_policy policy;
	char errbuf[512];

	/* A kind that the ports do not have must not stay for the next start. */
	if (!haul_app_is_paused(call->app) &&
		haul_poll_parse(&policy, text, errbuf, sizeof(errbuf)) == 0 &&
		!change_pollers(call, &policy))
		return false;
	return set_option(call, "--poller", text);
}

/* As haul_io_move_queue(). */
typedef int move_fn(struct haul_io *io, unsigned port, unsigned what, unsigned carrier,
	uint64_t timeout_ns, char *errbuf, size_t errlen);

static bool move(const struct fwd_call *call, unsigned port, move_fn *move_to)
{
	const uint64_t what = call->words[3].number, carrier = call->words[5].number;
	char errbuf[512];
	int err = move_to(call->app->io, port, (unsigned)RTE_MIN(what, UINT_MAX),
		(unsigned)RTE_MIN(carrier, UINT_MAX), FWD_PATIENCE, errbuf, sizeof(errbuf));

	return fwd_result(call, err, errbuf);
}

static bool move_queue(const struct fwd_call *call, unsigned port)
{
	return move(call, port, haul_io_move_queue);
}

static bool move_bucket(const struct fwd_call *call, unsigned port)
{
	return move(call, port, haul_io_move_bucket);
}

static bool set_queue(const struct fwd_call *call)
{
	return fwd_each_port(call, call->words[2].text, move_queue);
}

static bool set_bucket(const struct fwd_call *call)
{
	return fwd_each_port(call, call->words[2].text, move_bucket);
}

static bool set_stealing(const struct fwd_call *call)
{
	char errbuf[256];
	int err = haul_app_set_stealing(
		call->app, strcmp(call->words[2].text, "on") == 0, errbuf, sizeof(errbuf));

	return fwd_result(call, err, errbuf);
}

#define WAITS_MAX 64 /* that are looked at */
#define WAITS_TOLD 4

/* "port 0 queue 1 (mutex), worker (sleeping)": who waits for what on the carrier. */
static void tell_waits(const struct haul_look *l, unsigned carrier, FILE *out)
{
	unsigned told[WAITS_TOLD], n = 0, k;

	for (unsigned i = 0; i < l->nb_waits; i++) {
		const struct haul_look_wait *w = &l->waits[i];

		if (w->carrier != carrier)
			continue;
		for (k = 0; k < n; k++)
			if (strcmp(l->waits[told[k]].name, w->name) == 0 &&
				strcmp(l->waits[told[k]].what, w->what) == 0)
				break;
		if (k < n)
			continue;
		if (n == WAITS_TOLD) {
			fputs(", ...", out);
			return;
		}
		told[n++] = i;
		fprintf(out, "%s %s (%s)", n > 1 ? "," : ":", w->name, w->what);
	}
}

static void tell_spared(const struct fwd_call *call, unsigned carrier)
{
	struct haul_look_counts *counts = calloc(haul_carriers(call->app->rt), sizeof(counts[0]));
	struct haul_look_wait *waits = calloc(WAITS_MAX, sizeof(waits[0]));
	struct haul_look l = {.carriers = counts,
		.nb_carriers = counts ? haul_carriers(call->app->rt) : 0,
		.waits = waits,
		.waits_max = waits ? WAITS_MAX : 0};

	haul_look(call->app->rt, &l);
	fprintf(call->out, "Carrier %u is spared", carrier);
	if (counts && counts[carrier].waiting > 0) {
		fprintf(call->out, "; %" PRIu64 " coroutines that wait stay there",
			counts[carrier].waiting);
		tell_waits(&l, carrier, call->out);
	}
	fputc('\n', call->out);
	free(counts);
	free(waits);
}

static bool use(const struct fwd_call *call, const char *list)
{
	char errbuf[512];
	int err = haul_app_use(call->app, list, FWD_PATIENCE, errbuf, sizeof(errbuf));

	if (!fwd_result(call, err, errbuf))
		return false;
	for (unsigned c = 0; haul_io_txq(call->app->io, 0, c); c++)
		if (!haul_io_is_used(call->app->io, c))
			tell_spared(call, c);
	return true;
}

static bool set_nbcore(const struct fwd_call *call)
{
	const uint64_t n = call->words[2].number;
	char list[32];

	if (n == 0 || n > call->app->plan->carriers) {
		fprintf(call->out,
			n ? "nb fwd cores %" PRIu64 " > %u (max. number of configured lcores) - "
			    "ignored\n"
			  : "nb fwd cores %" PRIu64 ": give 1 to %u\n",
			n, call->app->plan->carriers);
		return false;
	}
	snprintf(list, sizeof(list), "0-%" PRIu64, n - 1);
	if (!use(call, list))
		return false;
	fprintf(call->out, "Number of forwarding cores set to %" PRIu64 "\n", n);
	return true;
}

/* Adds the carrier on a CPU to a list such as "0,2". */
static bool add_carrier_on(const struct fwd_call *call, unsigned cpu, char *list, size_t size)
{
	const struct haul_plan *plan = call->app->plan;
	size_t len = strlen(list);

	for (unsigned c = 0; c < plan->carriers; c++) {
		if (plan->places[c].cpu != (int)cpu)
			continue;
		snprintf(list + len, size - len, "%s%u", len ? "," : "", c);
		return true;
	}
	fprintf(call->out,
		"lcore %u not enabled: no carrier is on CPU %u; show config cores tells where they "
		"are\n",
		cpu, cpu);
	return false;
}

/* "set corelist 2,3": by CPUs, as lcores of testpmd mostly are */
static bool set_corelist(const struct fwd_call *call)
{
	const char *at = call->words[2].text;
	char list[512] = "";
	unsigned cpu;
	int n;

	for (; sscanf(at, "%u%n", &cpu, &n) == 1; at += *at == ',') {
		at += n;
		if (!add_carrier_on(call, cpu, list, sizeof(list)))
			return false;
	}
	if (!*at)
		return use(call, list);
	fprintf(call->out, "Invalid list %s: give CPUs, such as 2,3\n", at);
	return false;
}

static bool set_coremask(const struct fwd_call *call)
{
	const char *text = call->words[2].text;
	char list[512] = "", *end;
	uint64_t mask = strtoull(text, &end, 16);

	if (*end || mask == 0) {
		fprintf(call->out, "Invalid mask %s: give a bit for each CPU, in hexadecimal\n",
			text);
		return false;
	}
	for (unsigned cpu = 0; cpu < 64; cpu++)
		if ((mask >> cpu & 1) && !add_carrier_on(call, cpu, list, sizeof(list)))
			return false;
	return use(call, list);
}

static bool set_portlist(const struct fwd_call *call)
{
	return fwd_is_stopped(call) &&
		fwd_topology_set_list(call->app, call->words[2].text, call->out);
}

static bool set_portmask(const struct fwd_call *call)
{
	return fwd_is_stopped(call) &&
		fwd_topology_set_mask(call->app, call->words[2].text, call->out);
}

static bool set_nbport(const struct fwd_call *call)
{
	return fwd_is_stopped(call) &&
		fwd_topology_set_number(call->app, call->words[2].number, call->out);
}

static bool set_carriers(const struct fwd_call *call)
{
	return use(call, call->words[2].text);
}

/* What is decided once, when carriers and queues are made. */
static bool refuse(const struct fwd_call *call)
{
	const char *word = call->words[1].text;

	fprintf(call->out, "%s is decided at the start: see the options --%s\n", word, word);
	return false;
}

const struct fwd_command fwd_commands_set[] = {
	{"set fwd MODE", set_mode,
		"Choose what happens to packets (--mode), from the next start on."},
	{"set fwd MODE retry", set_mode_retry,
		"The same; bursts for which a port has no room are tried again."},
	{"set burst N", set_burst, "Packets per poll (--burst), at once."},
	{"set burst tx delay N retry N", set_retries,
		"How long retry waits in between (us), and how often; from the next start on."},
	{"set txpkts SIZES", set_txpkts,
		"Length of generated frames (--size), or of the segments of those of txonly, such "
		"as "
		"64,128; from the next start on."},
	{"set txsplit off|on|rand", set_txsplit,
		"rand: give frames of txonly some of their segments; from the next start on."},
	{"set handler burst|coroutine", set_handler,
		"What handles packets (--handler), from the next start on."},
	{"set eth-peer PORT MAC", set_peer,
		"Destination of frames that a port sends (--eth-peer), from the next start on."},
	{"set poller KIND", set_poller,
		"What pollers do while there are no packets (--poller), at once."},
	{"set queue PORT N carrier N", set_queue,
		"Let another carrier poll a receive queue, at once, also while packets come."},
	{"set stealing on|off", set_stealing,
		"Let carriers steal, or not, if --steal lets them; at once."},
	{"set bucket PORT N carrier N", set_bucket,
		"Let another carrier handle a bucket of flows (show buckets), at once."},
	{"set nbcore N", set_nbcore,
		"Let the first N carriers handle all packets, and the others wait, at once."},
	{"set corelist CPUS", set_corelist,
		"Let the carriers on these CPUs handle all packets, and the others wait, at once."},
	{"set coremask MASK", set_coremask, "The same, by a mask of CPUs in hexadecimal."},
	{"set portlist PORTS", set_portlist,
		"Let these ports forward (--portlist), from the next start on; after stop."},
	{"set portmask MASK", set_portmask, "The same, by a mask of ports in hexadecimal."},
	{"set nbport N", set_nbport, "Let the first N of them forward."},
	{"set carriers LIST", set_carriers,
		"Let these carriers handle all packets, and the others wait, at once."},
	{"set steal|order|spread WORD", refuse, "Not while the program runs."},
	{0},
};
