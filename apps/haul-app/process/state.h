/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a packet program: the values of the common options, and what exists now. */
#ifndef HAULI_APP_PROCESS_STATE_H
#define HAULI_APP_PROCESS_STATE_H

#include <pthread.h>

#include <haul-app/app.h>

/* Choices of options, in the order of the enumerators. */
#define HAULI_STEAL_NAMES "off|cluster|global"
#define HAULI_ORDER_NAMES "flow|any"
#define HAULI_SPREAD_NAMES "packets|all|off"
#define HAULI_MP_ALLOC_NAMES "packed|native"
enum hauli_app_mp_alloc { HAULI_MP_ALLOC_PACKED, HAULI_MP_ALLOC_NATIVE };

#define HAULI_APP_BURST_MAX 512 /* haul_io_opts.burst */
#define HAULI_APP_STOP_TIMEOUT HAUL_S /* for handlers to end by themselves */

struct hauli_app_sample;

struct hauli_app {
	struct haul_app pub; /* first: hooks get its address */
	const struct haul_app_hooks *hooks;
	pthread_t main; /* the thread that called haul_app_main() */
	struct haul_io_opts io_opts;

	/* Values of the common options. */
	struct haul_app_texts specs;
	uint64_t burst;
	uint64_t rx_ring;
	uint64_t tx_ring;
	uint64_t mbufs;
	unsigned mp_alloc; /* HAULI_MP_ALLOC_NAMES */
	uint64_t stack_size;
	bool stack_marks;
	uint64_t poll_interval; /* ns; 0: the default */
	uint64_t rescue; /* ns; 0: off */
	uint64_t duration;
	uint64_t packets;
	uint64_t period;
	unsigned screen; /* auto, on, off */
	const char *poller_text;
	unsigned steal; /* enum haul_steal; the next two: haul_send_order, haul_io_spread */
	unsigned send_order;
	unsigned spread;
	unsigned balance; /* enum hauli_balance */
	unsigned lost_port; /* enum hauli_lost_port */
	uint64_t packet_rate;
	bool json;
	bool times;
	bool overload;
	const char *hist; /* --hist; NULL: no files */
	const char *metrics; /* --metrics; NULL: none */
	const char *on_health; /* --on-health; NULL: no guard */
	uint64_t withdraw; /* ns */
	const char *hand_over; /* --hand-over; NULL: to nobody */
	uint64_t hang_after; /* ns */
	bool telemetry_control;
	bool strict;
	bool verbose;
	bool plain; /* haul_app_plain_reports() */
	struct haul_app_texts eal;

	/* What exists, besides what pub points to. */
	struct haul_plan *plan;
	bool has_eal;
	struct haul_port *ports[HAUL_APP_PORTS_MAX];
	unsigned nb_ports; /* open ones */
	unsigned begun; /* carriers on which carrier_begins() has succeeded: the first ones */
	bool in_hooks; /* hooks are called, from parsed() to closed() */
	bool paused; /* no poller runs, or is to be started */
	bool no_thefts; /* haul_app_set_stealing() has switched them off */
	bool resumed; /* haul_app_resume() has started pollers */
	bool ends; /* haul_app_end() was called */
	uint64_t cancelled; /* handlers, by all stops */
	int stop_err; /* result of haul_io_stop(); -ETIMEDOUT: pollers have not ended */

	/* For statistics. */
	uint64_t began_at;
	uint64_t ended_at; /* 0: running */
	struct hauli_app_sample *last; /* at the end of the last period */
	FILE *out; /* for text: stdout, or stderr with --json */
};

/* The program: one per process, because EAL is. */
extern struct hauli_app hauli_app_state;

/* True if users can change settings while the program runs. */
bool hauli_app_takes_commands(const struct hauli_app *a);

/* True if no poller runs. */
bool hauli_app_pollers_have_ended(const struct hauli_app *a);

#endif
