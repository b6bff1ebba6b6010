/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

struct fwd_mode_args fwd_mode_args = {.flowgen_flows = 1024, .service_table_mb = 32};

#define ARGS (&fwd_mode_args)
const struct haul_app_option fwd_mode_options[] = {
	{"--service", "TIME[,DISTRIBUTION]", HAUL_APP_TEXT, &ARGS->service, .zero = "none",
		.help = "keep the CPU busy for TIME with each received packet, as an application "
			"would; DISTRIBUTION, with mean TIME: constant, exp (exponential), or "
			"bimodal[:PERCENT:FACTOR]: PERCENT of the packets (1) take FACTOR (100) "
			"times as long as the others"},
	{"--service-sleep", NULL, HAUL_APP_FLAG, &ARGS->service_sleeps,
		.help = "with --handler coroutine: sleep for the time of --service instead"},
	{"--service-memory", "BYTES", HAUL_APP_NUMBER, &ARGS->service_memory, 0, 1 << 30, "0",
		"read and write so much memory with each received packet, in cache lines at "
		"random places"},
	{"--service-table", "MIB", HAUL_APP_NUMBER, &ARGS->service_table_mb, 1, 1 << 16, NULL,
		"memory of each carrier for --service-memory"},
	{"--record-load", "FILE", HAUL_APP_TEXT, &ARGS->record_load,
		.help = "record the load that is received, for haul-compare --load FILE: packets "
			"over time, bursts, lengths, flows"},
	{"--csum-keep-macs", NULL, HAUL_APP_FLAG, &ARGS->csum_keep_macs,
		.help = "mode csum: leave the MAC addresses"},
	{"--routes", "FILE", HAUL_APP_TEXT, &ARGS->routes,
		.help = "mode l3fwd: routes, a line for each: PREFIX/LENGTH PORT [NEXT-HOP-MAC]; "
			"# begins a comment"},
	{"--noisy-tx-sw-buffer-size", "N", HAUL_APP_NUMBER, &ARGS->noisy_buffer, 0, 1 << 24, "none",
		"mode noisy: packets that each carrier and port holds back"},
	{"--noisy-tx-sw-buffer-flushtime", "MS", HAUL_APP_NUMBER, &ARGS->noisy_flush_ms, 0,
		86400000, "never",
		"mode noisy: time in milliseconds after which the packets held back are sent"},
	{"--noisy-lkup-memory", "MIB", HAUL_APP_NUMBER, &ARGS->noisy_memory_mb, 0, 1 << 20, "none",
		"mode noisy: memory of each carrier to read and write"},
	{"--noisy-lkup-num-reads", "N", HAUL_APP_NUMBER, &ARGS->noisy_reads, 0, 1 << 20, "0",
		"mode noisy: random reads with each packet"},
	{"--noisy-lkup-num-writes", "N", HAUL_APP_NUMBER, &ARGS->noisy_writes, 0, 1 << 20, "0",
		"mode noisy: random writes with each packet"},
	{"--noisy-lkup-num-reads-writes", "N", HAUL_APP_NUMBER, &ARGS->noisy_reads_writes, 0,
		1 << 20, "0",
		"mode noisy: random reads, and as many random writes, with each packet"},
	{"--flowgen-flows", "N", HAUL_APP_NUMBER, &ARGS->flowgen_flows, 1, INT32_MAX, NULL,
		"mode flowgen: number of destination addresses, from 10.253.0.0 on, used in turn"},
	{"--flowgen-clones", "N", HAUL_APP_NUMBER, &ARGS->flowgen_clones, 0, 511, "0",
		"mode flowgen: send each frame N more times from the same buffer"},
	{"--txpkts", "BYTES[,BYTES]...", HAUL_APP_TEXT, &ARGS->txpkts,
		.help = "mode txonly: lengths of the segments of each frame, in place of --size"},
	{"--txonly-multi-flow", NULL, HAUL_APP_FLAG, &ARGS->multi_flow,
		.help = "mode txonly: vary the source address, too"},
	{0},
};
