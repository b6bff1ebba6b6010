/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part that all packet programs share: common options; the start of EAL, ports, carriers and
 * pollers; periodic statistics; the end by a signal, --duration, --packets or the loss of an
 * interface; the shutdown, with the ledgers checked.
 *
 *	struct app_engine engine;
 *
 *	app_engine_init(&engine, &program);
 *	... tables[] = {own_options, engine.options, NULL}; app_args_parse() ...
 *	rc = app_engine_open(&engine);
 *	if (rc == APP_EXIT_DONE) {
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

/* Choices of options, in the order of the enumerators. */
#define APP_STEAL_NAMES "off|cluster|global"
#define APP_ORDER_NAMES "flow|any"
#define APP_SPREAD_NAMES "packets|all|off"

struct app_engine {
	/* Values of the options; app_engine_init() sets the defaults. */
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
	unsigned steal; /* enum haul_steal; the next two: haul_send_order, haul_io_spread */
	unsigned send_order;
	unsigned spread;
	uint64_t packet_rate;
	bool json;
	bool verbose;
	bool bursts; /* handlers are burst functions; the program sets it before the open */
	struct app_texts eal;
	struct app_option options[21]; /* the table of these options */

	/* Objects that exist now. */
	const struct app_program *program;
	struct haul_poll_policy poller;
	struct haul_plan *plan;
	bool has_eal;
	struct rte_mempool *pool;
	struct haul_port *ports[APP_PORTS_MAX];
	unsigned nb_ports;
	struct haul_runtime *rt;
	struct haul_io *io;
	int stop_err; /* result of haul_io_stop(); -ETIMEDOUT: pollers have not ended */

	/* For statistics. */
	uint64_t began_at;
	uint64_t ended_at; /* 0: running */
	struct app_sample *last; /* at the end of the last period */
	FILE *out; /* for text: stdout, or stderr with --json */
};

/* Callbacks of app_engine_run() into the program. Each may be NULL, and so may be the struct. */
struct app_hooks {
	/* Called when the pollers run. Returns APP_EXIT_DONE, or an exit code after printing an
	 * error. */
	int (*started)(struct app_engine *e, void *arg);
	/* Adds fields of the program to the object of --json, before the common ones. */
	void (*json)(struct app_engine *e, json_t *object, void *arg);
	/* Prints lines of the program below the final table. */
	void (*table)(struct app_engine *e, FILE *out, void *arg);
	void *arg;
};

/* Sets the defaults, fills the table of options, and starts to handle the signals that end the
 * program (signals.h). */
void app_engine_init(struct app_engine *e, const struct app_program *program);

/* Starts everything but the pollers. Returns APP_EXIT_DONE, or an exit code after one line on
 * stderr. The caller calls app_engine_close() in either case. */
int app_engine_open(struct app_engine *e);

/* Returns options of haul_io_start() with all but the handler filled in. */
struct haul_io_opts app_engine_io_opts(const struct app_engine *e);

/* Starts the pollers, reports once a period until the end of the program, stops the pollers, and
 * reports the totals. Returns an exit code. */
int app_engine_run(
	struct app_engine *e, const struct haul_io_opts *io, const struct app_hooks *hooks);

/* Shuts everything down. Returns the exit code of the program: rc, unless the shutdown fails. */
int app_engine_close(struct app_engine *e, int rc);

#endif
