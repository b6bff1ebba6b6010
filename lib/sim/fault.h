/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults: what the environment may do to a program. Whoever simulates a piece of the environment
 * asks at each *opportunity* of a fault (a packet, a sleep, a call) whether it strikes.
 *
 * The seed draws for each kind whether the run has it at all, and how often it strikes. The strikes
 * of a kind are numbered from 1. The gap before a strike, and what is drawn for it, depend on the
 * seed, the kind and the number, and on nothing else: if some are suppressed, the others stay.
 */
#ifndef HAULI_SIM_FAULT_H
#define HAULI_SIM_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In parentheses: an opportunity. Names are in fault.c. */
enum hauli_sim_fault {
	HAULI_SIM_LOSS, /* (packet on a link) it is lost */
	HAULI_SIM_BURST_LOSS, /* (packet) it is lost, and the next ones */
	HAULI_SIM_DUPLICATE, /* (packet) */
	HAULI_SIM_REORDER, /* (packet) later ones overtake it */
	HAULI_SIM_FLIP, /* (packet) a bit is wrong */
	HAULI_SIM_DELAY, /* (packet) */
	HAULI_SIM_PARTITION, /* (second of a network) hosts do not reach each other */
	HAULI_SIM_CLOG, /* (second of a link) packets wait */
	HAULI_SIM_LINK_DOWN, /* (second of a link) */
	HAULI_SIM_NO_MBUF, /* (allocation) */
	HAULI_SIM_NO_STACK, /* (refill of a cache) no memory for stacks or coroutines */
	HAULI_SIM_SLOW, /* (switch of threads) the thread's CPU is slow for a while */
	HAULI_SIM_STALL, /* (switch of threads) the thread does not run for a while */
	HAULI_SIM_LATE, /* (sleep or time-out) it ends late */
	HAULI_SIM_KILL, /* (second of a host) */
	HAULI_SIM_CLOCK_STEP, /* (read of CLOCK_REALTIME) it is set to another time */
	HAULI_SIM_SYSCALL, /* (call that may fail) */
	HAULI_SIM_SOMETIMES, /* (HAUL_SOMETIMES(), each name for itself) */
	HAULI_SIM_FAULTS
};

/* Strikes that a run may have. All zero: none. */
struct hauli_sim_range {
	enum hauli_sim_fault kind;
	uint64_t from, to; /* numbers of strikes, both included */
};
struct hauli_sim_fault_set {
	uint32_t kinds; /* a bit of each */
	struct hauli_sim_range *ranges; /* of a kind that has any: only these strikes */
	size_t n;
};

/*
 * Reads "all", "none", or a list such as "loss,stall:3,stall:7-9". 0; -ENOMEM; -EINVAL, with one
 * line in errbuf. The caller frees set->ranges.
 */
int hauli_sim_faults_parse(
	struct hauli_sim_fault_set *set, const char *text, char *errbuf, size_t errlen);
const char *hauli_sim_fault_name(enum hauli_sim_fault kind);
/* Of names: "loss, burst-loss, ...". */
const char *hauli_sim_fault_names(void);

/* Before a run; set outlives it. After it, strikes are still counted. */
void hauli_sim_faults_begin(uint64_t seed, const struct hauli_sim_fault_set *set);
void hauli_sim_faults_end(void);
/* Of the last run: strikes that were not suppressed. */
uint64_t hauli_sim_fault_count(enum hauli_sim_fault kind);
/* The number of the last strike of the kind, suppressed or not. */
uint64_t hauli_sim_fault_last(enum hauli_sim_fault kind);

/* Called when faults stop; NULL: nothing. */
extern void (*hauli_sim_faults_stopped)(void);

/* What a fault hits. from and to: a link, in one direction; from alone: a node, or a host; neither:
 * the thread that runs. */
struct hauli_sim_target {
	const char *from, *to;
	const char *function; /* the call that fails, the name of HAUL_SOMETIMES(), or NULL */
};

/* Called at each strike that is not suppressed; NULL: nothing. */
extern void (*hauli_sim_fault_seen)(
	enum hauli_sim_fault kind, uint64_t number, const struct hauli_sim_target *target);

/* Opportunities until the next strike. */
extern uint64_t hauli_sim_fault_left[HAULI_SIM_FAULTS];
bool hauli_sim_fault_due(enum hauli_sim_fault kind, const char *from, const char *to);

/* At an opportunity: true if the fault strikes the thread that runs. Also outside of a simulation:
 * false. */
static inline bool hauli_sim_strikes(enum hauli_sim_fault kind)
{
	return --hauli_sim_fault_left[kind] == 0 && hauli_sim_fault_due(kind, NULL, NULL);
}

/* The same of a link, or, if `to` is NULL, of a node or a host. */
static inline bool hauli_sim_strikes_at(enum hauli_sim_fault kind, const char *from, const char *to)
{
	return --hauli_sim_fault_left[kind] == 0 && hauli_sim_fault_due(kind, from, to);
}

/* 0 to most, for the last strike of the kind; another value at each call. Before the first one: for
 * the run. _log: all sizes are as likely, 1 to most. */
uint64_t hauli_sim_fault_draw(enum hauli_sim_fault kind, uint64_t most);
uint64_t hauli_sim_fault_draw_log(enum hauli_sim_fault kind, uint64_t most);

/* True: the call, such as "read", is to fail with *err, an error that it is known for. Calls that
 * are not in the table of fault.c do not fail. */
bool hauli_sim_fails(const char *call, int *err);

#endif
