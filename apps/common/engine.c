/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts, runs and shuts down a packet program. */
#include "engine.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/eal.h>
#include <haul-dpdk/pool.h>

#include "output.h"
#include "report.h"
#include "signals.h"

#define STOP_TIMEOUT HAUL_S /* for handlers to end by themselves */
#define CARRIERS_TIMEOUT (10 * HAUL_S) /* for idle carriers, which wait for a CPU */
#define IN_FLIGHT 8192 /* packets held by handlers, all carriers, in a pool of default size */
#define TIME_MAX (UINT64_C(1000000000) * HAUL_S)
#define COUNT_PERIOD (5 * HAUL_MS) /* between checks of --packets */
#define HEALTH_PERIOD HAUL_S /* between checks of the interfaces: a few system calls each */

/* The help of --poller from the table of policies: "what pollers do ...:\nspin: ...;\n...". */
static const char *poller_help(void)
{
	static char text[512];
	const struct haul_poll_kind *kind;
	size_t len = (size_t)snprintf(text, sizeof(text),
		"what pollers do while there are no packets, US in microseconds");

	for (unsigned i = 0; (kind = haul_poll_kind(i)) != NULL && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s\n%s: %s",
			i == 0 ? ":" : ";", kind->form, kind->help);
	return text;
}

static void fill_options(struct app_engine *e)
{
	const struct app_option options[] = {
		{"--port", "SPEC", APP_ARG_TEXTS, &e->specs,
			.help = "a port: tap:NAME, null:, pci:ADDRESS, ... (see below); repeat\n"
				"the option for more ports"},
		{"--carriers", "N|LIST", APP_ARG_TEXT, &e->carriers_text,
			.zero = "one per physical core",
			.help = "number of carriers, or list of CPUs to run one on each, such\n"
				"as 0,2-3 (2-2: on CPU 2)"},
		{"--poller", "KIND", APP_ARG_TEXT, &e->poller_text, .help = poller_help()},
		{"--steal", APP_STEAL_NAMES, APP_ARG_CHOICE, &e->steal,
			.help = "idle carriers run handlers of busy ones: never (off), of the\n"
				"same last-level cache (cluster), of all carriers (global)"},
		{"--order", APP_ORDER_NAMES, APP_ARG_CHOICE, &e->send_order,
			.help = "order of packets that stolen handlers send: flow: as received\n"
				"within each flow; any: not kept"},
		{"--spread", APP_SPREAD_NAMES, APP_ARG_CHOICE, &e->spread,
			.help = "spread flows in software to carriers for which a port has no\n"
				"queue: packets: if handlers are coroutines; all: also if they\n"
				"are burst functions; off: never"},
		{"--packet-rate", "N", APP_ARG_NUMBER, &e->packet_rate, 1, UINT64_C(1000000000),
			"the link rate of NICs",
			"maximum rate of a queue in packets per second; pollers sleep no\n"
			"longer than receive rings hold at this rate"},
		{"--burst", "N", APP_ARG_NUMBER, &e->burst, 1, 512, NULL,
			"maximum of packets per poll"},
		{"--rxd", "N", APP_ARG_NUMBER, &e->rx_ring, 1, 32768, "the PMD's choice",
			"descriptors of a receive queue"},
		{"--txd", "N", APP_ARG_NUMBER, &e->tx_ring, 1, 32768, "the PMD's choice",
			"descriptors of a transmit queue"},
		{"--mbufs", "N", APP_ARG_NUMBER, &e->mbufs, 512, 16 << 20, "as many as needed",
			"number of packet buffers in the pool"},
		{"--stack-size", "BYTES", APP_ARG_NUMBER, &e->stack_size, 4096, HAUL_STACK_MAX,
			NULL, "stack size of a coroutine"},
		{"--duration", "SECONDS", APP_ARG_TIME, &e->duration, 0, TIME_MAX,
			"until SIGINT, SIGTERM or SIGHUP", "end after this time, such as 500ms"},
		{"--packets", "N", APP_ARG_NUMBER, &e->packets, 1, UINT64_MAX, "no limit",
			"end after N received packets"},
		{"--period", "SECONDS", APP_ARG_TIME, &e->period, 0, TIME_MAX, "never",
			"time between reports; 0: none but the last"},
		{"--json", NULL, APP_ARG_FLAG, &e->json,
			.help = "print one JSON object to stdout at the end, and other output to\n"
				"stderr"},
		{"--verbose", NULL, APP_ARG_FLAG, &e->verbose, .help = "show all messages of EAL"},
		{"--eal", "ARGS...", APP_ARG_REST, &e->eal,
			.help = "pass the rest of the line to EAL"},
		{NULL},
	};

	_Static_assert(sizeof(options) <= sizeof(e->options), "the table holds all");
	memcpy(e->options, options, sizeof(options));
}

void app_engine_init(struct app_engine *e, const struct app_program *program)
{
	*e = (struct app_engine){
		.program = program,
		.burst = 32,
		.poller_text = "spin",
		.stack_size = 24 * 1024,
		.period = HAUL_S,
		.out = stdout,
	};
	fill_options(e);
	app_signals_init(program->name);
}

/* Prints "NAME: line" on stderr. Returns the exit code for err: wrong arguments, or a failure. */
static int fail(const struct app_engine *e, int err, const char *line)
{
	app_say(e->program, "%s", line);
	switch (err) {
	case -EINVAL:
	case -ENODEV:
	case -ENOENT:
	case -ENXIO:
	case -ERANGE:
	case -ENAMETOOLONG:
		return APP_EXIT_USAGE;
	default:
		return APP_EXIT_FAILED;
	}
}

static void notice(const struct app_engine *e, const char *line)
{
	if (line[0])
		app_say(e->program, "note: %s", line);
}

static int choose_poller(struct app_engine *e)
{
	char errbuf[256];

	if (haul_poll_parse(&e->poller, e->poller_text, errbuf, sizeof(errbuf)) == 0)
		return APP_EXIT_DONE;
	return app_args_wrong(e->program, "--%s", errbuf);
}

static int make_plan(struct app_engine *e)
{
	struct haul_plan_opts opts = {0};
	const char *text = e->carriers_text;
	char errbuf[256];
	char *end;
	int err;

	if (text && text[strspn(text, "0123456789")] == '\0') {
		unsigned long n = strtoul(text, &end, 10);

		if (n < 1 || n > 1024)
			return app_args_wrong(e->program,
				"--carriers %s: give a number from 1 to 1024, or CPUs such as "
				"0,2-3",
				text);
		opts.carriers = (unsigned)n;
	} else {
		opts.cpus = text;
	}
	err = haul_plan_create(&e->plan, &opts, errbuf, sizeof(errbuf));
	if (err)
		return fail(e, err, errbuf);
	notice(e, e->plan->notice);
	return APP_EXIT_DONE;
}

static bool is_pci(const char *spec)
{
	return strncmp(spec, "pci:", 4) == 0;
}

static void choose_pool_size(struct app_engine *e)
{
	const struct haul_pool_need need = {
		.specs = (const char *const *)e->specs.items,
		.nb_specs = e->specs.n,
		.carriers = e->plan->carriers,
		.rx_ring = (uint16_t)e->rx_ring,
		.tx_ring = (uint16_t)e->tx_ring,
		.in_flight = IN_FLIGHT,
	};

	if (e->mbufs == 0)
		e->mbufs = haul_pool_size(&need);
}

static int start_eal(struct app_engine *e)
{
	struct haul_eal_opts opts = {
		.program = e->program->name,
		.plan = e->plan,
		.args = e->eal.items,
		.nb_args = (int)e->eal.n,
		.verbose = e->verbose,
		.restartable = true, /* nothing has been read but the command line */
	};
	char errbuf[512];
	unsigned i;
	int err;

	for (i = 0; i < e->specs.n; i++)
		opts.pci |= is_pci(e->specs.items[i]);
	app_signals_phase(APP_PHASE_STARTS, "starting DPDK", "");
	choose_pool_size(e);
	opts.mem_mb = haul_pool_mem_mb((unsigned)e->mbufs);
	err = haul_eal_init(&opts, errbuf, sizeof(errbuf));
	if (err)
		return fail(e, err, errbuf);
	e->has_eal = true;
	notice(e, haul_eal_notice());
	return APP_EXIT_DONE;
}

/* True if haul_io_start() will spread packets to carriers for which a port has no queue. */
static bool spreads(const struct app_engine *e)
{
	return e->spread == HAUL_SPREAD_ALL || (e->spread == HAUL_SPREAD_PACKETS && !e->bursts);
}

static int open_port(struct app_engine *e, unsigned i, const struct haul_port_opts *opts)
{
	char errbuf[512];
	int err;

	app_signals_phase(APP_PHASE_STARTS, "opening port ", e->specs.items[i]);
	err = haul_port_open(&e->ports[i], e->specs.items[i], opts, errbuf, sizeof(errbuf));
	return err ? fail(e, err, errbuf) : APP_EXIT_DONE;
}

/* Reopens ports with too many queues: packets on queues that no carrier polls would be lost. */
static int open_with_fewer(struct app_engine *e, const struct haul_port_opts *opts)
{
	int rc = APP_EXIT_DONE;

	for (unsigned i = 0; i < e->nb_ports && rc == APP_EXIT_DONE; i++) {
		if (haul_port_queues(e->ports[i]) <= opts->queues)
			continue;
		haul_port_close(e->ports[i]);
		rc = open_port(e, i, opts);
		if (rc != APP_EXIT_DONE)
			e->ports[i] = e->ports[--e->nb_ports]; /* the rest is only closed */
	}
	return rc;
}

static int open_all(struct app_engine *e, struct haul_port_opts *opts)
{
	int rc = APP_EXIT_DONE;

	while (e->nb_ports < e->specs.n && rc == APP_EXIT_DONE) {
		unsigned queues;

		rc = open_port(e, e->nb_ports, opts);
		if (rc != APP_EXIT_DONE)
			break;
		queues = haul_port_queues(e->ports[e->nb_ports++]);
		if (queues >= opts->queues || spreads(e))
			continue;
		opts->queues = queues;
		rc = open_with_fewer(e, opts);
	}
	return rc;
}

static int open_ports(struct app_engine *e)
{
	struct haul_port_opts opts = {
		.queues = e->plan->carriers,
		.pool = e->pool,
		.rx_ring = (uint16_t)e->rx_ring,
		.tx_ring = (uint16_t)e->tx_ring,
		.waits = haul_poll_kind_of(e->poller.how)->opens_interrupts,
	};
	char errbuf[512];
	unsigned i;
	int err, rc = open_all(e, &opts);

	if (rc != APP_EXIT_DONE)
		return rc;
	for (i = 0; i < e->nb_ports; i++)
		notice(e, haul_port_notice(e->ports[i]));
	for (i = 0; i < e->nb_ports; i++) {
		app_signals_phase(APP_PHASE_STARTS, "starting port ", e->specs.items[i]);
		err = haul_port_start(e->ports[i], errbuf, sizeof(errbuf));
		if (err)
			return fail(e, err, errbuf);
	}
	return APP_EXIT_DONE;
}

static int start_carriers(struct app_engine *e)
{
	char why[192] = "", line[256];
	struct haul_runtime_opts opts = {
		.plan = e->plan,
		.launcher = haul_eal_launcher(),
		.stack_size = e->stack_size,
		.steal = (enum haul_steal)e->steal,
		.errbuf = why,
		.errlen = sizeof(why),
	};
	int err = haul_start(&e->rt, &opts);

	if (!err)
		return APP_EXIT_DONE;
	snprintf(line, sizeof(line), "cannot start the carriers: %s%s", why,
		err == -ENOTSUP ? "; use --steal off" : "");
	return fail(e, err, line);
}

static int make_pool(struct app_engine *e)
{
	char errbuf[256];

	e->pool = haul_pool_create((unsigned)e->mbufs, errbuf, sizeof(errbuf));
	return e->pool ? APP_EXIT_DONE : fail(e, -ENOMEM, errbuf);
}

int app_engine_open(struct app_engine *e)
{
	int (*const steps[])(struct app_engine * e) = {
		choose_poller,
		make_plan,
		start_eal,
		make_pool,
		open_ports,
		start_carriers,
	};
	unsigned i;
	int rc;

	if (e->json)
		e->out = stderr;
	if (e->specs.n == 0)
		return app_args_wrong(
			e->program, "no port given: use --port, for example --port null:");
	if (e->specs.n > APP_PORTS_MAX)
		return app_args_wrong(e->program, "%u ports given, at most %u are possible",
			e->specs.n, APP_PORTS_MAX);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		rc = steps[i](e);
		app_signals_phase(APP_PHASE_WORKS, "starting", "");
		if (rc != APP_EXIT_DONE)
			return rc;
	}
	return APP_EXIT_DONE;
}

struct haul_io_opts app_engine_io_opts(const struct app_engine *e)
{
	return (struct haul_io_opts){
		.ports = (struct haul_port **)e->ports,
		.nb_ports = e->nb_ports,
		.pool = e->pool,
		.burst = (uint16_t)e->burst,
		.policy = e->poller,
		.packet_rate = e->packet_rate,
		.send_order = (enum haul_send_order)e->send_order,
		.spread = (enum haul_io_spread)e->spread,
	};
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t received(const struct app_engine *e)
{
	struct haul_io_stats st;
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < e->nb_ports; i++) {
		haul_io_get_stats(e->io, i, -1, &st);
		n += st.rx_packets;
	}
	return n;
}

/* Discards data that an interrupted write left in the buffer: it would block the next flush, which
 * happens while output of drivers is captured. ferror() still reports the loss at the end. */
static void end_writing(void)
{
	if (fflush(stdout) != 0)
		__fpurge(stdout);
	app_signals_phase(APP_PHASE_WORKS, "running", "");
}

/* Runs until a signal, the end of --duration or --packets, or the loss of an interface. */
static int watch(struct app_engine *e)
{
	uint64_t end_at = e->duration ? e->began_at + e->duration : HAUL_FOREVER;
	uint64_t report_at = e->period ? e->began_at + e->period : HAUL_FOREVER;
	uint64_t look = e->packets ? COUNT_PERIOD : HEALTH_PERIOD;
	const char *why;
	uint64_t now;

	for (;;) {
		now = haul_now();
		if (app_signals_wait(earlier(earlier(end_at, report_at), now + look)) != 0)
			return APP_EXIT_DONE;
		now = haul_now();
		if (!haul_io_healthy(e->io, &why))
			return fail(e, -EIO, why);
		if (now >= end_at || (e->packets && received(e) >= e->packets))
			return APP_EXIT_DONE;
		if (now >= report_at) {
			app_signals_phase(APP_PHASE_WRITES, "writing a report", "");
			app_report_period(e);
			end_writing();
			if (app_output_is_lost())
				return APP_EXIT_DONE; /* app_output_end() reports it */
			/* Skips reports that were due while the process was stopped or blocked. */
			report_at += e->period;
			if (report_at <= now)
				report_at = haul_now() + e->period;
		}
	}
}

/* Checks the ports after the last packet: the end of a capture file may be missing. */
static int check_ports(const struct app_engine *e)
{
	const char *fault;
	unsigned i;

	for (i = 0; i < e->nb_ports; i++) {
		fault = haul_port_fault(e->ports[i]);
		if (fault[0])
			return fail(e, -EIO, fault);
	}
	return APP_EXIT_DONE;
}

static void report(struct app_engine *e, const struct app_hooks *hooks)
{
	json_t *object;

	if (!e->json) {
		app_report_totals(e, stdout);
		if (hooks && hooks->table)
			hooks->table(e, stdout, hooks->arg);
		return;
	}
	object = json_object();
	if (hooks && hooks->json)
		hooks->json(e, object, hooks->arg);
	app_report_json(e, object);
	json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	putchar('\n');
	json_decref(object);
}

int app_engine_run(
	struct app_engine *e, const struct haul_io_opts *io, const struct app_hooks *hooks)
{
	char errbuf[512];
	int err, rc;

	err = haul_io_start(&e->io, e->rt, io, errbuf, sizeof(errbuf));
	if (err)
		return fail(e, err, errbuf);
	notice(e, haul_io_notice(e->io));
	e->began_at = haul_now();
	rc = hooks && hooks->started ? hooks->started(e, hooks->arg) : APP_EXIT_DONE;
	if (rc == APP_EXIT_DONE)
		rc = watch(e);
	e->ended_at = haul_now();
	app_signals_phase(APP_PHASE_WORKS, "stopping pollers", "");
	err = haul_io_stop(e->io, STOP_TIMEOUT, errbuf, sizeof(errbuf));
	if (err)
		rc = fail(e, err, errbuf);
	e->stop_err = err;
	if (rc == APP_EXIT_DONE)
		rc = check_ports(e);
	app_signals_phase(APP_PHASE_WRITES, "writing the report", "");
	report(e, hooks);
	end_writing();
	return rc;
}

static void close_ports(struct app_engine *e)
{
	while (e->nb_ports > 0) {
		struct haul_port *port = e->ports[--e->nb_ports];

		app_signals_phase(APP_PHASE_WORKS, "closing port ", haul_port_spec(port));
		haul_port_close(port);
	}
}

/*
 * Ends the process while a carrier still runs, which may use the objects that a shutdown would
 * free. Closes the ports if no poller uses them, so that kernel interfaces return to their old
 * state.
 */
static void leave(struct app_engine *e)
{
	if (e->stop_err == -ETIMEDOUT) {
		haul_dump(e->rt, stderr);
		fprintf(stderr,
			"%s: note: the ports were not closed; their traces may remain: an XDP "
			"program, promiscuous mode, a socket\n",
			e->program->name);
	} else {
		close_ports(e);
	}
	app_signals_phase(APP_PHASE_WRITES, "writing", "");
	fflush(stdout);
	_Exit(APP_EXIT_FAILED);
}

int app_engine_close(struct app_engine *e, int rc)
{
	char errbuf[512];
	int err;

	if (e->stop_err == -ETIMEDOUT)
		leave(e);
	if (e->rt) {
		app_signals_phase(APP_PHASE_WORKS, "stopping carriers", "");
		err = haul_stop(e->rt, e->stop_err ? STOP_TIMEOUT : CARRIERS_TIMEOUT);
		if (err) {
			fail(e, err, "some coroutines have not ended, see above");
			leave(e);
		}
	}
	close_ports(e);
	if (e->io) {
		err = haul_io_free(e->io, errbuf, sizeof(errbuf));
		if (err)
			rc = fail(e, err, errbuf);
	}
	app_report_free(e);
	app_signals_phase(APP_PHASE_WORKS, "ending DPDK", "");
	rte_mempool_free(e->pool);
	if (e->has_eal)
		haul_eal_fini();
	haul_plan_destroy(e->plan);
	free(e->specs.items);
	free(e->eal.items);
	/* Until the end of the program: app_output_end() writes what is left in the buffer. */
	app_signals_phase(APP_PHASE_WRITES, "writing", "");
	return rc;
}
