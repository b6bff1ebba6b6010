/* SPDX-License-Identifier: BSD-3-Clause */
#include "recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/port_info.h>

#include <rte_cycles.h>

#include "../mode.h"
#include "../prompt_options.h"
#include "command.h"
#include "conc/word.h"

/* The polls of a queue, by the number of packets that they found. */
struct recorded {
	struct recorded *next;
	unsigned port;
	struct haul_port_callback *callback;
	struct hauli_u64_owned polls[FWD_BURST_MAX + 1]; /* the queue's poller; [0] is not used */
	uint64_t began[FWD_BURST_MAX + 1]; /* fwd_recording_begin() */
};

static struct recorded *all; /* NULL: bursts are not recorded */
static uint64_t empty_began[HAUL_APP_PORTS_MAX];
static uint64_t work_began;

/* Called by pollers. */
static void count(struct rte_mbuf **pkts, uint16_t n, void *arg)
{
	struct recorded *r = arg;
	struct hauli_u64_owned *polls = &r->polls[RTE_MIN(n, FWD_BURST_MAX)];

	hauli_u64_owned_set(polls, hauli_u64_owned_get(polls) + 1);
}

static void forget(void)
{
	struct recorded *next;

	for (struct recorded *r = all; r; r = next) {
		next = r->next;
		haul_port_remove_callback(r->callback);
		free(r);
	}
	all = NULL;
}

static bool record(struct haul_port *port, unsigned number, unsigned queue)
{
	struct recorded *r = calloc(1, sizeof(*r));

	if (r)
		r->callback = haul_port_add_callback(port, queue, true, count, r);
	if (!r || !r->callback) {
		free(r);
		return false;
	}
	r->port = number;
	r->next = all;
	all = r;
	return true;
}

void fwd_recording_start(struct haul_app *app)
{
	forget(); /* there may be other queues now */
	if (!fwd_prompt_args.record_bursts)
		return;
	for (unsigned i = 0; i < app->nb_ports; i++)
		for (unsigned q = 0; q < haul_port_queues(app->ports[i]); q++)
			if (!record(app->ports[i], i, q)) {
				forget();
				haul_app_say(app->program, "no memory to record bursts");
				return;
			}
}

static uint64_t work_of(const struct haul_app *app)
{
	struct haul_io_share share = {0};

	if (app->io)
		haul_io_get_share(app->io, HAUL_ALL, &share);
	return share.work_ns;
}

static uint64_t empty_of(const struct haul_app *app, unsigned port)
{
	struct haul_io_stats st = {0};

	if (app->io)
		haul_io_get_stats(app->io, port, HAUL_ALL, &st);
	return st.empty_polls;
}

void fwd_recording_begin(const struct haul_app *app)
{
	work_began = work_of(app);
	for (unsigned i = 0; i < app->nb_ports; i++)
		empty_began[i] = empty_of(app, i);
	for (struct recorded *r = all; r; r = r->next)
		for (unsigned n = 1; n <= FWD_BURST_MAX; n++)
			r->began[n] = hauli_u64_owned_get(&r->polls[n]);
}

/* The sizes to be shown: 0, and the two with most polls. Returns their number. */
static unsigned choose(const uint64_t *polls, unsigned sizes[3])
{
	unsigned n = 1;

	sizes[0] = sizes[1] = sizes[2] = 0;
	for (unsigned i = 1; i <= FWD_BURST_MAX; i++) {
		if (polls[i] == 0)
			continue;
		if (n == 1 || polls[i] > polls[sizes[1]]) {
			sizes[2] = sizes[1];
			sizes[1] = i;
		} else if (n == 2 || polls[i] > polls[sizes[2]]) {
			sizes[2] = i;
		}
		n = RTE_MIN(n + 1, 3u);
	}
	return n;
}

/* testpmd's line. */
static void print_polls(FILE *out, const uint64_t *polls, uint64_t total)
{
	unsigned sizes[3], n = choose(polls, sizes), percent = 0;
	uint64_t shown = 0;

	fprintf(out, "  RX-bursts : %" PRIu64 " [", total);
	for (unsigned i = 0; i < n; i++) {
		unsigned share = (unsigned)(100 * (double)polls[sizes[i]] / (double)total);

		shown += polls[sizes[i]];
		if (shown == total) {
			fprintf(out, "%u%% of %u pkts]\n", 100 - percent, sizes[i]);
			return;
		}
		fprintf(out, "%u%% of %u pkts + ", share, sizes[i]);
		percent += share;
	}
	fprintf(out, "%u%% of other]\n", 100 - percent);
}

void fwd_recording_print_bursts(const struct haul_app *app, unsigned port, FILE *out)
{
	uint64_t polls[FWD_BURST_MAX + 1] = {0}, total = 0;

	if (!all)
		return;
	polls[0] = empty_of(app, port) - empty_began[port];
	for (const struct recorded *r = all; r; r = r->next)
		for (unsigned n = 1; r->port == port && n <= FWD_BURST_MAX; n++)
			polls[n] += hauli_u64_owned_get(&r->polls[n]) - r->began[n];
	for (unsigned n = 0; n <= FWD_BURST_MAX; n++)
		total += polls[n];
	if (total > 0)
		print_polls(out, polls, total);
}

void fwd_recording_print_cycles(
	const struct haul_app *app, const char *mode, uint64_t packets, FILE *out)
{
	const double hz = (double)rte_get_tsc_hz();
	const double cycles = (double)(work_of(app) - work_began) / 1e9 * hz;

	if (!fwd_prompt_args.record_cycles || packets == 0)
		return;
	fprintf(out,
		"\n  CPU cycles/packet=%.2f (busy cycles=%.0f / total %s packets=%" PRIu64
		") at %.0f MHz Clock\n",
		cycles / (double)packets, cycles, mode, packets, hz / 1e6);
}

/* "set record-core-cycles|record-burst-stats on|off" */
static bool set_recording(const struct fwd_call *call)
{
	bool on = strcmp(call->words[2].text, "on") == 0;

	if (strcmp(call->words[1].text, "record-core-cycles") == 0) {
		fwd_prompt_args.record_cycles = on;
		return true;
	}
	fwd_prompt_args.record_bursts = on;
	if (!haul_app_is_paused(call->app))
		fprintf(call->out, "It begins with the next start\n");
	return true;
}

const struct fwd_command fwd_commands_recording[] = {
	{"set record-core-cycles|record-burst-stats on|off", set_recording,
		"Show CPU cycles per packet, and how many packets polls found, with the "
		"statistics."},
	{0},
};
