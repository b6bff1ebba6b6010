/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules that move queues or buckets: the library's own, and what others do. */
#ifndef PERF_BALANCE_RULE_H
#define PERF_BALANCE_RULE_H

#include <haul-dpdk/balance.h>

#define CARRIERS_MAX 64u
#define QUEUES_MAX 2048u
#define OVS_PERIOD (10 * HAUL_S) /* between two looks: six times as often as its shortest */

enum rule { FIXED, OVS, GREEDY, HAUL, HAUL_FEW, RULES };
extern const char *const rule_names[];

/* Sets b->opts, but for may_go and arg. */
void rule_begin(enum rule rule, struct haul_balance *b, unsigned nb_queues);

/* The time between two steps. */
uint64_t rule_period(enum rule rule);

/* A step of haul_balance_step(), or of another rule, with room for nb_queues moves. */
unsigned rule_step(enum rule rule, struct haul_balance *b, uint64_t now,
	struct haul_balance_queue *queues, unsigned nb_queues,
	const struct haul_balance_carrier *carriers, unsigned nb_carriers,
	struct haul_balance_move *moves);

#endif
