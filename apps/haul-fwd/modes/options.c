/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include "../prompt_options.h"
#include "../run.h"

struct fwd_mode_args fwd_mode_args = {.flowgen_flows = 1024, .service_table_mb = 32};

/* False for txonly with a burst handler: there only coroutines receive, and drop. */
static bool receives(void)
{
	return fwd_prompt_is_used() || fwd_run_next().coroutine || !fwd_may_run(FWD_TXONLY);
}

static bool sleeps(void)
{
	return fwd_mode_args.service && (fwd_run_next().coroutine || fwd_prompt_is_used());
}

static bool has_table(void)
{
	return fwd_mode_args.service_memory > 0;
}

static bool may_csum(void)
{
	return fwd_may_run(FWD_CSUM);
}

static bool may_l3fwd(void)
{
	return fwd_may_run(FWD_L3FWD);
}

static bool may_noisy(void)
{
	return fwd_may_run(FWD_NOISY);
}

static bool noisy_holds(void)
{
	return may_noisy() && fwd_mode_args.noisy_buffer > 0;
}

static bool noisy_accesses(void)
{
	const struct fwd_mode_args *a = &fwd_mode_args;

	return may_noisy() && a->noisy_reads + a->noisy_writes + a->noisy_reads_writes > 0;
}

static bool may_flowgen(void)
{
	return fwd_may_run(FWD_FLOWGEN);
}

static bool may_txonly(void)
{
	return fwd_may_run(FWD_TXONLY);
}

#define ARGS (&fwd_mode_args)
#define RECEIVES .needs = "a mode that receives", .has_effect = receives
#define NOISY .needs = "--mode noisy", .has_effect = may_noisy
#define FLOWGEN .needs = "--mode flowgen", .has_effect = may_flowgen
#define TXONLY .needs = "--mode txonly", .has_effect = may_txonly
const struct haul_app_option fwd_mode_options[] = {
	{"--service", "TIME[,DISTRIBUTION]", HAUL_APP_TEXT, &ARGS->service, .zero = "none",
		.help = "keep the CPU busy for TIME with each received packet, as an application "
			"would; DISTRIBUTION, with mean TIME: constant, exp (exponential), or "
			"bimodal[:PERCENT:FACTOR]: PERCENT of the packets (1) take FACTOR (100) "
			"times as long as the others",
		RECEIVES},
	{"--service-sleep", NULL, HAUL_APP_FLAG, &ARGS->service_sleeps,
		.help = "sleep for the time of --service instead",
		.needs = "--service TIME and --handler coroutine", .has_effect = sleeps},
	{"--service-memory", "BYTES", HAUL_APP_NUMBER, &ARGS->service_memory, 0, 1 << 30, "0",
		"read and write so much memory with each received packet, in cache lines at "
		"random places",
		RECEIVES},
	{"--service-table", "MIB", HAUL_APP_NUMBER, &ARGS->service_table_mb, 1, 1 << 16, NULL,
		"memory of each carrier for --service-memory", .needs = "--service-memory BYTES",
		.has_effect = has_table},
	{"--record-load", "FILE", HAUL_APP_TEXT, &ARGS->record_load,
		.help = "record the load that is received, for haul-compare --load FILE: packets "
			"over time, bursts, lengths, flows"},
	{"--csum-keep-macs", NULL, HAUL_APP_FLAG, &ARGS->csum_keep_macs,
		.help = "leave the MAC addresses", .needs = "--mode csum", .has_effect = may_csum},
	{"--routes", "FILE", HAUL_APP_TEXT, &ARGS->routes,
		.help = "routes, a line for each: PREFIX/LENGTH PORT [NEXT-HOP-MAC]; "
			"# begins a comment",
		.needs = "--mode l3fwd", .has_effect = may_l3fwd},
	{"--noisy-tx-sw-buffer-size", "N", HAUL_APP_NUMBER, &ARGS->noisy_buffer, 0, 1 << 24, "none",
		"packets that each carrier and port holds back", NOISY},
	{"--noisy-tx-sw-buffer-flushtime", "MS", HAUL_APP_NUMBER, &ARGS->noisy_flush_ms, 0,
		86400000, "never",
		"time in milliseconds after which the packets held back are sent",
		.needs = "--noisy-tx-sw-buffer-size N", .has_effect = noisy_holds},
	{"--noisy-lkup-memory", "MIB", HAUL_APP_NUMBER, &ARGS->noisy_memory_mb, 0, 1 << 20, "none",
		"memory of each carrier to read and write",
		.needs = "--mode noisy with a number of reads or writes",
		.has_effect = noisy_accesses},
	{"--noisy-lkup-num-reads", "N", HAUL_APP_NUMBER, &ARGS->noisy_reads, 0, 1 << 20, "0",
		"random reads with each packet", NOISY},
	{"--noisy-lkup-num-writes", "N", HAUL_APP_NUMBER, &ARGS->noisy_writes, 0, 1 << 20, "0",
		"random writes with each packet", NOISY},
	{"--noisy-lkup-num-reads-writes", "N", HAUL_APP_NUMBER, &ARGS->noisy_reads_writes, 0,
		1 << 20, "0", "random reads, and as many random writes, with each packet", NOISY},
	{"--flowgen-flows", "N", HAUL_APP_NUMBER, &ARGS->flowgen_flows, 1, INT32_MAX, NULL,
		"number of destination addresses, from 10.253.0.0 on, used in turn", FLOWGEN},
	{"--flowgen-clones", "N", HAUL_APP_NUMBER, &ARGS->flowgen_clones, 0, 511, "0",
		"send each frame N more times from the same buffer", FLOWGEN},
	{"--txpkts", "BYTES[,BYTES]...", HAUL_APP_TEXT, &ARGS->txpkts,
		.help = "lengths of the segments of each frame, in place of --size", TXONLY},
	{"--txonly-multi-flow", NULL, HAUL_APP_FLAG, &ARGS->multi_flow,
		.help = "vary the source address, too", TXONLY},
	{0},
};
