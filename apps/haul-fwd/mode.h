/* SPDX-License-Identifier: BSD-3-Clause */
/* The forwarding modes: their list, what each one consists of, and the state that all share. */
#ifndef FWD_MODE_H
#define FWD_MODE_H

#include <haul-app/app.h>
#include <haul-dpdk/io.h>

#include "frame.h"
#include "versions.h"

/* All modes, in the order of --help: constant, table (modes/), name, what it does with received
 * frames. */
/* clang-format off */
#define FWD_MODE_LIST(MODE) \
	MODE(FWD_IO, io, "io", "sent unchanged") \
	MODE(FWD_MAC, mac, "mac", "sent from the address of the sending port to its peer's") \
	MODE(FWD_MACSWAP, macswap, "macswap", \
		"sent with source and destination address exchanged") \
	MODE(FWD_SWAP5, swap5, "5tswap", \
		"sent with source and destination of MAC, IP, and TCP or UDP exchanged") \
	MODE(FWD_CSUM, csum, "csum", \
		"as mac, with the checksums of IPv4, UDP, TCP and SCTP recomputed") \
	MODE(FWD_ICMPECHO, icmpecho, "icmpecho", \
		"requests of ARP, neighbour discovery and ping are answered") \
	MODE(FWD_L3FWD, l3fwd, "l3fwd", "IPv4 and IPv6 are routed (--routes)") \
	MODE(FWD_RXONLY, rxonly, "rxonly", "dropped") \
	MODE(FWD_NOISY, noisy, "noisy", \
		"sent unchanged, after accesses to memory and time in a buffer") \
	MODE(FWD_FLOWGEN, flowgen, "flowgen", \
		"dropped; frames of many flows are generated and sent") \
	MODE(FWD_TXONLY, txonly, "txonly", "none are received; frames are generated and sent") \
	MODE(FWD_GENERATE, generate, "generate", \
		"measured and dropped; frames with stamps are sent at their times")
/* clang-format on */

#define FWD_BURST_MAX 512 /* packets: haul_io_opts.burst */

enum fwd_mode {
#define FWD_MODE_CONSTANT(constant, table, name, help) constant,
	FWD_MODE_LIST(FWD_MODE_CONSTANT)
#undef FWD_MODE_CONSTANT
		FWD_MODES,
};

/* For HAUL_APP_CHOICE: "io|mac|...". */
#define FWD_MODE_NAME(constant, table, name, help) "|" name
#define FWD_MODE_NAMES (&FWD_MODE_LIST(FWD_MODE_NAME)[1])
/* A line for each. */
#define FWD_MODE_HELP_LINE(constant, table, name, help) "\n" name ": " help
#define FWD_MODE_HELP FWD_MODE_LIST(FWD_MODE_HELP_LINE)

struct fwd;

/* Whether haul counts the bytes of packets, or the PMD does. auto: haul does if the mode reads
 * them. */
#define FWD_COUNT_BYTES_NAMES "auto|on|off"
enum fwd_count_bytes { FWD_COUNT_BYTES_AUTO, FWD_COUNT_BYTES_ON, FWD_COUNT_BYTES_OFF };

/* What the pollers do from one start to the next (run.h). */
struct fwd_run {
	enum fwd_mode mode;
	bool coroutine; /* handles each packet; else a function each burst */
	enum fwd_count_bytes count_bytes;
	uint32_t retries; /* of bursts; 0: none (haul_io_opts.tx_retries), as the next */
	uint32_t retry_us;
};

/* What a mode consists of. */
struct fwd_mode_ops {
	haul_burst_fn *burst;
	haul_packet_fn *packet;
	haul_source_fn *source; /* beside burst */
	haul_source_fn *packet_source; /* beside packet */
	bool (*sends)(void); /* false: no source is needed; NULL: it is */
	bool reads; /* each packet, so that counting bytes is cheap */
	bool replies; /* sends what it receives on the port that has received it */
	const char *drop_names[HAUL_DROP_OWN_MAX];
	/*
	 * All may be NULL. Main thread.
	 * parsed: checks the options of the mode, and sets in *hooks what it needs; chosen: the
	 * program starts with this mode. Returns an exit code. closed: frees what it made.
	 */
	int (*parsed)(struct haul_app *app, struct haul_app_hooks *hooks, bool chosen);
	void (*closed)(void);
	/* begin: allocates what the mode needs; returns HAUL_APP_DONE, or an exit
	 * code after a line. end: frees it, and packets that the mode holds; also after begin has
	 * failed. While no pollers run. attached: a port has a new address; pollers may run
	 * (versions.h). */
	int (*begin)(struct fwd *fwd);
	void (*end)(struct fwd *fwd);
	void (*attached)(struct fwd *fwd, unsigned port);
};

/* State of a port: constant, but for its addresses, which fwd_attached() changes. */
struct fwd_port {
	struct rte_ether_addr macs[2]; /* new destination and source of received packets */
	struct rte_ether_addr mac; /* its own */
	struct rte_ether_addr peer_mac; /* destination of frames that the port sends */
	unsigned peer; /* the port that sends what this one receives */
	struct frame_shape shape; /* for txonly and --tx-first */
};

/* State of a carrier, written by that carrier only. */
struct fwd_carrier {
	_Alignas(64) uint32_t next_flow;
	uint8_t next_source; /* --txonly-multi-flow */
};

/* The argument of all handlers (haul_rx.arg). */
struct fwd {
	struct fwd_versions ports; /* fwd_ports() */
	struct fwd_carrier *carriers;
	struct rte_mempool *pool;
	struct haul_app *app;
	struct fwd_run run; /* that has begun last */
	const struct fwd_mode_ops *mode; /* that has begun, or NULL */
	bool has_begun; /* false: begin() has failed, and end() is due */
};

static inline struct fwd_port *fwd_ports(const struct fwd *fwd)
{
	return fwd_versions_get(&fwd->ports);
}

/* The flow number of the next frame that this carrier generates. */
static inline uint32_t fwd_next_flow(struct fwd_carrier *c, uint32_t flows)
{
	uint32_t flow = c->next_flow;

	c->next_flow = flow + 1 < flows ? flow + 1 : 0;
	return flow;
}

/*
 * A mode is set in haul_io_opts before pollers start, and begins then. It ends after pollers have
 * stopped and before io is freed; then another one may be set. Main thread.
 *
 * fwd_modes_parsed: in parsed(). Checks the options of all modes. run: the first one. Returns an
 * exit code. fwd_modes_closed: in closed().
 * fwd_mode_has_source: true if pollers call a source of packets; of generate only after
 * fwd_modes_parsed().
 * fwd_mode_set: sets the handler of the mode, its source and its drop reasons. In txonly with
 * coroutines the handler drops received packets; generators send (generator.h).
 * fwd_mode_begin: returns HAUL_APP_DONE, or an exit code after a line; then fwd_mode_end() is to be
 * called too.
 * fwd_mode_end: does nothing if no mode has begun.
 */
int fwd_modes_parsed(struct haul_app *app, struct haul_app_hooks *hooks, struct fwd_run run);
void fwd_modes_closed(void);
bool fwd_mode_has_source(struct fwd_run run);
void fwd_mode_set(struct haul_io_opts *io, struct fwd_run run);
int fwd_mode_begin(struct fwd *fwd, struct fwd_run run);
void fwd_mode_end(struct fwd *fwd);

#endif
