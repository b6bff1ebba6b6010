/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies, counted by protocol, port and carrier. */
#ifndef ECHO_REPLIES_H
#define ECHO_REPLIES_H

#include <haul/net.h>

#include "common/engine.h"

/* Called before the first packet. Returns false if there is no memory. */
bool replies_init(unsigned carriers);
void replies_fini(void);

/* Counts a reply. Called by coroutines. */
void replies_count(unsigned port, enum haul_proto proto);

/* Callbacks for app_hooks: print a line below the final table; add two arrays to --json. */
void replies_table(struct app_engine *e, FILE *out, void *arg);
void replies_json(struct app_engine *e, json_t *object, void *arg);

#endif
