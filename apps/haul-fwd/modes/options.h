/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of all modes: one table for haul_app_program.options. Constant after parsing. */
#ifndef FWD_MODES_OPTIONS_H
#define FWD_MODES_OPTIONS_H

#include <haul-app/options.h>

extern const struct haul_app_option fwd_mode_options[];

struct fwd_mode_args {
	bool csum_keep_macs;
	const char *routes;
	uint64_t noisy_buffer; /* packets */
	uint64_t noisy_flush_ms;
	uint64_t noisy_memory_mb;
	uint64_t noisy_reads, noisy_writes, noisy_reads_writes; /* of each packet */
	uint64_t flowgen_clones, flowgen_flows;
	const char *txpkts;
	bool multi_flow;
	const char *service;
	bool service_sleeps;
	uint64_t service_memory, service_table_mb;
	const char *record_load;
};
extern struct fwd_mode_args fwd_mode_args;

#endif
