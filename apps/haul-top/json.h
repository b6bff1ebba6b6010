/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples for scripts. */
#ifndef TOP_JSON_H
#define TOP_JSON_H

#include "find.h"
#include "sample.h"

/*
 * Prints one object: a key for each command of telemetry, without "/haul/", with its values. Lists
 * are arrays, or "list" beside other values. Elements with counters have, if there are two samples,
 * "per_second": the growth of each counter. A command whose answer is an error is null, and in
 * "errors".
 */
void top_json_print(const struct top_pair *pair, FILE *out);

/* The same for the programs that were found: an array. */
void top_json_print_programs(const struct top_find *f, FILE *out);

#endif
