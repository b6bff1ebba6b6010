/* SPDX-License-Identifier: BSD-3-Clause */
/* What the PMD of a port tells, in the format of dpdk-testpmd, which scripts know. number: the
 * port's, for the text. */
#ifndef FWD_PROMPT_SHOW_PORT_H
#define FWD_PROMPT_SHOW_PORT_H

#include <stdbool.h>
#include <stdio.h>

#include <haul-dpdk/port.h>

/* "show port info|xstats|stats N"; the last one also prints rates since its last call. */
void fwd_show_port_info(const struct haul_port *port, unsigned number, FILE *out);
void fwd_show_port_xstats(const struct haul_port *port, unsigned number, FILE *out);
void fwd_show_port_hide_zeros(bool on); /* in xstats */
void fwd_show_port_stats(const struct haul_port *port, unsigned number, FILE *out);
/* The statistics were reset: the next rates are 0. */
void fwd_show_port_begin_rates(unsigned number);

/* "show port N rss-hash" (key: with the key), "show port N flow_ctrl", and "show port N
 * rx_offload|tx_offload capabilities|configuration". */
void fwd_show_port_rss(const struct haul_port *port, unsigned number, bool key, FILE *out);
void fwd_show_port_flow_control(const struct haul_port *port, unsigned number, FILE *out);
void fwd_show_port_offloads(
	const struct haul_port *port, unsigned number, bool rx, bool configured, FILE *out);

/* "10 Gbps" */
const char *fwd_show_port_speed(char buf[24], uint32_t mbits);

/* "show rxq|txq info N Q". 0, or -errno: the PMD does not tell. */
int fwd_show_port_queue(
	const struct haul_port *port, unsigned number, unsigned queue, bool rx, FILE *out);

#endif
