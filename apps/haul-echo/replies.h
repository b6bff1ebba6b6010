/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies, counted by protocol, port and carrier. */
#ifndef ECHO_REPLIES_H
#define ECHO_REPLIES_H

#include <haul/net.h>

#include "common/engine.h"

/* Before the first packet. False: no memory. */
bool replies_init(unsigned carriers);
void replies_fini(void);

/* On a carrier. */
void replies_count(unsigned port, enum haul_proto proto);

/* For app_hooks: a line below the final table; two arrays in the object of --json. */
void replies_table(struct app_engine *e, FILE *out, void *arg);
void replies_json(struct app_engine *e, json_t *object, void *arg);

#endif
