/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every packet program does around its handler: the common options, bringing up EAL, ports,
 * carriers and pollers, statistics once a period, ending on a signal, after --duration or when an
 * interface is gone, and taking it all down with the books checked.
 *
 *	struct app_engine engine;
 *
 *	app_engine_init(&engine, &program);
 *	... tables[] = {own_options, engine.options, NULL}; app_args_parse() ...
 *	rc = app_engine_open(&engine);
 *	if (rc == APP_DONE) {
 *		struct haul_io_opts io = app_engine_io_opts(&engine);
 *
 *		io.on_packet = my_handler;
 *		rc = app_engine_run(&engine, &io, NULL);
 *	}
 *	return app_output_end(&program, app_engine_close(&engine, rc));
 */
#ifndef APP_ENGINE_H
#define APP_ENGINE_H

#include <stdio.h>

#include <jansson.h>

#include <haul-dpdk/io.h>
#include <haul-dpdk/port.h>
#include <haul/runtime.h>
#include <haul/topo.h>

#include "args.h"

#define APP_PORTS_MAX 32

/* In the order of their enums. */
#define APP_STEAL_NAMES "off|cluster|global"
#define APP_ORDER_NAMES "flow|any"
#define APP_SPREAD_NAMES "packets|all|off"

struct app_engine {
	/* The options, with their defaults from app_engine_init() on. */
	struct app_texts specs;
	const char *carriers_text;
	uint64_t burst;
	uint64_t rx_ring;
	uint64_t tx_ring;
	uint64_t mbufs;
	uint64_t stack_size;
	uint64_t duration;
	uint64_t packets;
	uint64_t period;
	const char *poller_text;
	unsigned steal; /* of APP_STEAL_NAMES, as enum haul_steal; and so on */
	unsigned order;
	unsigned spread;
	uint64_t packet_rate;
	bool json;
	bool verbose;
	bool bursts; /* the program has a function for each burst; it says so before the open */
	struct app_texts eal;
	struct app_option options[21]; /* their table */

	/* What is up. */
	const struct app_program *program;
	struct haul_poll_policy poller;
	struct haul_plan *plan;
	bool has_eal;
	struct rte_mempool *pool;
	struct haul_port *ports[APP_PORTS_MAX];
	unsigned nb_ports;
	struct haul_runtime *rt;
	struct haul_io *io;
	int stop_err; /* what haul_io_stop() said; -ETIMEDOUT: pollers have not ended */

	/* What the statistics need. */
	uint64_t began_at;
	uint64_t ended_at; /* 0: still running */
	struct app_sample *last; /* of the last period */
	FILE *out; /* where text goes: stderr with --json */
};

/* What a program adds to app_engine_run(). NULL in place of it, or of any of them: nothing. */
struct app_hooks {
	/* Pollers run. An exit code other than APP_DONE ends the program; it has printed a line. */
	int (*started)(struct app_engine *e, void *arg);
	/* Fields of its own for the object of --json, before those of all programs. */
	void (*json)(struct app_engine *e, json_t *object, void *arg);
	/* Lines of its own below the final table. */
	void (*table)(struct app_engine *e, FILE *out, void *arg);
	void *arg;
};

/* Sets defaults and fills options. Takes the signals that end the program. */
void app_engine_init(struct app_engine *e, const struct app_program *program);

/* Brings up everything but the pollers. An exit code; other than APP_DONE after one line on stderr.
 * app_engine_close() has to be called in any case. */
int app_engine_open(struct app_engine *e);

/* Ports, pool and burst filled in. */
struct haul_io_opts app_engine_io_opts(const struct app_engine *e);

/* Starts pollers, reports once a period, stops them, reports all. An exit code. */
int app_engine_run(
	struct app_engine *e, const struct haul_io_opts *io, const struct app_hooks *hooks);

/* Takes everything down; the exit code of the program, which is rc unless closing fails. */
int app_engine_close(struct app_engine *e, int rc);

#endif
