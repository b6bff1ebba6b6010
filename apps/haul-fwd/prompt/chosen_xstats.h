/* SPDX-License-Identifier: BSD-3-Clause */
/* The extended statistics that --display-xstats adds to "show port stats". Main thread. */
#ifndef FWD_PROMPT_CHOSEN_XSTATS_H
#define FWD_PROMPT_CHOSEN_XSTATS_H

#include <stdio.h>

#include <haul-dpdk/port.h>

/* Names with commas in between; NULL: none. They must stay valid. */
void fwd_chosen_xstats_set(const char *names);

/* number: the port's; ns: since it was called last for the port, 0: it was not. */
void fwd_chosen_xstats_print(const struct haul_port *port, unsigned number, uint64_t ns, FILE *out);

#endif
