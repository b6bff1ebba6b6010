/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet programs. haul_app_main() is the whole of main(): it parses options, starts EAL, ports,
 * carriers and pollers, prints statistics once a period, ends by a signal, --duration, --packets or
 * the loss of an interface, checks that no packet is lost, and shuts everything down in the right
 * order. The program brings a handler, and hooks for what it does besides.
 *
 *	static void answer(struct haul_rx *rx, struct rte_mbuf *pkt) { ... }
 *
 *	int main(int argc, char **argv)
 *	{
 *		static const struct haul_app_program program = {
 *			.name = "answer", .purpose = "Answers packets."};
 *		static const struct haul_app_hooks hooks = {.on_packet = answer};
 *
 *		return haul_app_main(&program, &hooks, argc, argv);
 *	}
 *
 * Link with pkg-config's haul-app. A program that owns its main loop uses haul-dpdk/io.h instead.
 */
#ifndef HAUL_APP_H
#define HAUL_APP_H

#include <stdio.h>

#include <haul-app/json.h>
#include <haul-app/options.h>
#include <haul-dpdk/capture.h>
#include <haul-dpdk/io.h>
#include <haul-dpdk/port.h>
#include <haul-dpdk/port_config.h>
#include <haul/runtime.h>
#include <haul/topo.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HAUL_APP_PORTS_MAX 32
#define HAUL_APP_COUNTERS_MAX 32

/* A program that runs. Hooks read it; the library owns all that it points to. */
struct haul_app {
	const struct haul_app_program *program;
	void *arg; /* haul_app_hooks.arg */
	unsigned nb_ports; /* given by --port, 1 to HAUL_APP_PORTS_MAX */
	uint16_t burst; /* --burst */
	/* Receive queues of each port, to be set in parsed(); 0: one per carrier. */
	unsigned rx_queues;
	/* The configuration of all ports (MTU, offloads, RSS, ...), to be set in parsed(); NULL:
	 * the defaults. */
	const struct haul_port_config *port_config;
	bool leave_out; /* the same as haul_port_opts.leave_out; to be set in parsed() */
	/* The rest is NULL until opened(), and in closed(). */
	const struct haul_plan *plan;
	struct rte_mempool *pool;
	struct haul_port **ports; /* nb_ports, in the order of --port */
	struct haul_runtime *rt;
	struct haul_io *io; /* for handlers too; NULL until the pollers start */
};

/* A figure of the program, of which it may have HAUL_APP_COUNTERS_MAX: in the tables (a rate per
 * second, a total) and in --json, for each carrier and for all. */
struct haul_app_counter {
	const char *name; /* letters, digits and _; NULL ends the table */
	/* NULL: the sum of haul_app_count(). Otherwise it returns the figure of one carrier, while
	 * handlers run: in the main thread, or in a thread of telemetry while the main thread waits
	 * or writes what it has made. */
	uint64_t (*read)(const struct haul_app *app, unsigned carrier);
	bool gauge; /* a present value, such as the length of a list: printed without a rate */
};

/*
 * What a program does. All may be NULL but the handler. Hooks run in the main thread, in this
 * order, except those of carriers. A hook that returns int returns HAUL_APP_DONE, or prints an
 * error (haul_app_say()) and returns an exit code, which ends the program.
 */
struct haul_app_hooks {
	/* Here or set by parsed(): on_packet or on_burst, source, or source and one of these. See
	 * haul_io_opts. */
	haul_packet_fn *on_packet;
	haul_burst_fn *on_burst;
	haul_source_fn *source;
	const struct haul_coro_opts *coro; /* of the coroutines of on_packet, such as their name */
	const char *drop_names[HAUL_DROP_OWN_MAX]; /* for HAUL_DROP_OWN + i */
	const struct haul_app_counter *counters; /* read after parsed(), which may fill it */
	unsigned mem_mb; /* EAL's, for what is not packets; read after parsed(), too */
	void *arg; /* haul_app.arg, and haul_rx.arg; NULL: that is the struct haul_app */

	/* The options are parsed: checks them, and changes *io, which has the fields above and
	 * those of the common options. */
	int (*parsed)(struct haul_app *app, struct haul_io_opts *io);
	/* Ports are open and carriers run. */
	int (*opened)(struct haul_app *app);
	/* Called on each carrier, in a pinned coroutine, on one after the other, before its first
	 * packet. */
	int (*carrier_begins)(struct haul_app *app, unsigned carrier);
	/* Pollers run. */
	int (*started)(struct haul_app *app);
	/* SIGHUP has come, since pollers run: reads files anew. NULL: SIGHUP ends the program. */
	void (*reload)(struct haul_app *app);
	/* A port that was lost is back (--lost-port return): haul_port_mac() may be another one.
	 * NULL: a port cannot be "empty:". */
	void (*attached)(struct haul_app *app, unsigned port);
	/* The program is about to end, and pollers still run: true if they may stop. Called every
	 * ms until then, such as for a generator whose last packets are on their way. */
	bool (*may_end)(struct haul_app *app);
	/* Prints lines of the program below the tables of a period (final: at the end; not with
	 * --json, where json() is called instead). */
	void (*report)(struct haul_app *app, FILE *out, bool final);
	/* Adds values to the object of --json, after the pollers. Keys of haul: seconds, poller,
	 * steal, order, spread, wake_p50_ns, wake_p99_ns, counters, buffers, cancelled,
	 * ports, carriers. */
	void (*json)(struct haul_app *app, struct haul_app_json *object);
	/* As carrier_begins(), after the last packet and handler, on the carriers on which
	 * carrier_begins() returned HAUL_APP_DONE. */
	void (*carrier_ends)(struct haul_app *app, unsigned carrier);
	/* Frees what other hooks allocated. Called if parsed() was, after any failure too. */
	void (*closed)(struct haul_app *app);

	/* Bytes of a frame that packet buffers hold at least, if the MTU does not need more; at
	 * most HAUL_POOL_FRAME_MAX. Read after parsed(). */
	unsigned frame;

	/* Prints the report at the end, in place of the tables and of report() (not with --json):
	 * for a program whose output has the form of another one's. May be set by parsed(). */
	void (*totals)(struct haul_app *app, FILE *out);
};

/* Runs a packet program. Returns the exit code of the process. Once per process. */
HAUL_API int haul_app_main(const struct haul_app_program *program,
	const struct haul_app_hooks *hooks, int argc, char **argv);

/*
 * Calls fn on each carrier, in a pinned coroutine, on one after the other, and returns when the
 * last call has returned: so fn may use data of its carrier, and what arg points to, without a
 * lock. It may suspend. Main thread, in hooks from opened() on. Returns HAUL_APP_DONE, or the first
 * other result of fn, after which it calls no more; HAUL_APP_FAILED after a line if a carrier does
 * not run fn within ten seconds, because a handler there never suspends. A signal that ends the
 * program cancels fn (haul_cancelled()).
 */
HAUL_API int haul_app_on_carriers(struct haul_app *app,
	int (*fn)(struct haul_app *app, unsigned carrier, void *arg), void *arg);

/*
 * Calls ready(app, fd, arg) in the main thread whenever fd can be read, or is at its end: a socket,
 * a terminal, a timerfd. Between calls the main thread sleeps. ready reads what it needs without
 * blocking for more; it may write to stdout, watch other files, and end the program. ready NULL:
 * watches fd no more, which is to be done before it is closed. A second call for an fd replaces its
 * function. Main thread, in hooks from parsed() on; called from started() on. Returns 0, -EBADF
 * (fd < 0), or -ENOENT (ready is NULL, and fd is not watched).
 */
HAUL_API int haul_app_watch(struct haul_app *app, int fd,
	void (*ready)(struct haul_app *app, int fd, void *arg), void *arg);

/* Ends the program as SIGINT does, with its exit code, once the present hook, or function of
 * haul_app_watch(), has returned. Main thread. */
HAUL_API void haul_app_end(struct haul_app *app);
HAUL_API bool haul_app_is_ending(const struct haul_app *app); /* it was called, or a signal came */

/*
 * haul_app_pause() ends the pollers as the end of the program does: handlers end, all packets are
 * sent or counted as dropped. Ports stay open, carriers run and are idle, the program goes on: it
 * may change ports, and start the pollers again by haul_app_resume(), with the options in *change
 * (see haul_io_resume(); NULL: those of before). Sums of statistics continue. In parsed() or
 * opened(), haul_app_pause() lets the program begin without pollers. Main thread. Both return
 * HAUL_APP_DONE, also if there was nothing to do. Otherwise haul_app_resume() has printed a line
 * and the pollers do not run; after a failed haul_app_pause() the program ends with an error.
 */
HAUL_API int haul_app_pause(struct haul_app *app);
HAUL_API int haul_app_resume(struct haul_app *app, const struct haul_io_opts *change);

/* Between the two: gives each port this number of receive queues, each with a transmit queue
 * (haul_port_set_queues(), haul_io_reshape()). Main thread. Returns 0; or an error with one line in
 * errbuf, and ports that could be changed back are as before. */
HAUL_API int haul_app_set_queues(
	struct haul_app *app, unsigned queues, char *errbuf, size_t errlen);

/* True between the two. Main thread, as the next four functions. */
HAUL_API bool haul_app_is_paused(const struct haul_app *app);

/* Takes a port out at a user's request: haul_io_detach_port(), with its errors and its line. One
 * that was lost stays out, also with --lost-port return, until haul_io_attach_port(). */
HAUL_API int haul_app_detach_port(
	struct haul_app *app, unsigned port, uint64_t timeout_ns, char *errbuf, size_t errlen);

/* Lets the carriers of a list such as "0,2" or "0-2" handle all packets: haul_io_use(), with its
 * errors and its line. -EINVAL, too, if the list is wrong; -EBUSY, too, if the program itself
 * chooses the carriers (--balance all or few). Also a thread that the main thread waits for. */
HAUL_API int haul_app_use(
	struct haul_app *app, const char *list, uint64_t timeout_ns, char *errbuf, size_t errlen);

/* Lets idle carriers take handlers of busy ones, or stop that: haul_carrier_set_stealing() of each
 * carrier in use. Returns 0, or -ENOTSUP with a line: --steal is off. Also a thread that the main
 * thread waits for. */
HAUL_API int haul_app_set_stealing(struct haul_app *app, bool steals, char *errbuf, size_t errlen);

/*
 * True if the program serves, as --on-health and /health are told: it is false while it drains, is
 * paused, or has no port with a link. *state, unless NULL, gets the name: "starting", "serving",
 * "draining", "no-link", "hung", or "stopped" ("killed" is known to others only). For handlers that
 * answer probes: such an answer comes the way of all packets. Any thread.
 */
HAUL_API bool haul_app_is_serving(const char **state);

/* The present options of the pollers: to be copied, changed, and given to haul_app_resume(). */
HAUL_API const struct haul_io_opts *haul_app_io_opts(const struct haul_app *app);

/*
 * Sets an option as the command line does, with the same checks and lines, and what follows from it
 * in haul_app_io_opts() (--burst, --poller). What the program derives from an option is its own
 * affair, as is whether an option can change after the start at all. Main thread. Returns an exit
 * code.
 */
HAUL_API int haul_app_set_option(struct haul_app *app, const char *name, const char *value);

/* Sets the time between reports, in place of --period; 0: none but the last. */
HAUL_API void haul_app_set_period(struct haul_app *app, uint64_t ns);

/* Reports are lines, not a screen, whatever --screen says: for a program that itself reads from the
 * terminal. In parsed(). */
HAUL_API void haul_app_plain_reports(struct haul_app *app);

/* Adds the figures of --json so far to an object of the program. Main thread, from started() on. */
HAUL_API void haul_app_json_figures(struct haul_app *app, struct haul_app_json *object);

/*
 * clean_up() runs before each end of the process at which functions of atexit() do not run: a
 * second SIGINT or SIGTERM, a deadly signal such as SIGSEGV or SIGQUIT. On any thread; it may call
 * async-signal-safe functions only. NULL: nothing does. For programs that have called
 * haul_app_plain_reports(): a screen has a function of its own. Main thread.
 */
HAUL_API void haul_app_before_death(void (*clean_up)(void));

/* Adds n to a counter of the program: an index into haul_app_hooks.counters. On carriers only; does
 * not suspend. Each carrier has its own sum, so that this costs no atomic operation. */
HAUL_API void haul_app_count(unsigned counter, uint64_t n);

/* The figure of one carrier, or of HAUL_ALL; 0 if there is no such counter. Any thread,
 * until the last carrier_ends(). */
HAUL_API uint64_t haul_app_counted(const struct haul_app *app, unsigned counter, unsigned carrier);

/*
 * Captures the frames of all ports (of --capture-ports) to a file from now on, with the options
 * --capture-..., and ends that, or what --capture has begun. Main thread, from started() on. Return
 * 0, or -errno with one line in errbuf: -EBUSY (a capture is under way), -ENOENT (none is), and
 * those of haul-dpdk/capture.h. *st gets the final counters.
 */
HAUL_API int haul_app_capture_start(
	struct haul_app *app, const char *file, char *errbuf, size_t errlen);
HAUL_API int haul_app_capture_stop(
	struct haul_app *app, struct haul_capture_stats *st, char *errbuf, size_t errlen);

#ifdef __cplusplus
}
#endif

#endif
