/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mode generate: an open-loop generator and its receiver. Packets are due at times that an arrival
 * process or a capture file gives; a packet that is sent late keeps its time, and latencies count
 * from it. generate.c sends, generate_receive.c receives, generate_options.c parses,
 * generate_report.c prints.
 */
#ifndef FWD_GENERATE_H
#define FWD_GENERATE_H

#include <stdio.h>

#include <haul-app/app.h>
#include <haul/hist.h>

#include "arrivals.h"
#include "mode.h"
#include "packet.h"
#include "receiver.h"
#include "replay.h"
#include "samples.h"
#include "sizes.h"

extern const struct haul_app_option generate_option_table[];

struct generate_options {
	struct arrivals_plan plan;
	struct frame_options frame;
	struct sizes sizes;
	struct replay replay; /* n is 0: none */
	double speed; /* of replay; 0: the plan gives the times */
	uint64_t loops; /* of replay; 0: no end */
	uint64_t closed_loop; /* packets on the way; 0: an open loop */
	uint64_t drain; /* ns */
	unsigned flows; /* of each port */
	uint64_t samples; /* packets that each carrier keeps: see samples.h */
};

/* True if the program makes frames of flows to measure: in has_effect(). */
bool generate_has_flows(void);

/* True if the options ask for no packets: --rate 0. After parsing. */
bool generate_only_receives(void);

/* Parses, and reads the file to replay. Returns HAUL_APP_DONE, or an exit code after a line. */
int generate_options_parse(struct generate_options *o, const struct haul_app_program *program,
	unsigned nb_ports, uint64_t flows);

/* True if packets are sent, and not only received. */
bool generate_options_send(const struct generate_options *o);

/* Counters of the program: haul_app_hooks.counters. */
enum generate_counter {
	GENERATE_SENT, /* given to ports */
	GENERATE_RECEIVED, /* different ones of this generator */
	GENERATE_REORDERED,
	GENERATE_DUPLICATED,
	GENERATE_FOREIGN, /* different ones of another generator */
	GENERATE_UNSTAMPED, /* without a stamp */
};
extern const struct haul_app_counter generate_counters[];

/* What one carrier sends on one port. Written by the carrier. */
struct generate_stream {
	_Alignas(64) uint64_t due; /* of the next packet, on stamp_clock()'s clock */
	struct arrivals arrivals;
	struct arrivals_random random; /* of sizes */
	uint64_t sent;
	uint64_t blocked_at; /* when the port last had packets waiting */
	uint64_t blocked; /* packets that were due then */
	uint64_t no_buffer; /* attempts */
	size_t frame; /* of replay: the next one, in which loop */
	uint64_t loop;
	struct packet_turn turn;
	bool begun;
	struct haul_hist late; /* from the due time, or the port's readiness, to the sending */
};

/* Written by the carrier. */
struct generate_carrier {
	_Alignas(64) uint64_t start; /* 0: not yet, as stop */
	uint64_t stop;
	uint64_t out; /* closed loop: packets on the way */
	uint64_t last_at; /* closed loop: last sign of life */
	uint8_t foreign_run;
	bool has_foreign;
	struct receiver_flow *own; /* [flows of all ports] */
	struct receiver_flow *foreign; /* [RECEIVER_FLOWS_MAX] */
	struct samples *samples; /* NULL: none are kept */
	struct haul_hist intended; /* intended time to dequeue; the next: actual time to dequeue */
	struct haul_hist actual;
};

struct generate {
	struct generate_options next; /* what options and commands say, for the next run */
	struct generate_options options; /* of the run that has begun last */
	struct packet_shape both[2][HAUL_APP_PORTS_MAX];
	struct fwd_versions shapes; /* of both */
	struct haul_app *app;
	struct rte_mempool *pool;
	struct generate_carrier *carriers; /* [nb_carriers] */
	unsigned nb_carriers;
	struct generate_stream *streams; /* [carriers][ports] */
	uint64_t start, stop; /* main thread's */
	uint64_t missing; /* packets of earlier runs that have not arrived */
	int timer; /* 0: none */
	bool sends; /* some run may send; false: the program only receives. Constant */
	bool stays; /* the program does not end with its packets: a prompt may start it again */
	uint8_t run;
	uint8_t past_runs; /* runs that the prompt has stopped; with the numbers before run */
};
extern struct generate generate;

#define GENERATE_RUNS 255 /* numbers of runs, from 1 on */

static inline struct generate_stream *generate_stream_of(unsigned carrier, unsigned port)
{
	return &generate.streams[(size_t)carrier * generate.app->nb_ports + port];
}

/* Counts the arrivals of a stream that are due by a time, and were not sent: at most limit. After
 * the pollers. */
uint64_t generate_backlog(const struct generate_stream *s, uint64_t by, uint64_t limit);

/* The receiver: a handler of bursts. */
void generate_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n);

/* Hooks of haul-fwd, for this mode. */
int generate_parsed(struct haul_app *app, const struct haul_app_program *program, uint64_t flows);
int generate_started(struct haul_app *app);
bool generate_may_end(struct haul_app *app);
void generate_drain(struct haul_app *app); /* returns when it may end */
void generate_report_period(FILE *out); /* sums so far */
void generate_report(FILE *out);
void generate_json(struct haul_app_json *object);
void generate_closed(void);

#endif
