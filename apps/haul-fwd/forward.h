/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding: its options, its stages, and how it starts and stops while the program runs, for the
 * commands of the prompt. Main thread. */
#ifndef FWD_FORWARD_H
#define FWD_FORWARD_H

#include "mode.h"

#define FWD_TX_FIRST_MAX (1u << 20) /* bursts */

extern const struct haul_app_option fwd_options[];

/* What handlers get: haul_rx.arg. */
struct fwd *fwd_forwarder(void);

/* Hooks of haul-app, or parts of them. */
int fwd_parsed(struct haul_app *app, struct haul_io_opts *io, struct haul_app_hooks *hooks);
int fwd_opened(struct haul_app *app);
void fwd_attached(struct haul_app *app, unsigned port);
/* The port has another MAC address. The main thread, also while pollers run. */
void fwd_mac_changed(struct haul_app *app, unsigned port);
int fwd_started(struct haul_app *app);
bool fwd_may_end(struct haul_app *app);
void fwd_report(struct haul_app *app, FILE *out, bool final);
void fwd_add_mode(struct haul_app *app, struct haul_app_json *object);
void fwd_end_mode(struct haul_app *app, unsigned carrier);
void fwd_closed(void);

/* Starts forwarding with what the options say now: each carrier first sends so many bursts on each
 * port. Returns HAUL_APP_DONE, or an exit code after a line. */
int fwd_start(struct haul_app *app, uint64_t tx_first);

/* --size */
unsigned fwd_size(void);

/* --tx-first, for the first start. */
uint64_t fwd_tx_first(void);

/* Ends the pollers; a generator first sends what is due, and waits for its packets (--drain). */
int fwd_stop(struct haul_app *app);

/* Prints the object of --json, with the figures so far. Those of a generator need a stop first. */
void fwd_print_json(struct haul_app *app, FILE *out);

/* In has_effect() of options: true if the program may send generated frames of several flows. */
bool fwd_has_flows(void);

/* The address to which a port sends. */
struct rte_ether_addr fwd_peer_mac(unsigned port);

/* Reads --eth-peer again. False after a line: the last one is wrong, and is forgotten. */
bool fwd_peers_are_right(struct haul_app *app);

#endif
